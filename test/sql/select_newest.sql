-- One row of each item, the newest or the oldest, in one statement: the table is
-- read item by item.  It gives the same rows in the same order as a plain table.
\a \t
LOAD 'zbxhist';
SET client_min_messages = warning;
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value text NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE plain (LIKE history INCLUDING ALL);
SELECT zbxhist.create_parent('history', premake => 0);
SELECT count(zbxhist.create_partition('history', '1970-01-02'::date + n)) AS days FROM generate_series(0, 6) n;
DO $$
BEGIN
    EXECUTE (SELECT format('DROP TABLE %s', p.partition) FROM zbxhist.list_partitions('history') p WHERE p.from_clock > 1000000);
END $$;
-- days begin at 86400, 172800 (both are packed), 259200, 345600, 432000; 518400 and 604800 are empty
INSERT INTO plain SELECT i, c, 'value ' || c, n FROM generate_series(1, 40) i, generate_series(86400, 518399, 7200) c, generate_series(0, 2) n WHERE i % 7 <> 3 OR c < 300000;
-- items that are in one day only, or end or begin somewhere
INSERT INTO plain VALUES (100, 100000, repeat('long', 2000), 0), (101, 180000, 'packed', 5), (102, 270000, 'not packed', -7), (-5, 510000, 'before all others', 0), (9223372036854775807, 100000, 'last', 0), (-9223372036854775808, 500000, 'first', 0);
INSERT INTO history SELECT * FROM plain;
CALL zbxhist.pack('history', '1970-01-02');
CALL zbxhist.pack('history', '1970-01-03');
ANALYZE plain;

