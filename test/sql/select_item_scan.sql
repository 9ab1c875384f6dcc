-- The newest or oldest rows of an item: such a SELECT is planned for the parent
-- alone and reads table after table until it has enough.  It gives the same
-- rows in the same order as a plain table.
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
INSERT INTO plain SELECT i, c, 'value ' || c, n FROM generate_series(1, 4) i, generate_series(86400, 518399, 1800) c, generate_series(0, 2) n;
INSERT INTO plain SELECT 5, 100000, repeat('long', 2000), 0;
INSERT INTO history SELECT * FROM plain;
CALL zbxhist.pack('history', '1970-01-02');
CALL zbxhist.pack('history', '1970-01-03');
ANALYZE plain;

-- what Zabbix sends
EXPLAIN (COSTS OFF) SELECT * FROM history h WHERE h.itemid='3' AND h.clock>90000 ORDER BY h.clock DESC,h.ns DESC LIMIT 2;
EXPLAIN (COSTS OFF) select clock,ns,value from history where itemid=3 and clock<=500000 and clock>90000 order by clock desc limit 2;
EXPLAIN (COSTS OFF) SELECT h.* FROM history h WHERE h.itemid='3' ORDER BY h.clock LIMIT 5;
-- other forms of the same, and what is none
CREATE FUNCTION item_scan_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || statement INTO plan;
    RETURN jsonb_path_query_first(plan, '$.**."Custom Plan Provider" ? (@ starts with "ZbxhistItem")') #>> '{}';
END $$;
SELECT item_scan_of(query), query FROM unnest(ARRAY[
    'SELECT 1 FROM history WHERE 3 = itemid AND 90000 < clock ORDER BY clock LIMIT 2 OFFSET 3',
    'SELECT length(value) FROM history WHERE itemid = 3 AND clock BETWEEN 1 AND 500000 ORDER BY clock DESC FETCH FIRST 2 ROWS WITH TIES',
    'SELECT * FROM history WHERE itemid = 3 AND clock > extract(epoch FROM now())::integer ORDER BY clock DESC, ns DESC LIMIT 1',
    'SELECT * FROM (SELECT * FROM history WHERE itemid = 3 ORDER BY clock DESC LIMIT 2) h ORDER BY value',
    'SELECT (SELECT value FROM history WHERE itemid = i ORDER BY clock DESC LIMIT 1) FROM generate_series(1, 3) i',
    'SELECT * FROM history WHERE itemid = 3 ORDER BY clock DESC',
    'SELECT * FROM history WHERE itemid = 3 LIMIT 2',
    'SELECT * FROM history WHERE itemid = 3 ORDER BY clock DESC, ns LIMIT 2',
    'SELECT * FROM history WHERE itemid = 3 ORDER BY ns LIMIT 2',
    'SELECT * FROM history WHERE itemid = 3 ORDER BY clock + 1 LIMIT 2',
    'SELECT * FROM history WHERE itemid = 3 ORDER BY clock, ns, value LIMIT 2',
    'SELECT * FROM history WHERE itemid = 3 AND value > ''x'' ORDER BY clock LIMIT 2',
    'SELECT max(clock), 1 FROM history WHERE itemid = 3 HAVING max(clock) > 5',
    'SELECT min(clock) FROM history WHERE itemid = 3 AND clock > 5',
    'SELECT max(clock) FROM history WHERE itemid = 3 AND value > ''x''',
    'SELECT max(clock), min(clock) FROM history WHERE itemid = 3',
    'SELECT max(clock) FROM history WHERE itemid IN (3, 4)',
    'SELECT max(clock) FROM history WHERE clock > 5',
    'SELECT * FROM history WHERE itemid = 3 AND value IN (SELECT value FROM plain) ORDER BY clock LIMIT 2',
    'SELECT * FROM history WHERE itemid = 3 OR itemid = 4 ORDER BY clock LIMIT 2',
    'SELECT * FROM history WHERE itemid IN (3, 4) ORDER BY clock LIMIT 2',
    'SELECT * FROM history WHERE itemid = ns ORDER BY clock LIMIT 2',
    'SELECT * FROM history WHERE itemid = random()::integer ORDER BY clock LIMIT 2',
    'SELECT * FROM history WHERE clock > 5 ORDER BY clock LIMIT 2',
    'SELECT DISTINCT clock FROM history WHERE itemid = 3 ORDER BY clock LIMIT 2',
    'SELECT clock, count(*) FROM history WHERE itemid = 3 GROUP BY clock ORDER BY clock LIMIT 2',
    'SELECT clock, generate_series(1, 2) FROM history WHERE itemid = 3 ORDER BY clock LIMIT 2',
    'SELECT clock, row_number() OVER () FROM history WHERE itemid = 3 ORDER BY clock LIMIT 2',
    'SELECT ctid FROM history WHERE itemid = 3 ORDER BY clock LIMIT 2',
    'SELECT h FROM history h WHERE itemid = 3 ORDER BY clock LIMIT 2',
    'SELECT * FROM ONLY history WHERE itemid = 3 ORDER BY clock LIMIT 2',
    'SELECT * FROM history WHERE itemid = 3 ORDER BY clock LIMIT 2 FOR UPDATE',
    'SELECT * FROM plain WHERE itemid = 3 ORDER BY clock LIMIT 2']) query;
