--
-- Values that come late overlap with many merged runs: the same are refused as in
-- a plain table with the same key.
--
LOAD 'zbxhist';
SET client_min_messages = warning;
SET timezone = 'UTC';
SELECT setseed(0.5);
CREATE TABLE history (
    itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL,
    ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE plain (LIKE history INCLUDING ALL);
SELECT zbxhist.create_parent('history', '1 hour', retention => '100 years', pack_after => '1 hour', ingest => 'runs');
SELECT zbxhist_internal.create_runs('history', 864000, 867600) AS runs \gset
-- 16 times a value of each item in half a minute, two of each fifth one, and of one so many
-- that they fill pages; merged by fours
CREATE PROCEDURE fill() LANGUAGE plpgsql AS $$
BEGIN
    FOR g IN 0 .. 15 LOOP
        INSERT INTO history
        SELECT 10 * i, 864000 + g * 100 + i % 30, i, i + n FROM generate_series(1, 30000) i, generate_series(0, CASE i % 5 WHEN 0 THEN 1 ELSE 0 END) n
         UNION ALL SELECT 77, 864000 + g * 100 + n % 30, n, n FROM generate_series(0, 2999) n;
        COMMIT;
        IF g % 4 = 3 THEN
            PERFORM zbxhist_internal.merge_runs(day, 3) FROM zbxhist.packed_day WHERE from_clock = 864000 AND parent = 'history'::regclass;
            COMMIT;
        END IF;
    END LOOP;
END $$;
CALL fill();
INSERT INTO plain SELECT * FROM history;
SELECT count(DISTINCT batch) > 0 AS merged, sum(nrows) FROM :runs;

-- statements with one row to some hundreds, of one clock or many; half of them have a key that is there
CREATE FUNCTION try(target regclass, items bigint[], clocks integer[], stamps integer[]) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('INSERT INTO %s SELECT i, c, -1, s FROM unnest($1, $2, $3) u (i, c, s)', target) USING items, clocks, stamps;
    RETURN true;
EXCEPTION WHEN unique_violation THEN
    RETURN false;
END $$;
CREATE PROCEDURE compare(statements integer, counts integer[], OUT stored boolean, OUT refused boolean, OUT differ integer) LANGUAGE plpgsql AS $$
DECLARE
    items  bigint[];
    clocks integer[];
    stamps integer[];
    ours   boolean;
    taken  integer := 0;
BEGIN
    differ := 0;
    FOR s IN 1 .. statements LOOP
        SELECT array_agg(i), array_agg(c), array_agg(n) INTO items, clocks, stamps
          FROM (SELECT DISTINCT CASE WHEN is_77 THEN 77 ELSE 10 * i + shift END AS i, 864000 + g * 100 + CASE WHEN is_77 THEN m ELSE i END % 30 AS c,
                       CASE WHEN is_77 THEN m ELSE i + (m % 7) / 5 END AS n
                  FROM (SELECT 1 + floor(random() * 30000)::integer AS i, floor(random() * 6000)::integer AS m,
                               CASE WHEN s % 3 = 0 THEN s % 16 ELSE floor(random() * 16)::integer END AS g,
                               k <= 2 AND random() < 0.5 AS is_77, CASE WHEN random() < 0.3 / k THEN 0 ELSE 1 + floor(random() * 9)::integer END AS shift
                          FROM (VALUES (counts[1 + s % cardinality(counts)])) v (k), generate_series(1, k)) r) d;
        ours := try('history', items, clocks, stamps);
        taken := taken + ours::integer;
        differ := differ + (ours <> try('plain', items, clocks, stamps))::integer;
        IF s % 20 = 0 THEN COMMIT; END IF;
    END LOOP;
    stored := taken > statements / 5;
    refused := taken < statements * 4 / 5;
END $$;
CALL compare(150, '{1,2,10,1000}', NULL, NULL, NULL);
SELECT count(*) FROM ((TABLE history EXCEPT TABLE plain) UNION ALL (TABLE plain EXCEPT TABLE history)) d;
SELECT count(*) FROM ONLY history;

-- runs are not unpacked
SELECT zbxhist_internal.unpack_rows(:'runs', 'history');
-- rows of the parent are not merged into runs
SELECT zbxhist_internal.step_merge('history', :'runs');
INSERT INTO history VALUES (1, 864000, 1, 1) RETURNING itemid;
SELECT zbxhist_internal.merge_rows('history', :'runs', 864000, 867600, 10);
SELECT zbxhist_internal.step_merge('history', :'runs');
SELECT count(*) FROM ONLY history;

SET zbxhist.allow_packed_drop = on;
DROP TABLE history, plain CASCADE;
DROP PROCEDURE fill, compare;
DROP FUNCTION try;
RESET client_min_messages;