EXPLAIN (COSTS OFF) SELECT DISTINCT ON (itemid) * FROM history ORDER BY itemid, clock DESC, ns DESC;
EXPLAIN (COSTS OFF) SELECT DISTINCT ON (itemid) itemid, value FROM history WHERE clock > 90000 AND itemid IN (3, 1, 5) ORDER BY itemid DESC, clock;
EXPLAIN (COSTS OFF) SELECT h.itemid, max(h.clock) FROM history h WHERE h.clock <= 400000 GROUP BY h.itemid ORDER BY 1;
EXPLAIN (COSTS OFF) SELECT i, h.* FROM unnest('{3,99}'::bigint[]) i, LATERAL (SELECT * FROM history WHERE itemid = i AND clock > 90000 ORDER BY clock DESC LIMIT 1) h;
-- other forms of the same, and what is none
CREATE FUNCTION is_of_each(statement text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || statement INTO plan;
    RETURN jsonb_path_exists(plan, '$.**."Order" ? (@ like_regex "of each item")');
END $$;
SELECT is_of_each(query), query FROM unnest(ARRAY[
    'SELECT DISTINCT ON (itemid) value FROM history WHERE itemid = ANY (''{1,2}'') ORDER BY itemid, clock DESC LIMIT 3',
    'SELECT * FROM (SELECT DISTINCT ON (itemid) * FROM history ORDER BY itemid, clock) h WHERE value > ''x''',
    'WITH h AS (SELECT DISTINCT ON (itemid) * FROM history ORDER BY itemid, clock DESC) SELECT count(*) FROM h',
    'SELECT p.itemid FROM plain p JOIN (SELECT itemid, max(clock) AS clock FROM history GROUP BY itemid) h USING (itemid, clock)',
    'SELECT itemid, min(clock) FROM history WHERE clock BETWEEN 1 AND 500000 GROUP BY itemid HAVING min(clock) > 100000',
    'SELECT itemid, max(clock) - 5, count(*) FILTER (WHERE false) FROM history GROUP BY itemid',
    'SELECT to_timestamp(max(clock)) FROM history GROUP BY itemid ORDER BY max(clock) DESC',
    'SELECT DISTINCT itemid FROM history',
    'SELECT itemid FROM history GROUP BY itemid',
    'SELECT itemid + 1 FROM history GROUP BY itemid ORDER BY 1',
    'SELECT DISTINCT itemid FROM history WHERE itemid IN (1, 2)',
    'SELECT itemid FROM history WHERE itemid IN (1, 2) GROUP BY itemid',
    'SELECT itemid, min(clock), max(clock) FROM history GROUP BY itemid',
    'SELECT itemid, max(clock), max(ns) FROM history GROUP BY itemid',
    'SELECT itemid, max(clock + 1) FROM history GROUP BY itemid',
    'SELECT itemid, max(clock) FILTER (WHERE ns > 0) FROM history GROUP BY itemid',
    'SELECT itemid, max(clock) FROM history GROUP BY itemid HAVING itemid > 5',
    'SELECT itemid, max(clock) FROM history GROUP BY itemid, ns',
    'SELECT itemid % 2, max(clock) FROM history GROUP BY itemid % 2',
    'SELECT itemid, max(clock) FROM history GROUP BY ROLLUP (itemid)',
    'SELECT itemid, max(clock) OVER () FROM history',
    'SELECT max(clock) FROM history',
    'SELECT DISTINCT itemid, clock FROM history',
    'SELECT DISTINCT ON (clock) * FROM history ORDER BY clock, itemid',
    'SELECT DISTINCT ON (itemid) * FROM history',
    'SELECT DISTINCT ON (itemid) * FROM history ORDER BY itemid, ns DESC',
    'SELECT DISTINCT ON (itemid) * FROM history ORDER BY itemid, clock DESC, ns',
    'SELECT DISTINCT ON (itemid) * FROM history ORDER BY itemid, clock DESC, ns DESC, value',
    'SELECT DISTINCT ON (itemid, ns) * FROM history ORDER BY itemid, ns, clock DESC',
    'SELECT DISTINCT ON (itemid) itemid, random() FROM history ORDER BY itemid, clock DESC',
    'SELECT DISTINCT ON (itemid) *, row_number() OVER () FROM history ORDER BY itemid, clock DESC',
    'SELECT DISTINCT ON (itemid) * FROM history WHERE value > ''x'' ORDER BY itemid, clock DESC',
    'SELECT DISTINCT ON (itemid) * FROM history WHERE itemid > 5 ORDER BY itemid, clock DESC',
    'SELECT DISTINCT ON (itemid) * FROM history WHERE clock > 5 OR clock < 3 ORDER BY itemid, clock DESC',
    'SELECT DISTINCT ON (itemid) * FROM history WHERE clock IN (100800, 108000) ORDER BY itemid, clock DESC',
    'SELECT DISTINCT ON (itemid) ctid FROM history ORDER BY itemid, clock DESC',
    'SELECT DISTINCT ON (itemid) h FROM history h ORDER BY itemid, clock DESC',
    'SELECT DISTINCT ON (h.itemid) h.* FROM history h JOIN plain p USING (itemid) ORDER BY h.itemid, h.clock DESC',
    'SELECT DISTINCT ON (itemid) * FROM ONLY history ORDER BY itemid, clock DESC',
    'SELECT DISTINCT ON (itemid) * FROM plain ORDER BY itemid, clock DESC']) query;
SET zbxhist.enable_item_scan = off;
SELECT is_of_each('SELECT itemid, max(clock) FROM history GROUP BY itemid');
RESET zbxhist.enable_item_scan;

-- an item is looked for where it was found: of packed days one segment is decoded, and no more rows are fetched than there are items
CREATE FUNCTION counted(statement text) RETURNS TABLE (rows text, items text, tables text) LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, FORMAT json) ' || statement INTO plan;
    RETURN QUERY SELECT (n->>'Actual Rows')::numeric::integer::text, n->>'Items Read', n->>'Tables Read' FROM jsonb_path_query_first(plan, '$.** ? (exists (@."Items Read"))') n;
END $$;
SELECT * FROM counted('SELECT DISTINCT ON (itemid) * FROM history ORDER BY itemid, clock DESC, ns DESC');
SELECT * FROM counted('SELECT DISTINCT ON (itemid) * FROM history WHERE clock >= 450000 ORDER BY itemid, clock DESC');
SELECT * FROM counted('SELECT itemid, min(clock) FROM history WHERE clock < 260000 GROUP BY itemid');
SELECT * FROM counted('SELECT DISTINCT ON (itemid) * FROM history WHERE itemid IN (4, 2, 77, 2) ORDER BY itemid, clock DESC');
SELECT * FROM counted('SELECT DISTINCT ON (itemid) * FROM history WHERE clock > 5 AND clock < 5 ORDER BY itemid, clock DESC');
SELECT * FROM counted('SELECT itemid, max(clock) FROM history WHERE itemid = ANY (''{}'') GROUP BY itemid');

