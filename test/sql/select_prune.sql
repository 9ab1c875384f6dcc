-- A SELECT whose clock bounds leave only few of a parent's children reads only those, and also
-- finds rows that wait in the parent.
\a \t
LOAD 'zbxhist';
SET zbxhist.allow_packed_drop = on;
SET client_min_messages = warning;
-- see select_item_scan.sql
SET zbxhist.enable_item_scan = off;
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL, ns integer NOT NULL,
    PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history', premake => 0);
SELECT count(zbxhist.create_partition('history', '1970-01-02'::date + n)) AS days FROM generate_series(0, 4) n;
DO $$
BEGIN
    EXECUTE (SELECT format('DROP TABLE %s', p.partition) FROM zbxhist.list_partitions('history') p WHERE p.from_clock > 1000000);
END $$;
INSERT INTO history SELECT i, c, c, 0 FROM generate_series(1, 3) i, generate_series(86400, 518399, 3600) c;
CALL zbxhist.pack('history', '1970-01-02');
CALL zbxhist.pack('history', '1970-01-03');
-- since PostgreSQL 18 it tells that it cannot do so to the foreign table
SET client_min_messages = error;
VACUUM ANALYZE history, history_p19700104, history_p19700105, history_p19700106;
ANALYZE history_packed;
SET client_min_messages = warning;

