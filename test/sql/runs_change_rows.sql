--
-- Rows of a run that are changed one after the other are those of a plain table,
-- and what is written for one does not grow with the rows of the run.
--
LOAD 'zbxhist';
SET client_min_messages = warning;
SET timezone = 'UTC';
SET zbxhist.allow_packed_drop = on;
CREATE SCHEMA runs_change_rows;
SET search_path = runs_change_rows;
CREATE TABLE plain (itemid bigint NOT NULL, clock integer NOT NULL, value numeric, ns integer NOT NULL, source text NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE history (LIKE plain INCLUDING ALL);
SELECT zbxhist.create_parent('history');
SELECT zbxhist_internal.create_runs('history', 864000, 867600) IS NOT NULL AS made;
-- one run of 1,400 rows, another of item 1000 alone, and one that no merge has written
INSERT INTO plain
SELECT i / 7, 864000 + i % 7 * 60, CASE WHEN i % 11 > 0 THEN i END, i, 's' || i % 3 FROM generate_series(1, 1400) i
UNION ALL SELECT 1000, 864000 + i, i / 4.0, i, '' FROM generate_series(1, 700) i;
INSERT INTO history TABLE plain;
CREATE FUNCTION runs() RETURNS regclass LANGUAGE sql AS $$ SELECT day FROM zbxhist.packed_day WHERE parent = 'runs_change_rows.history'::regclass AND from_clock = 864000 $$;
SELECT zbxhist_internal.merge_runs(runs(), 1) IS NOT NULL AS merged;
INSERT INTO plain SELECT 2000 + i % 200, 864000 + i, i, i, 'late' FROM generate_series(1, 700) i;
INSERT INTO history SELECT * FROM plain WHERE itemid >= 2000;

-- random changes of one row or a few, in transactions that are rolled back in part
CREATE PROCEDURE change(nchanges integer) LANGUAGE plpgsql AS $$
DECLARE
    change text;
    item   bigint;
BEGIN
    FOR i IN 1 .. nchanges LOOP
        item := (ARRAY[floor(random() * 210), 1000, 2000 + floor(random() * 210)])[1 + floor(random() * 3)];
        change := CASE floor(random() * 6)
                      WHEN 0 THEN 'DELETE FROM $T WHERE itemid = $I AND clock = $C'
                      WHEN 1 THEN 'UPDATE $T SET value = value + 1 WHERE itemid = $I'
                      WHEN 2 THEN 'UPDATE $T SET value = NULL, source = ''none'' WHERE itemid = $I AND clock >= $C'
                      WHEN 3 THEN 'UPDATE $T SET value = coalesce(value, 0) + 0.5 WHERE itemid = $I AND clock = $C'
                      WHEN 4 THEN 'UPDATE $T SET source = source WHERE itemid = $I AND clock = $C'
                      ELSE 'UPDATE $T SET source = repeat(''a text'', 20) WHERE itemid = $I AND clock = $C'
                  END;
        change := replace(replace(change, '$I', item::text), '$C', CASE WHEN item < 1000 THEN 864000 + floor(random() * 7) * 60 ELSE 864000 + floor(random() * 700) END::text);
        BEGIN
            EXECUTE replace(change, '$T', 'plain');
            EXECUTE replace(change, '$T', 'history');
            IF random() < 0.1 THEN RAISE 'back'; END IF;
        EXCEPTION WHEN raise_exception THEN NULL;
        END;
        IF random() < 0.1 THEN
            IF random() < 0.2 THEN ROLLBACK; ELSE COMMIT; END IF;
        END IF;
    END LOOP;
END $$;
CREATE VIEW wrong AS SELECT count(*) FROM ((TABLE plain EXCEPT ALL TABLE history) UNION ALL (TABLE history EXCEPT ALL TABLE plain)) x;
SELECT setseed(0.25);
CALL change(150);
TABLE wrong;
CALL change(150);
TABLE wrong;
SELECT count(*) FILTER (WHERE h IS DISTINCT FROM p) AS wrong_items
FROM (SELECT itemid, array_agg(p::text ORDER BY clock, ns) AS p FROM plain p GROUP BY 1) p
FULL JOIN (SELECT i AS itemid, (SELECT array_agg(h::text ORDER BY clock, ns) FROM history h WHERE itemid = i) AS h FROM (SELECT DISTINCT itemid AS i FROM plain) i) h USING (itemid);
SELECT zbxhist_internal.merge_runs(runs(), 1) IS NOT NULL AS merged;
TABLE wrong;
SELECT * FROM zbxhist.verify('history') WHERE problem IS NOT NULL;

-- one after the other in one transaction: less than a page for each
SELECT zbxhist_internal.create_runs('history', 867600, 871200) IS NOT NULL AS made;
INSERT INTO plain SELECT i / 7, 867600 + i % 7 * 60, hashint4(i + 7), hashint4(i) & 536870911, 'x' FROM generate_series(1, 1400) i;
INSERT INTO history SELECT * FROM plain WHERE clock >= 867600;
DO $$
DECLARE
    r record;
BEGIN
    FOR r IN SELECT *, row_number() OVER (ORDER BY hashint4(ns)) AS number FROM plain WHERE clock >= 867600 ORDER BY number LIMIT 400 LOOP
        IF r.number % 4 = 0 THEN
            DELETE FROM plain WHERE itemid = r.itemid AND clock = r.clock AND ns = r.ns;
            DELETE FROM history WHERE itemid = r.itemid AND clock = r.clock AND ns = r.ns;
        ELSE
            UPDATE plain SET value = value + 1 WHERE itemid = r.itemid AND clock = r.clock AND ns = r.ns;
            UPDATE history SET value = value + 1 WHERE itemid = r.itemid AND clock = r.clock AND ns = r.ns;
        END IF;
    END LOOP;
END $$;
TABLE wrong;
SELECT CASE WHEN pages < 100 THEN 'few' ELSE pages::text END AS pages
FROM (SELECT pg_relation_size(day) / 8192 AS pages FROM zbxhist.packed_day WHERE parent = 'history'::regclass AND from_clock = 867600) x;

DROP SCHEMA runs_change_rows CASCADE;
