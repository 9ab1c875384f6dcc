--
-- The function range in FROM is read as it is asked for: the same rows as when
-- it is materialised, and none that nobody wants.
--
\a \t
LOAD 'zbxhist';
SET client_min_messages = warning;
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history');
SELECT count(zbxhist.create_partition('history', date '1970-01-01' + n)) AS partitions FROM generate_series(1, 4) n;
-- the first day's rows and the last ones' stay in the parent
INSERT INTO history SELECT i, c, c * i % 1009 / 4.0, c % 7 FROM generate_series(1, 5) i, generate_series(0, 6 * 86400, 1800) c;
CREATE TABLE item (itemid bigint PRIMARY KEY, since integer, name text);
INSERT INTO item VALUES (1, 86400, 'one'), (2, 200000, 'two'), (4, 500000, 'four'), (9, 0, 'none'), (5, NULL, 'null');
ANALYZE;

EXPLAIN (COSTS OFF) SELECT clock, value FROM zbxhist.range(NULL::history, 1, 0, 100000) WHERE ns > 3;
EXPLAIN (COSTS OFF, VERBOSE) SELECT r.value + 1 FROM item i, zbxhist.range(NULL::history, i.itemid, i.since, 600000, 'desc') r WHERE r.ns = i.itemid LIMIT 3;

-- rows that a plan's node of the function gave out and threw away
CREATE FUNCTION rows_read(query text) RETURNS TABLE (node text, out_of_it numeric, filtered numeric) LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT json) ' || query INTO plan;
    RETURN QUERY SELECT coalesce(n ->> 'Custom Plan Provider', n ->> 'Node Type'), round((n ->> 'Actual Rows')::numeric), round((n ->> 'Rows Removed by Filter')::numeric)
        FROM jsonb_path_query(plan, 'strict $.** ? (@."Node Type" == "Custom Scan" || @."Node Type" == "Function Scan")') n;
END $$;
SELECT r.*, q FROM unnest(ARRAY[
    'SELECT * FROM zbxhist.range(NULL::history, 1, 0, 600000) LIMIT 3',
    'SELECT * FROM zbxhist.range(NULL::history, 1, 0, 600000) WHERE ns = 6 LIMIT 2',
    'SELECT EXISTS (SELECT FROM zbxhist.range(NULL::history, 1, 0, 600000))',
    'SELECT (SELECT clock FROM zbxhist.range(NULL::history, 1, 0, 600000, ''desc'') WHERE value > 100 LIMIT 1)',
    'SELECT * FROM zbxhist.range(NULL::history, 1, ''1970-01-02 UTC''::timestamptz, ''1970-01-03 UTC'', ''desc'') LIMIT 4',
    'SELECT count(*) FROM zbxhist.range(NULL::history, 1, 0, 600000, max_rows => 7)',
    'SELECT r FROM zbxhist.range(NULL::history, 1, 0, 600000) r LIMIT 3',
    'SELECT * FROM zbxhist.range(NULL::history, 1, 0, 600000) r WHERE r IS NOT NULL AND ns = 6 LIMIT 2']) q, rows_read(q) r;
-- left to the executor's way
SELECT r.*, q FROM unnest(ARRAY[
    'SELECT * FROM zbxhist.range(NULL::history, 1, 0, 86400) WITH ORDINALITY',
    'SELECT * FROM ROWS FROM (zbxhist.range(NULL::history, 1, 0, 86400), generate_series(1, 2))',
    'UPDATE item SET since = r.clock FROM zbxhist.range(NULL::history, 1, 0, 86400) r WHERE r.itemid = item.itemid']) q, rows_read(q) r;

-- the same rows in the same order either way
CREATE FUNCTION compare(query text) RETURNS TABLE (rows bigint, same boolean) LANGUAGE plpgsql AS $$
DECLARE
    expected text[];
    found text[];
BEGIN
    SET LOCAL zbxhist.enable_range_scan = off;
    EXECUTE format('SELECT array_agg(q::text) FROM (%s) q', query) INTO expected;
    SET LOCAL zbxhist.enable_range_scan = on;
    EXECUTE format('SELECT array_agg(q::text) FROM (%s) q', query) INTO found;
    RETURN QUERY SELECT coalesce(cardinality(found), 0)::bigint, found IS NOT DISTINCT FROM expected;
