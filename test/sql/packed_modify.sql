-- Rows of a packed day are deleted and updated at random, and compared with a plain table.
\a \t
\set VERBOSITY terse
SET zbxhist.allow_packed_drop = on;
SET client_min_messages = warning;

CREATE SCHEMA packed_modify;
SET search_path = packed_modify, public, zbxhist_partitions;
SELECT setseed(0.42);

CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL DEFAULT 0,
    value double precision NOT NULL DEFAULT 0, ns integer NOT NULL DEFAULT 0,
    PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history');
SELECT zbxhist.create_partition('history', '2024-01-02');
-- two rows a second for an item
INSERT INTO history (itemid, clock, ns, value)
SELECT 10000 + 2 * i, 1704153600 + k * 200, (random() * 999999999)::integer, round((random() * 100)::numeric, 4)
FROM generate_series(0, 287) k, generate_series(1, 60) i, generate_series(1, 2) r;
CREATE TABLE plain (LIKE history INCLUDING ALL);
INSERT INTO plain SELECT * FROM history;
CALL zbxhist.pack('history', '2024-01-02');
SELECT count(*) AS days FROM zbxhist.packed_day WHERE parent = 'history'::regclass;

CREATE FUNCTION different() RETURNS bigint LANGUAGE sql
AS $$ SELECT count(*) FROM ((TABLE plain EXCEPT ALL TABLE history) UNION ALL (TABLE history EXCEPT ALL TABLE plain)) x $$;

CREATE PROCEDURE change_often(times integer) LANGUAGE plpgsql AS $$
DECLARE
    statement text;
    item text;
    packed bigint;
    plain bigint;
BEGIN
    FOR i IN 1..times LOOP
        item := 10000 + (random() * 120)::integer;
        statement := (ARRAY['DELETE FROM %1$s WHERE %2$s', 'UPDATE %1$s SET value = value * 3 + 1 WHERE %2$s',
                            'UPDATE %1$s SET value = ns WHERE %2$s', 'UPDATE %1$s SET value = -value WHERE %2$s'])
                     [1 + floor(random() * 4)];
        statement := replace(statement, '%2$s', (ARRAY[
            'itemid = ' || item,
            'itemid = ' || item || ' AND clock > ' || 1704153600 + (random() * 60000)::integer,
            'itemid >= ' || item || ' AND mod(ns, 5) = ' || (random() * 4)::integer,
            'mod(ns, 97) = ' || (random() * 96)::integer,
            'value < ' || random() / 10])[1 + floor(random() * 5)]);
        EXECUTE format(statement, 'history');
        GET DIAGNOSTICS packed = ROW_COUNT;
        EXECUTE format(statement, 'plain');
        GET DIAGNOSTICS plain = ROW_COUNT;
        IF packed <> plain THEN
            RAISE EXCEPTION '% rows, % of the plain table: %', packed, plain, statement;
        END IF;
        -- several changes in a transaction, and in transactions
        IF i % 7 = 0 THEN
            COMMIT;
        END IF;
    END LOOP;
END
$$;
CALL change_often(60);
SELECT different();
SELECT * FROM zbxhist.verify('history');
SELECT count(*) BETWEEN 1000 AND 34000 AS rows_left FROM history;

-- more than fits into work_mem, in the order of a join
SET work_mem = '64kB';
UPDATE history h SET value = h.value + p.value + 1 FROM (SELECT * FROM plain ORDER BY md5(concat(itemid, clock, ns))) p
 WHERE h.itemid = p.itemid AND h.clock = p.clock AND h.ns = p.ns;
UPDATE plain SET value = value + value + 1;
RESET work_mem;
SELECT different();

-- what is rolled back was not done
BEGIN;
DELETE FROM history WHERE itemid < 10060;
SAVEPOINT s;
UPDATE history SET value = 1;
ROLLBACK TO s;
SELECT count(*) AS rows FROM history WHERE itemid < 10060;
ROLLBACK;
SELECT different();