-- the same rows as of a plain table, whatever the bounds, the order and the limit
CREATE FUNCTION differences() RETURNS TABLE (queries bigint, rows bigint, different bigint) LANGUAGE plpgsql AS $$
DECLARE
    query text;
    result text[];
    expected text[];
BEGIN
    queries := 0;
    rows := 0;
    different := 0;
    FOR query IN
        SELECT format(form, format('WHERE %s AND %s AND %s', items, lower, upper))
        FROM unnest(ARRAY['SELECT DISTINCT ON (itemid) itemid, clock, ns, value FROM %%s %s ORDER BY itemid, clock DESC, ns DESC',
                          'SELECT DISTINCT ON (itemid) value, ns, clock, itemid FROM %%s %s ORDER BY itemid DESC, clock, ns LIMIT 30 OFFSET 2',
                          'SELECT itemid, max(clock) FROM %%s %s GROUP BY itemid ORDER BY itemid',
                          'SELECT min(clock), itemid FROM %%s %s GROUP BY itemid ORDER BY min(clock), itemid']) form,
             unnest(ARRAY['itemid IS NOT NULL', 'itemid = ANY (''{1,3,100,101,7,99,NULL,-5}'')', 'itemid = 3']) items,
             unnest(ARRAY['0 < clock', 'clock >= 172800', 'clock > 345600', 'clock >= 515000', 'clock > 2147483647']) lower,
             unnest(ARRAY['clock IS NOT NULL', 'clock < 172800', 'clock <= 345600', 'clock <= 2000000000']) upper
    LOOP
        EXECUTE format('SELECT array_agg(r::text) FROM (' || query || ') r', 'plain') INTO expected;
        EXECUTE format('SELECT array_agg(r::text) FROM (' || query || ') r', 'history') INTO result;
        queries := queries + 1;
        rows := rows + coalesce(cardinality(result), 0);
        IF result IS DISTINCT FROM expected THEN
            different := different + 1;
            RAISE WARNING '% %', query, result;
        END IF;
    END LOOP;
    RETURN NEXT;