END $$;
SELECT c.*, q FROM unnest(ARRAY[
    'SELECT * FROM zbxhist.range(NULL::history, 2, 0, 600000)',
    'SELECT * FROM zbxhist.range(NULL::history, 2, 0, 600000, ''desc'', from_ns => 3)',
    'SELECT ns, itemid FROM zbxhist.range(NULL::history, 2, 80000, 180000) WHERE value < 50 AND ns > 2',
    'SELECT count(*) FROM zbxhist.range(NULL::history, 2, 0, 600000)',
    'SELECT r FROM zbxhist.range(NULL::history, 2, 0, 600000) r',
    'SELECT r, to_jsonb(r), r.ns FROM zbxhist.range(NULL::history, 2, 80000, 180000) AS r(x, a, b, ns) WHERE r IS NOT NULL AND b < 50',
    'SELECT i.name, r FROM item i LEFT JOIN LATERAL zbxhist.range(NULL::history, i.itemid, i.since, 600000) r ON r.ns < 2 ORDER BY 1, r.clock',
    'SELECT a, b FROM zbxhist.range(NULL::history, 2, 0, 20000) AS r(x, a, b, c)',
    'SELECT * FROM zbxhist.range(NULL::history, 2, NULL, 600000)',
    'SELECT * FROM zbxhist.range(NULL::history, 2, 600000, 0)',
    'SELECT * FROM zbxhist.range(NULL::history, 2, ''1970-01-02 UTC''::timestamptz, ''infinity'', max_rows => 5)',
    'SELECT i.name, r.* FROM item i LEFT JOIN LATERAL zbxhist.range(NULL::history, i.itemid, i.since, 600000) r ON r.ns < 2 ORDER BY 1, r.clock',
    'SELECT i.name, (SELECT max(clock) FROM zbxhist.range(NULL::history, i.itemid, i.since, 600000)) FROM item i ORDER BY 1',
    'SELECT a.clock, b.value FROM zbxhist.range(NULL::history, 1, 0, 100000) a JOIN zbxhist.range(NULL::history, 2, 0, 100000) b USING (clock) ORDER BY 1',
    'SELECT * FROM zbxhist.range(NULL::history, 1, 0, 20000) UNION ALL SELECT * FROM zbxhist.range(NULL::history, 3, 0, 20000, ''desc'')',
    'SELECT tableoid IS NULL, count(*) FROM (SELECT NULL::oid AS tableoid, * FROM zbxhist.range(NULL::history, 1, 0, 90000)) r GROUP BY 1',
    'WITH r AS MATERIALIZED (SELECT * FROM zbxhist.range(NULL::history, 1, 0, 90000)) SELECT * FROM r x, r y WHERE x.clock = y.clock',
    'SELECT DISTINCT ON (ns) * FROM zbxhist.range(NULL::history, 1, 0, 600000) ORDER BY ns, clock']) q, compare(q) c;

-- arguments from elsewhere in the query
SELECT c.*, q FROM unnest(ARRAY[
    'SELECT * FROM zbxhist.range(NULL::history, (SELECT min(itemid) FROM item), (SELECT since FROM item WHERE itemid = 1), 100000)',
    'SELECT * FROM zbxhist.range(NULL::history, 1, 0, 600000) WHERE false',
    'SELECT * FROM (VALUES (1), (2)) v(i), LATERAL (SELECT v.i + r.ns FROM zbxhist.range(NULL::history, v.i, 0, 9000) r OFFSET 0) s',
    'SELECT i.name, s.n FROM item i LEFT JOIN LATERAL (SELECT count(*) AS n FROM zbxhist.range(NULL::history, i.itemid, coalesce(i.since, 5), 600000)) s ON true ORDER BY 1']) q, compare(q) c;

-- a nested loop asks anew for each outer row
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SELECT c.*, q FROM unnest(ARRAY[
    'SELECT i.name, r.clock FROM item i, zbxhist.range(NULL::history, i.itemid, i.since, 600000) r WHERE r.ns = 1 ORDER BY 1, 2',
    'SELECT i.name, r.clock FROM item i JOIN zbxhist.range(NULL::history, 1, 0, 10000) r ON r.ns = i.itemid ORDER BY 1, 2']) q, compare(q) c;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;