-- constraints and policies hold for packed rows, too
BEGIN;
SAVEPOINT s;
UPDATE history SET value = NULL WHERE itemid = 10082;
ROLLBACK TO s;
ALTER TABLE history ADD CONSTRAINT small CHECK (value < 1e9) NOT VALID;
SAVEPOINT s;
UPDATE history SET value = 1e9 WHERE itemid = 10082;
ROLLBACK TO s;
ALTER TABLE history ENABLE ROW LEVEL SECURITY;
CREATE POLICY updated ON history USING (itemid < 10090) WITH CHECK (value < 5);
CREATE ROLE regress_zbxhist_updater;
GRANT SELECT, UPDATE ON history TO regress_zbxhist_updater;
GRANT USAGE ON SCHEMA packed_modify TO regress_zbxhist_updater;
SET LOCAL ROLE regress_zbxhist_updater;
UPDATE history SET value = 4 WHERE itemid IN (10082, 10092);
SELECT itemid, min(value), max(value) FROM history WHERE itemid IN (10082, 10092) GROUP BY 1;
UPDATE history SET value = 5 WHERE itemid = 10082;
ROLLBACK;

-- AFTER triggers see what was done
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE WARNING '% of items, % of them are 1', (SELECT count(DISTINCT itemid) FROM history WHERE itemid IN (10082, 10084)),
        (SELECT count(DISTINCT itemid) FROM history WHERE itemid IN (10082, 10084) AND value = 1);
    RETURN NULL;
END
$$;
BEGIN;
CREATE TRIGGER told AFTER DELETE OR UPDATE ON history FOR EACH STATEMENT EXECUTE FUNCTION tell();
DELETE FROM history WHERE itemid = 10082 AND value IS NOT NULL;
UPDATE history SET value = 1 WHERE itemid = 10084;
DELETE FROM history WHERE itemid = 10084;
ROLLBACK;
SELECT different();

-- several items of a group, and several statements, with a snapshot that stays
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) > 0 AS rows FROM history;
DELETE FROM history WHERE itemid IN (10082, 10084, 10088);
DELETE FROM history WHERE itemid = 10092 AND value IS NOT NULL;
DELETE FROM history WHERE itemid > 10092;
SELECT zbxhist.delete_item(10094);
SELECT count(*) = (SELECT count(*) FROM plain WHERE itemid NOT IN (10082, 10084, 10088) AND itemid < 10092) AS right FROM history;
ROLLBACK;
SELECT different();

-- ranges, with what is kept of a segment
WITH gone AS (DELETE FROM plain WHERE itemid = 10082 AND (clock, ns) <= (1704170000, 500000000) RETURNING 1)
SELECT zbxhist.delete_values('history', 10082, 1704170000, 500000000, 'less_or_equal') - (SELECT count(*) FROM gone) AS more;
WITH gone AS (DELETE FROM plain WHERE itemid = 10084 AND (clock, ns) > (1704200000, 0) RETURNING 1)
SELECT zbxhist.delete_values('history', 10084, 1704200000, 0, 'greater') - (SELECT count(*) FROM gone) AS more;
SELECT zbxhist.delete_values('history', 10083, 1704200000, 0, 'greater');
WITH gone AS (DELETE FROM plain WHERE itemid = 10086 RETURNING 1)
SELECT zbxhist.delete_item(10086) - (SELECT count(*) FROM gone) AS more;
SELECT different();

-- a key that is there, was there, and is not there
INSERT INTO history SELECT * FROM plain ORDER BY itemid, clock LIMIT 1;
BEGIN;
DELETE FROM history WHERE itemid = 10090;
INSERT INTO history SELECT * FROM plain WHERE itemid = 10090;
COMMIT;
INSERT INTO history VALUES (10083, 1704200000, 1, 1);
INSERT INTO plain VALUES (10083, 1704200000, 1, 1);
SELECT different();
CALL zbxhist.run_maintenance('history');
SELECT count(*) AS not_merged FROM ONLY history;
SELECT different();
-- by now maintenance has heard how many are gone
SELECT rows = (SELECT count(*) FROM history) AS rows_are_known FROM zbxhist.partitions WHERE partition IN (SELECT day FROM zbxhist.packed_day WHERE parent = 'history'::regclass);
SELECT count(*) FROM zbxhist.packed_change c JOIN zbxhist.packed_day d USING (day) WHERE d.parent = 'history'::regclass;
BEGIN;
TRUNCATE history;
SELECT zbxhist_internal.step_attach('history');
SELECT nrows FROM zbxhist.packed_day WHERE parent = 'history'::regclass;
ROLLBACK;

-- all of it
DELETE FROM history;
SELECT count(*) FROM history;
SELECT zbxhist.verify('history');

DROP SCHEMA packed_modify CASCADE;