-- the tables that a query reads
CREATE FUNCTION tables_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || statement INTO plan;
    RETURN (SELECT string_agg(DISTINCT relation #>> '{}', ' ')
            FROM jsonb_path_query(plan, '$.**{1 to last}."Relation Name"') relation);
END $$;

-- one partition, a packed day, several, none
EXPLAIN (COSTS OFF) SELECT * FROM history WHERE itemid = 1 AND clock >= 259200 AND clock < 345600;
EXPLAIN (COSTS OFF) SELECT value FROM history h WHERE h.itemid = 1 AND h.clock > 90000 AND h.clock <= 93600;
EXPLAIN (COSTS OFF) SELECT * FROM history WHERE clock > 600000 AND clock < 700000;
SELECT tables_of('SELECT * FROM history WHERE itemid = 1 AND clock >= 345599 AND clock <= 345600 ORDER BY clock DESC LIMIT 2');
SELECT tables_of('SELECT * FROM history WHERE itemid = 1 AND clock >= 432000');
SELECT tables_of('SELECT * FROM history WHERE itemid = 1 AND clock <= 259200');
SELECT tables_of('SELECT min(value), max(value) FROM history WHERE itemid = 1 AND clock = 90000');
SELECT tables_of('SELECT DISTINCT itemid FROM history WHERE clock = 259200');
SELECT tables_of('SELECT * FROM history WHERE itemid IN (1, 2, 3) AND clock = 259200');
-- constants of other types, either side, a list, and what the planner makes constants of
SELECT tables_of(format('SELECT * FROM history WHERE itemid = 1 AND %s', condition)), condition FROM unnest(array[
    'clock >= 432000::bigint', 'clock >= 431999.5', 'clock > 431998.5', '345600.5 >= clock', 'clock < 345600.5 AND clock >= 345600.0',
    'clock >= 431999.5::float8', 'clock >= ''NaN''::float8', 'clock < ''-Infinity''::float8', 'clock >= 1e30', 'clock <= 1e30 AND clock > 518399',
    'to_timestamp(clock) >= ''1970-01-06 00:00+00''', 'to_timestamp(clock) > ''1970-01-05 23:00+00'' AND to_timestamp(clock) < ''1970-01-06 00:00:00.5+00''',
    'to_timestamp(clock) >= to_timestamp(432000)', 'clock >= 86400 * 5', 'clock IN (432000, 440000)', 'clock >= 5000000000', 'clock > -5000000000 AND clock < 90000', 'clock = 345600.5 OR clock = 345600',
    'clock + 0 >= 432000', 'clock <> 432000', 'clock >= NULL']) condition;
SELECT count(*), min(clock) FROM history WHERE clock >= 431998.5;
SELECT count(*), max(clock) FROM history WHERE clock < 345600.5 AND to_timestamp(clock) >= '1970-01-05 00:00+00';
SELECT count(*), max(clock) FROM history WHERE clock <= 345600::bigint AND clock > 342000.0::float8;
SELECT count(*), max(clock) FROM history WHERE clock = 345600.5 OR clock = 345600 OR 90000.0::float8 = clock;
-- what is known when it is executed bounds packed days only
SELECT tables_of('SELECT * FROM history WHERE itemid = 1 AND clock >= extract(epoch FROM now() - interval ''1 hour'')');
SELECT count(*) FROM history WHERE clock >= extract(epoch FROM now() - interval '1 hour') OR to_timestamp(clock) > now();
-- in subqueries, joins, WITH, conditions, views, set operations
SELECT tables_of('SELECT * FROM (SELECT itemid, max(clock) FROM history WHERE clock = 259200 GROUP BY itemid) m');
SELECT tables_of('SELECT * FROM history a JOIN history b USING (itemid) WHERE a.clock = 90000 AND b.clock = 259200');
SELECT tables_of('SELECT * FROM pg_class c LEFT JOIN history h ON h.itemid = c.oid::bigint WHERE h.clock = 259200');
SELECT tables_of('WITH h AS MATERIALIZED (SELECT * FROM history WHERE clock = 259200) SELECT * FROM h');
SELECT tables_of('SELECT 1 WHERE EXISTS (SELECT FROM history WHERE clock = 259200)');
SELECT tables_of('SELECT 1 UNION SELECT itemid FROM history WHERE clock = 259200');
CREATE VIEW day AS SELECT * FROM history WHERE clock >= 259200 AND clock < 345600;
SELECT tables_of('SELECT * FROM day WHERE itemid = 1');
-- passed over: rows as such, system columns, locks, ONLY, samples, no bounds, other settings
SELECT tables_of('SELECT h FROM history h WHERE clock = 259200');
SELECT tables_of('SELECT 1 FROM history h WHERE clock = 259200 AND (SELECT h IS NOT NULL)');
SELECT tables_of('SELECT tableoid, * FROM history h WHERE clock = 259200');
SELECT tables_of('SELECT * FROM history WHERE clock = 90000 FOR SHARE');
SELECT tables_of('SELECT * FROM ONLY history WHERE clock = 259200');
SELECT tables_of('SELECT * FROM history TABLESAMPLE bernoulli (100) WHERE clock = 259200');
SELECT tables_of('SELECT * FROM history WHERE clock = 259200 OR itemid = 1');
SELECT tables_of('SELECT * FROM pg_class c LEFT JOIN history h ON h.clock = 259200 AND h.itemid = c.oid::bigint');
SET constraint_exclusion = off;
SELECT tables_of('SELECT * FROM history WHERE clock = 259200');
RESET constraint_exclusion;

-- partitions and packed days are merged where an order is wanted, but for rows of one item (select_item_scan.sql)
SET enable_seqscan = off;
SET enable_sort = off;
EXPLAIN (COSTS OFF) SELECT clock FROM history WHERE itemid = 1 AND clock > 340000 AND clock <= 434000 ORDER BY clock DESC, ns DESC LIMIT 2;
SELECT clock FROM history WHERE itemid = 1 AND clock > 340000 AND clock <= 434000 ORDER BY clock DESC, ns DESC LIMIT 2;
EXPLAIN (COSTS OFF) SELECT clock FROM history WHERE itemid = 1 AND clock > 340000 AND clock <= 434000 ORDER BY clock LIMIT 3;
SELECT clock FROM history WHERE itemid = 1 AND clock > 340000 AND clock <= 434000 ORDER BY clock LIMIT 3;
SELECT h.clock, n FROM generate_series(1, 2) n, LATERAL (SELECT clock FROM history
    WHERE itemid = n AND clock > 340000 AND clock <= 434000 ORDER BY clock DESC LIMIT 1) h;
EXPLAIN (COSTS OFF) SELECT clock FROM history WHERE itemid = 1 AND clock > 172800 AND clock <= 434000 ORDER BY clock DESC LIMIT 2;
SELECT clock FROM history WHERE itemid = 1 AND clock > 172800 AND clock <= 434000 ORDER BY clock DESC LIMIT 2;
EXPLAIN (COSTS OFF) SELECT clock FROM history WHERE itemid = 1 AND clock > 172800 AND clock <= 434000 ORDER BY clock LIMIT 2;
SELECT array_agg(clock) = array_agg(clock ORDER BY clock) AS in_order, count(*), min(clock), max(clock)
FROM (SELECT clock FROM history WHERE itemid = 1 AND clock > 90000 AND clock <= 434000 ORDER BY clock, ns LIMIT 1000) h;
SELECT array_agg(clock) = array_agg(clock ORDER BY clock DESC) AS in_order, count(*), min(clock), max(clock)
FROM (SELECT clock FROM history WHERE itemid = 1 AND clock > 90000 ORDER BY clock DESC, ns DESC LIMIT 1000) h;
-- no bound but a LIMIT, or one row for all: all tables with rows
EXPLAIN (COSTS OFF) SELECT * FROM history WHERE itemid = 1 ORDER BY clock DESC LIMIT 2;
SELECT tables_of('SELECT max(clock) FROM history WHERE itemid = 1');
SELECT tables_of('SELECT itemid, max(clock) FROM history WHERE itemid IN (1, 2) GROUP BY itemid');
-- ... which may be all children there are
SELECT tables_of('SELECT clock FROM history WHERE itemid = 1 AND clock > 90000 ORDER BY clock DESC LIMIT 2');
BEGIN;
SET LOCAL zbxhist.enable_routing = off;
INSERT INTO history VALUES (1, 400000, 0, 0), (1, 433999, 0, 0);
SELECT clock FROM history WHERE itemid = 1 AND clock > 340000 AND clock <= 434000 ORDER BY clock DESC LIMIT 2;
EXPLAIN (COSTS OFF) SELECT clock FROM history WHERE itemid = 1 AND clock > 340000 AND clock <= 434000 ORDER BY clock DESC LIMIT 2;
ROLLBACK;
TRUNCATE ONLY history;
BEGIN;
SET LOCAL zbxhist.enable_routing = off;
INSERT INTO history VALUES (1, 100000, -1, 0), (1, 433999, -2, 0);
EXPLAIN (COSTS OFF) SELECT clock, value FROM history WHERE itemid = 1 AND clock > 90000 AND clock <= 434000 ORDER BY clock DESC, ns DESC LIMIT 2;
SELECT clock, value FROM history WHERE itemid = 1 AND clock > 90000 AND clock <= 434000 ORDER BY clock DESC, ns DESC LIMIT 2;
SELECT array_agg(clock) = array_agg(clock ORDER BY clock DESC) AS in_order, count(*), min(value)
FROM (SELECT clock, value FROM history WHERE itemid = 1 AND clock > 90000 AND clock <= 434000 ORDER BY clock DESC LIMIT 1000) h;
ROLLBACK;
TRUNCATE ONLY history;
-- a packed day that belongs after a partition is merged
CALL zbxhist.unpack('history', '1970-01-02');
EXPLAIN (COSTS OFF) SELECT clock FROM history WHERE itemid = 1 AND clock > 90000 ORDER BY clock DESC LIMIT 2;
CALL zbxhist.pack('history', '1970-01-02');
RESET enable_seqscan;
RESET enable_sort;

-- rows that wait in the parent, seen by plans made before
PREPARE heap AS SELECT value FROM history WHERE itemid = 1 AND clock >= 259200 AND clock < 262800 ORDER BY clock, value;
PREPARE packed AS SELECT value FROM history WHERE itemid = 1 AND clock >= 90000 AND clock < 93600 ORDER BY clock, value;
PREPARE several AS SELECT value FROM history WHERE itemid = 1 AND clock >= 345599 AND clock <= 345600 ORDER BY clock, value;
EXECUTE heap;
EXECUTE packed;
EXECUTE several;
SET zbxhist.enable_routing = off;
BEGIN;
DECLARE before SCROLL CURSOR FOR SELECT value FROM history WHERE itemid = 1 AND clock >= 259200 AND clock < 262800 ORDER BY clock, value;
INSERT INTO history VALUES (1, 259200, -1, 1), (1, 90000, -2, 1), (1, 345600, -3, 1);
DECLARE after SCROLL CURSOR FOR SELECT value FROM history WHERE itemid = 1 AND clock >= 259200 AND clock < 262800 ORDER BY clock, value;
EXECUTE heap;
EXECUTE packed;
EXECUTE several;
FETCH ALL FROM before;
FETCH ALL FROM after;
FETCH BACKWARD ALL FROM after;
COMMIT;
EXPLAIN (COSTS OFF) EXECUTE heap;
EXECUTE heap;
EXECUTE packed;
EXECUTE several;
SELECT tables_of('SELECT * FROM history WHERE itemid = 1 AND clock >= 345599 AND clock <= 345600 ORDER BY clock DESC LIMIT 2');
TRUNCATE ONLY history;
EXPLAIN (COSTS OFF) EXECUTE heap;
RESET zbxhist.enable_routing;
-- ... and days that come, go, are packed and changed
PREPARE gap AS SELECT count(*) FROM history WHERE clock >= 518400 AND clock < 604800;
EXECUTE gap;
INSERT INTO history VALUES (1, 518400, 1, 0);
EXECUTE gap;
SELECT zbxhist.create_partition('history', '1970-01-07');
INSERT INTO history VALUES (1, 518401, 1, 0);
EXECUTE gap;
-- ... and to partitions that were empty
DELETE FROM history WHERE clock >= 518400;
TRUNCATE ONLY history;
TRUNCATE history_p19700107;
PREPARE newest AS SELECT clock FROM history WHERE itemid = 1 AND clock > 514000 ORDER BY clock DESC LIMIT 2;
EXECUTE newest;
SELECT tables_of('EXECUTE newest');
BEGIN;
INSERT INTO history VALUES (1, 518402, 1, 0);
EXECUTE newest;
SELECT tables_of('EXECUTE newest');
ROLLBACK;
TRUNCATE history_p19700107;
SELECT tables_of('SELECT 1 FROM history WHERE itemid = 1 AND clock > 518400');
EXECUTE newest;
DROP TABLE history_p19700107;
EXECUTE newest;
CALL zbxhist.pack('history', '1970-01-04');
EXECUTE heap;
SELECT tables_of('SELECT * FROM history WHERE itemid = 1 AND clock = 259200');
CALL zbxhist.unpack('history', '1970-01-02');
EXECUTE packed;
EXECUTE several;
ALTER TABLE history ADD COLUMN note text DEFAULT 'none';
EXECUTE several;
SELECT tables_of('SELECT * FROM history WHERE itemid = 1 AND clock = 345600');
SELECT * FROM history WHERE itemid = 1 AND clock = 345600;
-- columns at other places
CREATE TABLE elsewhere (note text DEFAULT 'none', ns integer NOT NULL, value double precision NOT NULL, clock integer NOT NULL, itemid bigint NOT NULL);
INSERT INTO elsewhere SELECT note, ns, value, clock, itemid FROM history WHERE clock >= 345600 AND clock < 432000;
DROP TABLE history_p19700105;
ALTER TABLE elsewhere RENAME TO history_p19700105;
ALTER TABLE history_p19700105 ADD CONSTRAINT zbxhist_clock CHECK (clock >= 345600 AND clock < 432000), INHERIT history;
SELECT zbxhist_internal.invalidate('history');
SELECT * FROM history WHERE itemid = 1 AND clock = 345600;
EXECUTE several;

-- a cursor that is opened in an INSERT sees what comes to the parent later
CREATE FUNCTION stored_so_far(n integer) RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
    so_far refcursor := 'so_far';
    result double precision := 0;
    one double precision;
BEGIN
    IF n = 1 THEN
        OPEN so_far FOR SELECT h.value FROM history h WHERE h.itemid = 9 AND h.clock >= 432000 AND h.clock < 518400;
    ELSE
        LOOP
            FETCH so_far INTO one;
            EXIT WHEN NOT FOUND;
            result := result + one;
        END LOOP;
    END IF;
    RETURN result + n;
END $$;
BEGIN;
SET LOCAL zbxhist.enable_routing = off;
INSERT INTO history SELECT 9, 432000 + n, stored_so_far(n), 0 FROM generate_series(1, 2) n RETURNING value;
ROLLBACK;
TRUNCATE ONLY history;
DROP FUNCTION stored_so_far;

-- a function that is called again and again finds what comes meanwhile, and keeps no memory
CREATE FUNCTION newest(item bigint) RETURNS double precision VOLATILE LANGUAGE sql AS
    'SELECT value FROM history WHERE itemid = item AND clock >= 432000 AND clock < 518400 ORDER BY clock DESC, ns DESC LIMIT 1';
CREATE FUNCTION store_late(n integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF n = 2 THEN
        INSERT INTO history VALUES (9, 432000, 2, 0);
    END IF;
END $$;
CREATE FUNCTION memory() RETURNS numeric LANGUAGE sql AS 'SELECT sum(total_bytes) FROM pg_backend_memory_contexts';
BEGIN;
SET LOCAL zbxhist.enable_routing = off;
SELECT count(value) AS found, max(memory) - min(memory) < 10000000 AS memory_is_freed
FROM (SELECT store_late(n), newest(9) AS value, CASE WHEN n IN (10, 1000) THEN memory() END AS memory
      FROM generate_series(1, 1000) n OFFSET 0) calls;
ROLLBACK;
TRUNCATE ONLY history;
DROP FUNCTION newest, store_late, memory;

-- the parent's privileges count, and only they
CREATE ROLE regress_zbxhist_reader;
CREATE ROLE regress_zbxhist_owner;
SET ROLE regress_zbxhist_reader;
SELECT count(*) FROM history WHERE clock = 432000;
SELECT count(*) FROM day;
RESET ROLE;
GRANT SELECT ON history TO regress_zbxhist_reader;
SET ROLE regress_zbxhist_reader;
SELECT count(*) FROM history WHERE clock = 432000;
SELECT count(*) FROM history WHERE clock >= 345599 AND clock <= 345600;
SELECT count(*) FROM history_p19700106 WHERE clock = 432000;
SELECT tables_of('SELECT count(*) FROM history WHERE clock = 432000');
RESET ROLE;
REVOKE SELECT ON history FROM regress_zbxhist_reader;
GRANT SELECT (clock) ON history TO regress_zbxhist_reader;
GRANT SELECT ON day TO regress_zbxhist_reader;
SET ROLE regress_zbxhist_reader;
SELECT count(clock) FROM history WHERE clock = 432000;
SELECT count(value) FROM history WHERE clock = 432000;
SELECT count(*) FROM day WHERE clock = 259200;
RESET ROLE;
-- privileges of a plan are those at its execution
GRANT SELECT ON history TO regress_zbxhist_reader;
SET ROLE regress_zbxhist_reader;
PREPARE mine AS SELECT count(*) FROM history WHERE clock = 432000;
EXECUTE mine;
RESET ROLE;
REVOKE SELECT ON history FROM regress_zbxhist_reader;
SET ROLE regress_zbxhist_reader;
EXECUTE mine;
RESET ROLE;
-- an operator does not get to see statistics of columns that its user may not read
CREATE FUNCTION tell(double precision, double precision) RETURNS boolean LANGUAGE plpgsql COST 0.1 AS $$
BEGIN RAISE WARNING 'told %', $1; RETURN true; END $$;
CREATE OPERATOR <<< (LEFTARG = double precision, RIGHTARG = double precision, FUNCTION = tell, RESTRICT = scalarltsel);
REVOKE ALL ON history FROM regress_zbxhist_reader;
GRANT SELECT (itemid, clock) ON history TO regress_zbxhist_reader;
SET ROLE regress_zbxhist_reader;
SELECT count(*) FROM history WHERE clock = 432000 AND value <<< 0;
RESET ROLE;
DROP OPERATOR <<< (double precision, double precision);
DROP FUNCTION tell;
-- an owner without privileges
GRANT SELECT ON history TO regress_zbxhist_reader;
ALTER TABLE history_p19700106 OWNER TO regress_zbxhist_owner;
REVOKE ALL ON history_p19700106 FROM regress_zbxhist_owner;
SET ROLE regress_zbxhist_reader;
SELECT count(*) FROM history WHERE clock = 432000;
RESET ROLE;
-- row security
CREATE POLICY own ON history FOR SELECT TO regress_zbxhist_reader USING (itemid = 2);
ALTER TABLE history ENABLE ROW LEVEL SECURITY;
SET ROLE regress_zbxhist_reader;
SELECT itemid FROM history WHERE clock = 432000;
RESET ROLE;
SELECT itemid FROM history WHERE clock = 432000 ORDER BY itemid;

DEALLOCATE ALL;
DROP TABLE history CASCADE;
DROP ROLE regress_zbxhist_reader, regress_zbxhist_owner;
DROP FUNCTION tables_of;