END $$;
SELECT * FROM differences();
-- with rows that wait in the parent, before and after others, of items that are nowhere else
SET zbxhist.enable_routing = off;
INSERT INTO plain VALUES (3, 50, 'early', 0), (3, 172800, 'between', 5), (3, 345600, 'in between', -1), (3, 500000, 'late', 1), (3, 2000000000, 'future', 0), (6, 518399, 'same second', 9), (200, 100000, 'only here', 0);
INSERT INTO history SELECT * FROM plain WHERE value IN ('early', 'between', 'in between', 'late', 'future', 'same second', 'only here');
SELECT count(*) FROM ONLY history;
SELECT * FROM differences();
-- changes of packed rows and others, before and after they are committed, and undone
BEGIN;
DELETE FROM history WHERE itemid IN (100, 102) OR (itemid = 8 AND clock > 180000) OR (itemid = 9 AND clock < 180000);
DELETE FROM plain WHERE itemid IN (100, 102) OR (itemid = 8 AND clock > 180000) OR (itemid = 9 AND clock < 180000);
SELECT * FROM differences();
SAVEPOINT s;
INSERT INTO history VALUES (300, 440000, 'mine', 0), (301, 90000, 'mine', 0);
SELECT DISTINCT ON (itemid) itemid, value FROM history WHERE itemid IN (300, 301) ORDER BY itemid, clock;
SELECT * FROM counted('SELECT itemid FROM history GROUP BY itemid');
ROLLBACK TO s;
SELECT * FROM differences();
COMMIT;
UPDATE history SET value = 'changed' WHERE itemid = 101 OR (itemid = 11 AND clock IN (511200, 86400));
UPDATE plain SET value = 'changed' WHERE itemid = 101 OR (itemid = 11 AND clock IN (511200, 86400));
WITH gone AS (DELETE FROM history WHERE itemid = 12 AND clock IN (511200, 345600) RETURNING *) INSERT INTO history SELECT itemid, clock + 1, value, ns FROM gone;
UPDATE plain SET clock = clock + 1 WHERE itemid = 12 AND clock IN (511200, 345600);
SELECT * FROM differences();
-- columns that days and partitions do not have, or have elsewhere
ALTER TABLE history ADD COLUMN note text DEFAULT 'none';
SELECT DISTINCT ON (itemid) itemid, note, clock FROM history WHERE clock <= 174600 AND itemid IN (1, 101) ORDER BY itemid, clock DESC, ns DESC;
ALTER TABLE history DROP COLUMN note;
CREATE TABLE elsewhere (ns integer NOT NULL, value text NOT NULL, gone integer, clock integer NOT NULL, itemid bigint NOT NULL);
INSERT INTO elsewhere SELECT ns, value, 1, clock, itemid FROM history_p19700105;
ALTER TABLE elsewhere DROP COLUMN gone;
DROP TABLE history_p19700105;
ALTER TABLE elsewhere RENAME TO history_p19700105;
-- without an index
ALTER TABLE history_p19700105 ADD CONSTRAINT zbxhist_clock CHECK (clock >= 345600 AND clock < 432000), INHERIT history;
SELECT zbxhist_internal.invalidate('history');
SELECT * FROM differences();
-- more items than memory holds, so that there are several searches
RESET zbxhist.enable_routing;
CREATE TABLE trends (itemid bigint NOT NULL, clock integer NOT NULL, num integer NOT NULL, PRIMARY KEY (itemid, clock));
SELECT zbxhist.create_parent('trends', premake => 0);
SELECT count(zbxhist.create_partition('trends', '1970-01-02'::date + n)) FROM generate_series(0, 2) n;
INSERT INTO trends SELECT i * 7 % 9001, d * 86400 + n, n FROM generate_series(1, 9000) i, generate_series(1, 3) d, generate_series(0, 1) n WHERE i % 5 <> d;
CALL zbxhist.pack('trends', '1970-01-02');
SET work_mem = '64kB';
SELECT * FROM counted('SELECT DISTINCT ON (itemid) * FROM trends ORDER BY itemid, clock DESC');
SELECT count(*), sum(itemid), sum(clock::bigint), sum(num) FROM (SELECT DISTINCT ON (itemid) * FROM trends ORDER BY itemid, clock DESC) t;
SELECT count(*), sum(itemid), sum(clock::bigint) FROM (SELECT itemid, min(clock) AS clock FROM trends GROUP BY itemid) t;
SET zbxhist.enable_item_scan = off;
SELECT count(*), sum(itemid), sum(clock::bigint), sum(num) FROM (SELECT DISTINCT ON (itemid) * FROM trends ORDER BY itemid, clock DESC) t;
SELECT count(*), sum(itemid), sum(clock::bigint) FROM (SELECT itemid, min(clock) AS clock FROM trends GROUP BY itemid) t;
RESET zbxhist.enable_item_scan;
RESET work_mem;
-- where items have few rows, as ANALYZE has found, all are read
ANALYZE trends, trends_p19700103, trends_p19700104;
SELECT is_of_each('SELECT itemid, max(clock) FROM trends GROUP BY itemid'), is_of_each('SELECT itemid, max(clock) FROM trends WHERE itemid IN (5, 6) GROUP BY itemid');

SET zbxhist.enable_routing = off;

-- prepared statements, also with nothing to compare with, see what comes and goes
SET plan_cache_mode = force_generic_plan;
PREPARE newest(bigint[], integer) AS SELECT DISTINCT ON (itemid) itemid, clock, ns, value FROM history WHERE itemid = ANY ($1) AND clock > $2 ORDER BY itemid, clock DESC, ns DESC;
PREPARE all_of_them AS SELECT count(*), max(max) FROM (SELECT itemid, max(clock) FROM history GROUP BY itemid) h;
EXPLAIN (COSTS OFF) EXECUTE newest('{3,5}', 0);
EXECUTE newest('{5,3,NULL,5}', 400000);
EXECUTE newest(NULL, 0);
EXECUTE newest('{3}', NULL);
EXECUTE all_of_them;
TRUNCATE ONLY history;
DELETE FROM plain p WHERE NOT EXISTS (SELECT FROM history h WHERE h.itemid = p.itemid AND h.clock = p.clock AND h.ns = p.ns);
EXECUTE all_of_them;
INSERT INTO history VALUES (400, 2000000000, 'in the parent', 0);
EXECUTE all_of_them;
TRUNCATE ONLY history;
RESET zbxhist.enable_routing;
INSERT INTO history VALUES (400, 604800, 'in a partition that was empty', 0);
EXECUTE all_of_them;
TRUNCATE history_p19700108;
CALL zbxhist.pack('history', '1970-01-04');
EXECUTE all_of_them;
SELECT * FROM differences();
CALL zbxhist.unpack('history', '1970-01-02');
SELECT * FROM differences();
RESET plan_cache_mode;
-- again and again, with other bounds; cursors; functions
SELECT c, count(*), sum(h.clock) FROM unnest('{90000,300000,NULL,500000}'::integer[]) c, LATERAL (SELECT DISTINCT ON (itemid) * FROM history WHERE clock <= c AND itemid IN (1, 2, 3, c) ORDER BY itemid, clock DESC, ns DESC) h GROUP BY c ORDER BY c;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT DISTINCT ON (itemid) itemid, clock FROM history ORDER BY itemid, clock DESC, ns DESC;
FETCH 2 FROM c;
-- all partitions that may be read are locked
SELECT relation::regclass FROM pg_locks WHERE pid = pg_backend_pid() AND relation IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'history'::regclass) ORDER BY relation::regclass::text COLLATE "C";
DELETE FROM history WHERE itemid IN (4, 5);
FETCH 4 FROM c;
FETCH BACKWARD 1 FROM c;
MOVE LAST IN c;
FETCH BACKWARD 2 FROM c;
ROLLBACK;
-- a child that is none of ours
CREATE TABLE other (CHECK (clock > 0)) INHERITS (history);
INSERT INTO other VALUES (3, 518000, 'other', 9);
SELECT is_of_each('SELECT itemid, max(clock) FROM history GROUP BY itemid');
SELECT itemid, max(clock) FROM history WHERE itemid = 3 GROUP BY itemid;
DROP TABLE other;