SET zbxhist.enable_item_scan = off;
SELECT item_scan_of('SELECT * FROM history WHERE itemid = 3 ORDER BY clock LIMIT 2');
RESET zbxhist.enable_item_scan;

-- only what is needed is read, neither empty partitions nor those before
CREATE FUNCTION tables_read(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, FORMAT json) ' || statement INTO plan;
    RETURN jsonb_path_query_first(plan, '$.**."Tables Read"');
END $$;
SELECT tables_read('SELECT * FROM history WHERE itemid = 3 AND clock > 90000 ORDER BY clock DESC LIMIT 2');
SELECT tables_read('SELECT * FROM history WHERE itemid = 3 AND clock > 90000 ORDER BY clock LIMIT 2');
SELECT tables_read('SELECT * FROM history WHERE itemid = 3 AND clock <= 345602 ORDER BY clock DESC LIMIT 4');
SELECT tables_read('SELECT * FROM history WHERE itemid = 99 AND clock <= 345602 ORDER BY clock DESC LIMIT 4');
SELECT tables_read('SELECT * FROM history WHERE itemid = 3 AND clock > 5 AND clock < 5 ORDER BY clock LIMIT 2');
SELECT tables_read('SELECT * FROM history WHERE itemid = 3 ORDER BY clock LIMIT 0');

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
        SELECT format('SELECT itemid, clock, ns, value FROM %%s WHERE itemid = %s%s%s ORDER BY clock%s LIMIT %s OFFSET %s', item, lower, upper, sort, n, n % 3)
        FROM unnest('{1,3,5,99}'::integer[]) item,
             unnest(ARRAY['', ' AND clock > 0', ' AND clock >= 172800', ' AND clock > 345600', ' AND clock >= 515000', ' AND clock > 2147483647']) lower,
             unnest(ARRAY['', ' AND clock < 172800', ' AND clock <= 345600', ' AND clock <= 2000000000', ' AND clock < -5', ' AND value LIKE ''%%1%%''']) upper,
             unnest(ARRAY[', ns', ' DESC, ns DESC']) sort,
             unnest('{1,2,100,10000}'::integer[]) n
        UNION ALL
        SELECT format('SELECT %s(clock) FROM %%s WHERE itemid = %s%s%s', extreme, item, lower, upper)
        FROM unnest('{max,min}'::text[]) extreme, unnest('{1,3,5,99}'::integer[]) item,
             unnest(ARRAY['', ' AND clock > 0', ' AND clock >= 172800', ' AND clock > 2147483647']) lower,
             unnest(ARRAY['', ' AND clock < 172800', ' AND clock <= 2000000000', ' AND value LIKE ''%%1%%''']) upper
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
SELECT i, h.max FROM generate_series(171000, 171001) i,
    LATERAL (SELECT itemid, max(clock) FROM history WHERE itemid = 3 AND clock < 172800 GROUP BY itemid HAVING max(clock) >= i) h;
