--
-- Runs that are damaged, or forged: an error names the table, verify() tells
-- which, and salvage() keeps what can be read.
--
\set SHOW_CONTEXT never
LOAD 'zbxhist';
SET client_min_messages = warning;
SET timezone = 'UTC';
SET zbxhist.allow_packed_drop = on;
CREATE TABLE damaged_runs (itemid bigint NOT NULL, clock integer NOT NULL, value text NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('damaged_runs');
SELECT zbxhist_internal.create_runs('damaged_runs', 864000, 867600) AS runs \gset
INSERT INTO damaged_runs SELECT i, 864000 + n, n::text, 0 FROM generate_series(1, 3) i, generate_series(1, 10) n;
INSERT INTO damaged_runs SELECT i, 864000 + n, n::text, 1 FROM generate_series(3, 6) i, generate_series(1, 10) n;
INSERT INTO damaged_runs SELECT i, 864000 + n, n::text, 2 FROM generate_series(5, 8) i, generate_series(1, 10) n;
CREATE TABLE runs AS SELECT * FROM :runs;
-- puts all runs back, then changes the second one
CREATE FUNCTION forge(runs regclass, change text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('TRUNCATE %s', runs);
    EXECUTE format('INSERT INTO %s TABLE runs', runs);
    EXECUTE format('UPDATE %s SET %s WHERE first_itemid = 3', runs, change);
END $$;
-- each byte; what can be read is what was stored
CREATE FUNCTION forge_bytes(runs regclass) RETURNS TABLE (outcome text, n bigint) LANGUAGE plpgsql AS $$
DECLARE
    outcomes text[];
    found    bigint;
BEGIN
    FOR i IN 0 .. (SELECT length(run) - 1 FROM public.runs WHERE first_itemid = 3) LOOP
        PERFORM forge(runs, format('run = set_byte(run, %1$s, get_byte(run, %1$s) # 32)', i));
        BEGIN
            SELECT count(*) INTO found FROM damaged_runs;
            outcomes := outcomes || format('%s rows', found);
        EXCEPTION WHEN data_corrupted THEN
            outcomes := outcomes || 'corrupt'::text;
        END;
    END LOOP;
    RETURN QUERY SELECT o, count(*) FROM unnest(outcomes) o GROUP BY 1;
END $$;
SELECT outcome, n = (SELECT length(run) FROM runs WHERE first_itemid = 3) AS all_bytes FROM forge_bytes(:'runs');

SELECT forge(:'runs', 'run = set_byte(run, length(run) - 5, 0)');
SELECT count(*) FROM damaged_runs WHERE itemid = 5;
SELECT count(*) FROM damaged_runs;
SELECT count(*) FROM damaged_runs WHERE itemid = 1;
SELECT count(*) FROM damaged_runs WHERE itemid = 8;
SELECT count(*) FROM damaged_runs WHERE clock > 900000;
SELECT * FROM zbxhist.verify('damaged_runs');
-- of another version
SELECT forge(:'runs', 'run = set_byte(run, 2, 9)');
SELECT count(*) FROM damaged_runs;
SELECT * FROM zbxhist.verify('damaged_runs');
-- rows that say something else than their runs
SELECT forge(:'runs', 'first_itemid = 2');
SELECT count(*) FROM damaged_runs;
SELECT forge(:'runs', 'last_itemid = 9');
SELECT count(*) FROM damaged_runs;
SELECT forge(:'runs', 'nrows = nrows + 1');
SELECT count(*) FROM damaged_runs;
SELECT forge(:'runs', 'last_clock = last_clock + 1');
SELECT count(*) FROM damaged_runs;
SELECT forge(:'runs', 'run = ''''');
SELECT count(*) FROM damaged_runs;
SELECT * FROM zbxhist.verify('damaged_runs');
-- the same twice
SELECT forge(:'runs', 'nrows = nrows');
INSERT INTO :runs SELECT * FROM runs WHERE first_itemid = 3;
SELECT count(*), min(itemid), max(itemid), count(DISTINCT problem), min(problem) FROM zbxhist.verify('damaged_runs');
-- what can be read can be kept
SELECT forge(:'runs', 'run = set_byte(run, length(run) - 5, 0)');
DELETE FROM damaged_runs WHERE itemid = 5;
DELETE FROM damaged_runs WHERE itemid = 1;
CALL zbxhist.salvage('damaged_runs', '1970-01-11');
SELECT itemid, count(*) FROM damaged_runs GROUP BY 1 ORDER BY 1;
SELECT * FROM zbxhist.verify('damaged_runs');
DROP TABLE damaged_runs CASCADE;
DROP TABLE runs;
DROP FUNCTION forge, forge_bytes;
