--
-- An item's rows are found in batches of runs by their index: whatever has been
-- merged, rolled back, changed, restored or damaged, they are those that a look
-- through the whole table finds.
--
LOAD 'zbxhist';
SET client_min_messages = warning;
SET extra_float_digits = 1;
SET jit = off;
CREATE SCHEMA runs_batches;
SET search_path = runs_batches;
CREATE TABLE history (
    itemid bigint NOT NULL, clock integer NOT NULL DEFAULT 0, value text NOT NULL,
    ns integer NOT NULL DEFAULT 0, PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history', '1 hour', retention => '100 years', pack_after => '1 hour', ingest => 'runs');
SELECT zbxhist_internal.create_runs('history', 1000000800, 1000004400) AS day \gset
CREATE VIEW hour AS SELECT * FROM history WHERE clock BETWEEN 1000000800 AND 1000004399;
CREATE TABLE place AS SELECT day FROM zbxhist.packed_day WHERE parent = 'history'::regclass AND from_clock = 1000000800;

CREATE SEQUENCE number;
-- so many statements of rows of 7 items, some of them late; item 5 has most of them
CREATE FUNCTION store(statements integer, from_clock integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. statements LOOP
        INSERT INTO history
        SELECT CASE WHEN g % 3 = 0 THEN g % 7 + 1 ELSE 5 END,
               greatest(1000000800, from_clock + i - CASE WHEN h % 11 = 0 THEN h % 90 ELSE 0 END),
               repeat(md5(h::text), h % 4), nextval('number')
          FROM generate_series(1, 30) g, LATERAL (SELECT hashint4(g * 1000 + i + from_clock) & 1048575 AS h) r;
    END LOOP;
END
$$;
-- what an item has, by a query on a relation
CREATE FUNCTION rows_of(query text, relation text, item bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('SELECT md5(string_agg(q::text, E''\n'')) || '' '' || count(*) FROM (%s) q',
                   replace(replace(query, '$T', relation), '$I', item::text)) INTO result;
    RETURN result;
END
$$;
CREATE TABLE form (query text);
INSERT INTO form VALUES
('SELECT * FROM $T WHERE itemid = $I AND clock < 1000004400 ORDER BY clock, ns'),
('SELECT * FROM $T WHERE itemid = $I AND clock < 1000004400 ORDER BY clock DESC, ns DESC'),
('SELECT * FROM $T WHERE itemid = $I AND clock < 1000004400 ORDER BY clock DESC, ns DESC LIMIT 1'),
('SELECT * FROM $T WHERE itemid = $I AND clock < 1000004400 ORDER BY clock DESC, ns DESC LIMIT 9'),
('SELECT * FROM $T WHERE itemid = $I AND clock BETWEEN 1000000900 AND 1000001300 ORDER BY clock DESC, ns DESC LIMIT 70'),
('SELECT * FROM $T WHERE itemid = $I AND clock BETWEEN 1000001200 AND 1000001206 ORDER BY clock, ns'),
('SELECT * FROM $T WHERE itemid = $I AND clock = 1000001203 ORDER BY clock, ns'),
('SELECT * FROM $T WHERE itemid IN (7, $I, 2, 4, 9) AND clock > 1000001000 AND clock < 1000004400 ORDER BY itemid, clock, ns'),
('SELECT i, v.* FROM unnest(ARRAY[3, 4, $I, 4, 1, 0, 5, 2]) WITH ORDINALITY i (item, n), LATERAL (SELECT * FROM $T h WHERE h.itemid = i.item AND clock < 1000004400 ORDER BY clock DESC, ns DESC LIMIT 4) v ORDER BY i.n, v.clock, v.ns');
CREATE FUNCTION differences() RETURNS TABLE (query text, item bigint) LANGUAGE plpgsql AS $$
BEGIN
    DROP TABLE IF EXISTS plain;
    CREATE TABLE plain AS SELECT * FROM hour;
    RETURN QUERY SELECT f.query, i FROM form f, unnest('{0,3,5,8}'::bigint[]) i
                  WHERE rows_of(f.query, 'plain', i) IS DISTINCT FROM rows_of(f.query, 'history', i);
END
$$;
-- a worker may be looking for something to merge
CREATE FUNCTION merge(enough integer DEFAULT 2, rows integer DEFAULT 131072) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    merged bigint;
BEGIN
    FOR i IN 1 .. 1000 LOOP
        SELECT zbxhist_internal.merge_runs(day, enough, rows) INTO merged FROM place;
        EXIT WHEN merged >= 0;
        PERFORM pg_sleep(0.01);
    END LOOP;
    RETURN merged;
END
$$;
-- its batches by level, 0 being what statements have stored
CREATE FUNCTION levels() RETURNS TABLE (level bigint, batches bigint, several boolean) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format('SELECT coalesce(batch >> 28 & 15, 0), count(DISTINCT batch), count(*) > 1 FROM %s GROUP BY 1 ORDER BY 1',
                                (SELECT day FROM place));
END
$$;

-- of statements only, and one batch; no worker sees what is not committed
BEGIN;
SELECT store(5, 1000000900);
SELECT * FROM differences();
SELECT merge();
SELECT * FROM levels();
SELECT * FROM differences();

-- many batches, which become one of the next level, and some statements
SELECT count(store(3, 1000000900 + 50 * i)), sum(merge()) > 0 AS merged FROM generate_series(1, 13) i;
SELECT store(4, 1000001650);
SELECT * FROM levels();
SELECT * FROM differences();
SELECT count(*), count(DISTINCT (itemid, clock, ns)) FROM hour;
SELECT count(*) FROM zbxhist.verify('history');

-- what a merge that is rolled back would have written is not there, and its number goes
-- to the next one
SAVEPOINT a;
SELECT merge(3);
SELECT max(batch) AS batch FROM :day \gset
SELECT * FROM differences();
ROLLBACK TO a;
SELECT * FROM differences();
SELECT max(batch) <> :batch AS is_gone FROM :day;
SELECT merge(3);
SELECT max(batch) = :batch AS is_same FROM :day;
SELECT * FROM differences();
-- two of one clock and level have two numbers
SELECT store(2, 1000001652);
SELECT merge();
SELECT count(DISTINCT batch) AS batches, count(DISTINCT batch >> 28) AS kinds FROM :day WHERE batch >= :batch >> 28 << 28;
SELECT * FROM differences();

-- changed rows stay where they are, whatever they become
SELECT count(DISTINCT batch) AS batches FROM :day \gset
DELETE FROM history WHERE itemid = 5 AND clock BETWEEN 1000000800 AND 1000004399 AND ns % 5 = 0;
UPDATE history SET value = (SELECT string_agg(md5(s::text || ns), '') FROM generate_series(1, 400) s)
 WHERE itemid IN (3, 5) AND clock BETWEEN 1000000800 AND 1000004399 AND ns % 17 = 0;
DELETE FROM history WHERE itemid = 2 AND clock BETWEEN 1000000800 AND 1000004399;
SELECT count(DISTINCT batch) = :batches AS same, count(*) FILTER (WHERE batch IS NULL) AS stored FROM :day;
SELECT * FROM differences();
SELECT count(*) FROM zbxhist.verify('history');

-- restored: all rows are of one transaction, and in another order
SELECT store(3, 1000001700);
COMMIT;
BEGIN;
CREATE TABLE copy AS SELECT * FROM :day;
DELETE FROM :day;
INSERT INTO :day SELECT * FROM copy ORDER BY first_clock DESC, last_itemid DESC;
SELECT * FROM differences();
COMMIT;
SELECT * FROM differences();
BEGIN;
SELECT merge(3);
SELECT * FROM differences();
SELECT store(12 * 3, 1000002000 + 100 * i), merge() > 0 FROM generate_series(1, 12) i;
SELECT store(1, 1000004000);
SELECT merge() > 25 AS merged;
SELECT store(3, 1000003950), merge() > 0, store(1, 1000003990);
SELECT * FROM levels();
SELECT * FROM differences();
COMMIT;
VACUUM (TRUNCATE false) :day;
SELECT * FROM differences();
SELECT count(*) FROM zbxhist.verify('history');

-- bit by bit: what is written first is added to, whatever comes meanwhile, until nothing is
-- left of the batches that it is made of
BEGIN;
SELECT count(store(5, 1000000900 + 100 * i)), sum(merge(3)) > 0 AS merged FROM generate_series(1, 24) i;
SELECT * FROM levels();
SELECT merge(2, 1) > 0 AS merged;
SELECT * FROM levels();
SELECT * FROM differences();
DELETE FROM history WHERE itemid = 3 AND clock BETWEEN 1000000800 AND 1000004399;
SELECT store(2, 1000001200);
SELECT merge(3, 1) > 0 AS merged;
SELECT * FROM differences();
SELECT merge(2, 1);
DO $$ BEGIN WHILE merge(2, 1) > 0 LOOP NULL; END LOOP; END $$;
SELECT * FROM levels();
SELECT * FROM differences();
SELECT count(*) FROM zbxhist.verify('history');
COMMIT;

-- runs are decoded again and again
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT * FROM differences();
RESET work_mem;
RESET hash_mem_multiplier;

-- verify tells what is not where its batch says
BEGIN;
UPDATE :day SET batch = (SELECT min(batch) FROM :day) WHERE batch = (SELECT max(batch) FROM :day);
SELECT count(*) > 0 AS told, bool_and(problem ~ 'overlaps the run before in its batch|newer than its batch') FROM zbxhist.verify('history');
ROLLBACK;

-- without the index they are found by the heap; nothing new is stored there
SELECT format('DROP INDEX %s', indexrelid::regclass) AS command FROM pg_index WHERE indrelid = :'day'::regclass AND indnatts = 3 \gset
BEGIN;
:command;
SELECT * FROM differences();
SELECT count(*) AS before FROM :day \gset
INSERT INTO history VALUES (5, 1000004100, 'x', 0);
SELECT count(*) = :before AS same FROM :day;
SELECT merge();
SELECT problem FROM zbxhist.verify('history');
ROLLBACK;
SELECT * FROM differences();

-- it is packed as other days are
CALL zbxhist.run_maintenance('history');
SELECT kind, rows = (SELECT count(*) FROM plain) AS all_rows FROM zbxhist.partitions WHERE parent = 'history'::regclass AND from_clock = 1000000800;
SELECT count(*) FROM (SELECT * FROM hour EXCEPT SELECT * FROM plain) d;

-- columns with the names of its own two
\set VERBOSITY terse
CREATE TABLE other (itemid bigint NOT NULL, clock integer NOT NULL, batch integer, PRIMARY KEY (itemid, clock));
SELECT zbxhist.create_parent('other', '1 hour', pack_after => '1 hour', ingest => 'runs');
ALTER TABLE other RENAME batch TO value;
SELECT zbxhist.create_parent('other', '1 hour', pack_after => '1 hour', ingest => 'runs');
SET zbxhist.allow_packed_drop = on;
RESET search_path;
DROP SCHEMA runs_batches CASCADE;
RESET client_min_messages;