-- with rows that wait in the parent, before and after others
SET zbxhist.enable_routing = off;
INSERT INTO plain VALUES (3, 50, 'early', 0), (3, 172800, 'between', 5), (3, 345600, 'first', -1), (3, 500000, 'late', 1), (3, 2000000000, 'future', 0), (6, 100000, 'only here', 0);
INSERT INTO history SELECT * FROM plain WHERE value IN ('early', 'between', 'first', 'late', 'future', 'only here');
SELECT count(*) FROM ONLY history;
SELECT * FROM differences();
SELECT tables_read('SELECT * FROM history WHERE itemid = 3 AND clock > 90000 ORDER BY clock DESC LIMIT 2');
-- after changes of packed rows, and of the columns
DELETE FROM history WHERE itemid = 1 AND clock IN (86400, 90000, 300600);
DELETE FROM plain WHERE itemid = 1 AND clock IN (86400, 90000, 300600);
UPDATE history SET value = 'changed' WHERE itemid = 3 AND clock = 174600 AND ns = 0;
UPDATE plain SET value = 'changed' WHERE itemid = 3 AND clock = 174600 AND ns = 0;
SELECT * FROM differences();
ALTER TABLE history ADD COLUMN note text DEFAULT 'none';
SELECT * FROM history WHERE itemid = 3 AND clock <= 174600 ORDER BY clock DESC, ns DESC LIMIT 2;
SELECT note, clock FROM history WHERE itemid = 3 AND clock <= 345600 ORDER BY clock DESC, ns DESC LIMIT 2;
ALTER TABLE history DROP COLUMN note;
SELECT * FROM differences();
-- columns at other places
CREATE TABLE elsewhere (ns integer NOT NULL, value text NOT NULL, gone integer, clock integer NOT NULL, itemid bigint NOT NULL);
INSERT INTO elsewhere SELECT ns, value, 1, clock, itemid FROM history_p19700105;
ALTER TABLE elsewhere DROP COLUMN gone;
DROP TABLE history_p19700105;
ALTER TABLE elsewhere RENAME TO history_p19700105;
ALTER TABLE history_p19700105 ADD PRIMARY KEY (itemid, clock, ns), ADD CONSTRAINT zbxhist_clock CHECK (clock >= 345600 AND clock < 432000), INHERIT history;
SELECT zbxhist_internal.invalidate('history');
SELECT * FROM differences();
-- a child that is none of ours
CREATE TABLE other (CHECK (clock > 0)) INHERITS (history);
INSERT INTO other VALUES (3, 510000, 'other', 9);
SELECT item_scan_of('SELECT * FROM history WHERE itemid = 3 ORDER BY clock LIMIT 2');
DROP TABLE other;