-- random rows, some late, some of them deleted, against a plain table
TRUNCATE plain;
DELETE FROM history;
SELECT setseed(0.15);
DO $$
DECLARE
    sum record;
BEGIN
    FOR n IN 1..6 LOOP
        PERFORM set_config('zbxhist.enable_routing', (n % 3 <> 0)::text, false);
        WITH new AS (
            INSERT INTO plain SELECT (random() * 30)::integer * (random() * 3)::integer, 86400 + (random() * 430000)::integer / (1 + (random() * 2000)::integer) , 'round ' || n, (random() * 2)::integer
            FROM generate_series(1, 400) ON CONFLICT DO NOTHING RETURNING *)
        INSERT INTO history SELECT * FROM new;
        SELECT * INTO sum FROM differences();
        IF sum.different > 0 THEN
            RAISE WARNING 'round %: %', n, sum;
        END IF;
        DELETE FROM history WHERE (itemid + clock) % 11 = n;
        DELETE FROM plain WHERE (itemid + clock) % 11 = n;
    END LOOP;
END $$;
RESET zbxhist.enable_routing;
SELECT rows > 0 AS has_rows, different FROM differences();
CALL zbxhist.pack('history', '1970-01-06');
SELECT rows > 0 AS has_rows, different FROM differences();
SELECT count(*) > 1000 AS many FROM plain;

-- privileges are those on the parent; who may read some columns only, or some rows, is served another way
CREATE ROLE zbxhist_newest_reader;
SET ROLE zbxhist_newest_reader;
SELECT itemid, max(clock) FROM history GROUP BY itemid;
RESET ROLE;
GRANT SELECT (itemid, clock) ON history TO zbxhist_newest_reader;
INSERT INTO history VALUES (1000, 518300, 'last', 0), (1000, 90000, 'first', 0);
SET ROLE zbxhist_newest_reader;
SELECT itemid, max(clock) FROM history WHERE itemid = ANY ('{1000}') GROUP BY itemid;
SELECT DISTINCT ON (itemid) * FROM history ORDER BY itemid, clock DESC;
RESET ROLE;
GRANT SELECT ON history TO zbxhist_newest_reader;
SET ROLE zbxhist_newest_reader;
SELECT is_of_each('SELECT itemid, max(clock) FROM history GROUP BY itemid');
SELECT itemid, max(clock) FROM history WHERE itemid = ANY ('{1000}') GROUP BY itemid;
RESET ROLE;
ALTER TABLE history ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON history USING (clock < 200000);
SET ROLE zbxhist_newest_reader;
SELECT is_of_each('SELECT itemid, max(clock) FROM history GROUP BY itemid');
SELECT itemid, max(clock) FROM history WHERE itemid = ANY ('{1000}') GROUP BY itemid;
RESET ROLE;
SET zbxhist.allow_packed_drop = on;
DROP TABLE history, plain, trends CASCADE;
DROP ROLE zbxhist_newest_reader;
DROP FUNCTION is_of_each, counted, differences;