-- rows stored meanwhile are not seen, as in any statement
BEGIN;
DECLARE reading NO SCROLL CURSOR FOR SELECT clock FROM zbxhist.range(NULL::history, 7, 0, 600000);
INSERT INTO history VALUES (7, 90000, 1, 0);
FETCH ALL FROM reading;
CLOSE reading;
DECLARE reading NO SCROLL CURSOR FOR SELECT clock FROM zbxhist.range(NULL::history, 7, 0, 600000);
SAVEPOINT before;
INSERT INTO history VALUES (7, 90001, 1, 0), (7, 180000, 1, 0);
FETCH 1 FROM reading;
ROLLBACK TO before;
FETCH ALL FROM reading;
DECLARE sides SCROLL CURSOR FOR SELECT clock FROM zbxhist.range(NULL::history, 1, 0, 6000);
FETCH ALL FROM sides;
FETCH BACKWARD 2 FROM sides;
INSERT INTO history SELECT 8, clock, value, ns FROM zbxhist.range(NULL::history, 1, 0, 600000);
INSERT INTO history SELECT 8, clock + 1, value, ns FROM zbxhist.range(NULL::history, 8, 0, 600000);
SELECT count(*) FROM zbxhist.range(NULL::history, 8, 0, 600000);
ROLLBACK;

-- a prepared plan, also after changes of the table
SET plan_cache_mode = force_generic_plan;
PREPARE few(bigint, integer) AS SELECT * FROM zbxhist.range(NULL::history, $1, $2, 600000) LIMIT 2;
EXECUTE few(1, 100000);
EXECUTE few(2, 100000);
PREPARE two AS SELECT clock, value FROM zbxhist.range(NULL::history, 1, 0, 600000) LIMIT 2;
EXECUTE two;
ALTER TABLE history ADD COLUMN extra text DEFAULT 'x';
EXECUTE two;
ALTER TABLE history ALTER COLUMN value TYPE numeric;
EXECUTE two;
ALTER TABLE history DROP COLUMN extra, ADD COLUMN other integer DEFAULT 5;
EXECUTE two;
SELECT * FROM zbxhist.range(NULL::history, 1, 0, 600000) LIMIT 2;
SELECT other, itemid FROM zbxhist.range(NULL::history, 1, 90000, 95000);
RESET plan_cache_mode;

-- errors and privileges are those of the call
CREATE ROLE regress_zbxhist_reader;
GRANT USAGE ON SCHEMA zbxhist TO regress_zbxhist_reader;
SET ROLE regress_zbxhist_reader;
SELECT * FROM zbxhist.range(NULL::history, 1, 0, 600000) LIMIT 2;
EXPLAIN (COSTS OFF) SELECT * FROM zbxhist.range(NULL::history, 1, 0, 600000) LIMIT 2;
RESET ROLE;
GRANT SELECT ON history TO regress_zbxhist_reader;
SET ROLE regress_zbxhist_reader;
SELECT count(*) FROM zbxhist.range(NULL::history, 1, 0, 600000);
RESET ROLE;
BEGIN;
REVOKE EXECUTE ON FUNCTION zbxhist.range(anyelement, bigint, integer, integer, text, bigint, integer, integer) FROM PUBLIC;
SET LOCAL ROLE regress_zbxhist_reader;
SELECT count(*) FROM zbxhist.range(NULL::history, 1, 0, 600000);
ROLLBACK;
SELECT * FROM zbxhist.range(NULL::history, 1, 0, 600000, 'up');
SELECT * FROM zbxhist.range(NULL::history, 1, 0, 600000, max_rows => -1);
SELECT * FROM zbxhist.range(NULL::item, 1, 0, 600000);
SELECT * FROM zbxhist.range(NULL::integer, 1, 0, 600000);
DROP OWNED BY regress_zbxhist_reader;
DROP ROLE regress_zbxhist_reader;
DROP TABLE history, item CASCADE;
DROP FUNCTION rows_read, compare;