-- prepared statements, also with nothing to compare with
SET plan_cache_mode = force_generic_plan;
PREPARE newest(bigint, integer, integer, bigint) AS SELECT clock, ns, value FROM history WHERE itemid = $1 AND clock > $2 AND clock <= $3 ORDER BY clock DESC, ns DESC LIMIT $4;
EXPLAIN (COSTS OFF) EXECUTE newest(3, 0, 500000, 2);
EXECUTE newest(3, 0, 500000, 2);
EXECUTE newest(3, NULL, 500000, 2);
EXECUTE newest(NULL, 0, 500000, 2);
EXECUTE newest(3, 0, 90000, 1);
RESET plan_cache_mode;
-- ... see what comes, goes and moves
TRUNCATE ONLY history;
DELETE FROM plain p WHERE NOT EXISTS (SELECT FROM history h WHERE h.itemid = p.itemid AND h.clock = p.clock AND h.ns = p.ns);
SELECT * FROM differences();
EXECUTE newest(3, 0, 2147483647, 1);
INSERT INTO history VALUES (3, 2000000000, 'in the parent', 0);
EXECUTE newest(3, 0, 2147483647, 1);
TRUNCATE ONLY history;
RESET zbxhist.enable_routing;
INSERT INTO history VALUES (3, 604800, 'in a partition that was empty', 0);
EXECUTE newest(3, 0, 2147483647, 1);
TRUNCATE history_p19700108;
EXECUTE newest(3, 0, 2147483647, 1);
CALL zbxhist.pack('history', '1970-01-04');
SELECT * FROM differences();
CALL zbxhist.unpack('history', '1970-01-02');
SELECT * FROM differences();
BEGIN;
CREATE TABLE history_p19700109 (CONSTRAINT zbxhist_clock CHECK (clock >= 691200 AND clock < 777600)) INHERITS (history);
INSERT INTO history_p19700109 VALUES (3, 691200, 'new partition', 0);
EXECUTE newest(3, 0, 2147483647, 1);
ROLLBACK;
EXECUTE newest(3, 0, 2147483647, 1);

-- one item after the other: joins, subqueries, views, functions, cursors
SELECT i, h.clock, h.ns, h.value FROM unnest('{3,99,1,5,NULL}'::bigint[]) i,
    LATERAL (SELECT * FROM history WHERE itemid = i AND clock <= 300000 ORDER BY clock DESC, ns DESC LIMIT 1 + i % 2) h WHERE length(h.value) < 100;
SELECT tables_read('SELECT i, (SELECT clock FROM history WHERE itemid = i AND clock <= 300000 ORDER BY clock LIMIT 1) FROM generate_series(1, 4) i');
CREATE VIEW newest AS SELECT itemid, clock, value FROM history WHERE itemid = 3 ORDER BY clock DESC, ns DESC LIMIT 3;
SELECT * FROM newest WHERE value <> 'x';
CREATE FUNCTION newest(item bigint) RETURNS text STABLE LANGUAGE sql AS
    'SELECT value FROM history WHERE itemid = item ORDER BY clock DESC, ns DESC LIMIT 1';
SELECT i, newest(i) FROM generate_series(3, 4) i;
DO $$
DECLARE
    row record;
BEGIN
    FOR row IN SELECT clock, ns FROM history WHERE itemid = 3 AND clock > 340000 ORDER BY clock, ns LIMIT 4 LOOP
        RAISE WARNING '%', row;
    END LOOP;
END $$;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT clock, ns FROM history WHERE itemid = 3 AND clock < 345600 ORDER BY clock DESC, ns DESC LIMIT 100;
FETCH 2 FROM c;
-- all partitions that may be read are locked
SELECT relation::regclass FROM pg_locks WHERE pid = pg_backend_pid() AND relation IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'history'::regclass) ORDER BY 1;
SAVEPOINT s;
MOVE 30 IN c;
FETCH 1 FROM c;
ROLLBACK TO s;
FETCH BACKWARD 2 FROM c;
MOVE LAST IN c;
FETCH BACKWARD 1 FROM c;
COMMIT;

-- a cursor that is opened in an INSERT sees what that stores later, as of a plain table
CREATE FUNCTION stored_so_far(n integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    so_far refcursor := 'so_far';
    result bigint := 0;
    one integer;
BEGIN
    IF n = 1 THEN
        OPEN so_far FOR SELECT h.ns FROM history h WHERE h.itemid = 9 AND h.clock >= 432000 AND h.clock < 518400 ORDER BY clock LIMIT 10;
    ELSE
        LOOP
            FETCH so_far INTO one;
            EXIT WHEN NOT FOUND;
            result := result + one;
        END LOOP;
    END IF;
    RETURN result;
END $$;
BEGIN;
SET LOCAL zbxhist.enable_routing = off;
-- the plan is made before
SELECT stored_so_far(1), stored_so_far(2);
CLOSE so_far;
INSERT INTO history SELECT 9, 432000 + n, stored_so_far(n), 5 FROM generate_series(1, 3) n RETURNING value;
ROLLBACK;
DROP FUNCTION stored_so_far;

-- privileges are those on the parent; who may read some columns only, or some rows, is served another way
CREATE ROLE zbxhist_item_reader;
SET ROLE zbxhist_item_reader;
SELECT * FROM history WHERE itemid = 3 ORDER BY clock DESC LIMIT 1;
RESET ROLE;
GRANT SELECT (itemid, clock) ON history TO zbxhist_item_reader;
SET ROLE zbxhist_item_reader;
SELECT clock FROM history WHERE itemid = 3 ORDER BY clock DESC LIMIT 1;
SELECT value FROM history WHERE itemid = 3 ORDER BY clock DESC LIMIT 1;
RESET ROLE;
GRANT SELECT ON history TO zbxhist_item_reader;
SET ROLE zbxhist_item_reader;
SELECT item_scan_of('SELECT * FROM history WHERE itemid = 3 ORDER BY clock DESC LIMIT 1');
SELECT * FROM history WHERE itemid = 3 ORDER BY clock DESC, ns DESC LIMIT 1;
SELECT clock, ns FROM history WHERE itemid = 3 AND clock < 259200 ORDER BY clock DESC, ns DESC LIMIT 1;
RESET ROLE;
ALTER TABLE history ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON history USING (clock < 200000);
SET ROLE zbxhist_item_reader;
SELECT item_scan_of('SELECT * FROM history WHERE itemid = 3 ORDER BY clock DESC LIMIT 1');
SELECT clock, ns FROM history WHERE itemid = 3 ORDER BY clock DESC, ns DESC LIMIT 1;
RESET ROLE;
DROP VIEW newest;
DROP FUNCTION newest;
SET zbxhist.allow_packed_drop = on;
DROP TABLE history CASCADE;
DROP ROLE zbxhist_item_reader;

-- trends, and a history from before Zabbix 6.0: the order of rows of one second is nobody's
CREATE TABLE trends (itemid bigint NOT NULL, clock integer NOT NULL, num integer NOT NULL, value_min float8, value_avg float8, value_max float8, PRIMARY KEY (itemid, clock));
SELECT zbxhist.create_parent('trends', '1 month', premake => 0);
SELECT zbxhist.create_partition('trends', '1970-01-01');
INSERT INTO trends SELECT i, c, 60, 1, 2, 3 FROM generate_series(1, 3) i, generate_series(0, 3000000, 3600) c;
EXPLAIN (COSTS OFF) SELECT * FROM trends WHERE itemid = 2 AND clock >= 2600000 ORDER BY clock DESC LIMIT 3;
SELECT * FROM trends WHERE itemid = 2 AND clock <= 2678400 ORDER BY clock DESC LIMIT 3;
SELECT item_scan_of('SELECT * FROM trends WHERE itemid = 2 ORDER BY clock, num LIMIT 2');
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value text NOT NULL, ns integer NOT NULL);
CREATE INDEX history_1 ON history (itemid, clock);
SELECT zbxhist.create_parent('history', premake => 0);
SELECT zbxhist.create_partition('history', '1970-01-02');
INSERT INTO history SELECT * FROM plain WHERE itemid <> 5;
DELETE FROM plain WHERE itemid = 5;
SELECT * FROM differences();
-- a clock that may be null
ALTER TABLE history ALTER clock DROP NOT NULL;
SELECT item_scan_of('SELECT * FROM history WHERE itemid = 3 ORDER BY clock LIMIT 2');
DROP TABLE trends, history, plain CASCADE;
DROP FUNCTION item_scan_of, tables_read, differences;
