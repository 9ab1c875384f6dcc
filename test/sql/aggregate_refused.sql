-- Queries of packed days that must not be aggregated without rows, and others that look like
-- them, give the same answers as a plain table.
\a \t
LOAD 'zbxhist';
SET client_min_messages = warning;
SET zbxhist.allow_packed_drop = on;
SET max_parallel_workers_per_gather = 0;
CREATE SCHEMA aggregate_refused;
CREATE SCHEMA aggregate_refused_plain;
SET search_path = aggregate_refused, public, zbxhist_partitions;
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value double precision, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE history_uint (itemid bigint NOT NULL, clock integer NOT NULL, value numeric(20) NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE items (itemid bigint NOT NULL, hostid bigint NOT NULL, name text NOT NULL);
INSERT INTO items SELECT i, 10 + i % 3, 'item ' || i FROM generate_series(1, 9) i UNION ALL VALUES (3, 11, 'twice');
SELECT count(zbxhist.create_parent(t)) FROM unnest('{history,history_uint}'::regclass[]) t;
SELECT count(zbxhist.create_partition(t, date '1970-01-01' + n)) FROM unnest('{history,history_uint}'::regclass[]) t, generate_series(0, 3) n;
INSERT INTO history SELECT i, n * 600 + i, CASE WHEN n % 41 = i THEN NULL ELSE (i * 37 + n * 11) % 1000 / 8.0 END, n FROM generate_series(1, 8) i, generate_series(0, 3 * 144 - 1) n;
INSERT INTO history_uint SELECT i, n * 600 + i, (i * 37 + n * 11) % 1000, n FROM generate_series(6, 13) i, generate_series(0, 3 * 144 - 1) n;
CREATE TABLE aggregate_refused_plain.history AS TABLE history;
CREATE TABLE aggregate_refused_plain.history_uint AS TABLE history_uint;
SELECT format('CALL zbxhist.pack(%L, %L)', t, date '1970-01-01' + n) FROM unnest('{history,history_uint}'::text[]) t, generate_series(0, 1) n ORDER BY t, n \gexec
-- late values
INSERT INTO history VALUES (1, 5000, 3, 7), (50, 90000, 4, 8);
INSERT INTO aggregate_refused_plain.history VALUES (1, 5000, 3, 7), (50, 90000, 4, 8);
ANALYZE;

-- says by how many of our nodes a query aggregates, and how many rows differ from those of a plain table
CREATE FUNCTION compare(query text, OUT nodes integer, OUT rows bigint, OUT differ bigint) LANGUAGE plpgsql AS $$
DECLARE
    plain text := regexp_replace(query, '\m(FROM|JOIN) (history(?:_uint)?)\M', '\1 aggregate_refused_plain.\2', 'g');
    line text;
BEGIN
    nodes := 0;
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        nodes := nodes + (line ~ 'ZbxhistAggregate')::integer;
    END LOOP;
    EXECUTE format('SELECT count(*) FROM (%s) x', plain) INTO rows;
    EXECUTE format('SELECT count(*) FROM (((%1$s) EXCEPT ALL (%2$s)) UNION ALL ((%2$s) EXCEPT ALL (%1$s))) x', query, plain) INTO differ;
END $$;
SELECT query, c.* FROM unnest(ARRAY[
    -- for comparison, one that is
    'SELECT itemid, count(*), avg(value) FROM history WHERE clock < 172800 GROUP BY itemid',
    -- inputs that are no columns
    'SELECT itemid, sum(1), avg(3), count(1), max(7::bigint) FROM history GROUP BY itemid',
    'SELECT sum(1) FILTER (WHERE value > 50), count(NULL) FROM history',
    'SELECT itemid, sum(CASE WHEN value > 50 THEN 1 END), count(CASE WHEN value > 50 THEN 1 END), max(CASE WHEN ns < 5 THEN value END) FROM history GROUP BY 1',
    'SELECT clock / 3600, sum(value * 2), avg(ns + clock), min(-value), max(itemid % 3) FROM history GROUP BY 1',
    'SELECT itemid, avg(value::numeric), sum(value::integer) FROM history_uint GROUP BY 1',
    'SELECT itemid, count(h), count(h.*) FROM history h GROUP BY 1',
    'SELECT itemid, count(tableoid), min(ns::text) FROM history GROUP BY 1',
    -- aggregates of other kinds
    'SELECT itemid, stddev(value), variance(value), var_pop(ns) FROM history_uint GROUP BY 1',
    'SELECT itemid, bool_or(value > 100), every(value < 100), bool_and(ns > 5) FROM history GROUP BY 1',
    'SELECT itemid, (array_agg(value ORDER BY clock, ns))[1], (array_agg(value ORDER BY clock DESC, ns DESC))[1], array_agg(ns ORDER BY clock, ns) FROM history GROUP BY 1',
    'SELECT count(DISTINCT itemid), count(DISTINCT value), sum(DISTINCT ns) FROM history',
    'SELECT clock / 3600, count(DISTINCT itemid) FROM history_uint GROUP BY 1',
    'SELECT itemid, percentile_disc(0.5) WITHIN GROUP (ORDER BY value), mode() WITHIN GROUP (ORDER BY ns % 7) FROM history_uint GROUP BY 1',
    'SELECT itemid, regr_count(ns, clock), string_agg(ns::text, '','' ORDER BY clock, ns) FROM history GROUP BY 1',
    -- conditions that are not on columns alone
    'SELECT itemid, count(*), max(value) FROM history WHERE value > ns GROUP BY 1',
    'SELECT itemid, count(*) FILTER (WHERE clock % 7 = 0), max(value) FILTER (WHERE value > itemid) FROM history GROUP BY 1',
    -- what fails for rows that are not wanted
    'SELECT 1000 / (clock - 1) AS k, count(*), max(value) FROM history WHERE value > 5 GROUP BY k',
    'SELECT 1000 / (clock - 1) AS k, count(*) FROM history WHERE clock <> 1 AND itemid < 3 GROUP BY k',
    'SELECT itemid, count(*) FROM history h WHERE EXISTS (SELECT FROM items i WHERE i.itemid = h.itemid AND i.hostid = 11) GROUP BY 1',
    -- joins and lists, which may have an item twice
    'SELECT i.name, h.clock / 3600, count(*), max(h.value), sum(h.ns) FROM history h JOIN items i USING (itemid) WHERE h.clock < 100000 GROUP BY 1, 2',
    'SELECT i.hostid, count(*), count(h.value), count(DISTINCT h.itemid), max(i.name) FROM items i LEFT JOIN history h ON h.itemid = i.itemid AND h.value > 50 GROUP BY 1',
    'SELECT sum(h.value), count(*) FROM history_uint h, items i, items j WHERE i.itemid = h.itemid AND j.hostid = i.hostid',
    'SELECT count(*), sum(value) FROM history_uint WHERE itemid IN (SELECT itemid FROM items)',
    'SELECT itemid, count(*) FROM history WHERE itemid IN (SELECT i.itemid FROM items i JOIN items j USING (hostid)) AND clock < 172800 GROUP BY 1',
    'SELECT itemid, max(clock) FROM history WHERE (itemid, ns) IN (SELECT itemid, hostid FROM items) GROUP BY 1',
    'SELECT a.itemid, a.n, b.m FROM (SELECT itemid, count(*) AS n FROM history GROUP BY 1) a JOIN (SELECT itemid, max(clock) AS m FROM history_uint GROUP BY 1) b USING (itemid)',
    -- several sets of keys, tables and levels
    'SELECT itemid, clock / 43200, grouping(itemid), count(*), min(value) FROM history GROUP BY ROLLUP (1, 2)',
    'SELECT itemid, ns % 2, count(*) FROM history_uint GROUP BY GROUPING SETS ((1), (2), ())',
    'SELECT itemid, count(*), sum(value) FROM (SELECT itemid, clock, value::numeric FROM history WHERE itemid < 8 UNION ALL SELECT itemid, clock, value FROM history_uint) h WHERE clock < 172800 GROUP BY 1',
    'SELECT itemid, count(*), max(ns) FROM (SELECT itemid, clock, ns FROM history UNION ALL SELECT itemid, clock, ns FROM history_uint) h GROUP BY 1',
    'SELECT h, count(*) FROM (SELECT itemid, clock FROM history WHERE itemid < 3 UNION ALL SELECT itemid, clock FROM history_uint WHERE itemid > 12) h GROUP BY h',
    'SELECT count(h), max(h::text) FROM (SELECT * FROM history UNION ALL SELECT itemid, clock, value::double precision, ns FROM history_uint) h',
    'SELECT hostid, (SELECT count(*) FROM history h WHERE h.itemid < sum(i.itemid)), (SELECT max(i.itemid) FROM history h LIMIT 1) FROM items i GROUP BY hostid',
    'SELECT hostid, (SELECT max(i.itemid) + count(*) FROM history h WHERE h.itemid = 3) FROM items i GROUP BY hostid',
    'SELECT i.itemid, (SELECT count(*) FROM history h WHERE h.itemid = i.itemid AND h.clock < 172800), (SELECT sum(i.itemid + h.ns) FROM history h WHERE h.itemid = 2) FROM items i',
    'SELECT i.itemid, h.* FROM items i, LATERAL (SELECT i.hostid + count(*) AS n, max(value), i.itemid + clock / 86400 AS k FROM history h WHERE h.itemid = i.itemid GROUP BY k) h',
    -- windows, sets, results that are computed
    'SELECT itemid, count(*), rank() OVER (ORDER BY count(*), itemid), sum(count(*)) OVER () FROM history GROUP BY itemid',
    'SELECT itemid, sum(ns) OVER (PARTITION BY itemid ORDER BY clock, ns) FROM history WHERE clock < 10000',
    'SELECT itemid, count(*), generate_series(1, 2) FROM history GROUP BY itemid',
    'SELECT generate_series(1, itemid), max(ns) FROM history GROUP BY 1',
    'SELECT DISTINCT itemid % 2, generate_series(1, 2) FROM history',
    'SELECT itemid, max(value) + min(value), count(*)::text FROM history GROUP BY itemid HAVING sum(ns) > 5 AND (SELECT count(*) > 3 FROM items) AND bool_or(ns > 3)',
    'SELECT value, count(*) FROM history GROUP BY value HAVING count(*) > 2',
    'SELECT itemid + floor(random()) AS k, count(*) FROM history GROUP BY k',
    -- queries that are recursive, or read by others
    'WITH RECURSIVE r(itemid, n) AS (SELECT 1::bigint, 1 UNION ALL SELECT h.itemid + 1, r.n + 1 FROM r JOIN history h ON h.itemid = r.itemid AND h.clock < 172800 WHERE r.n < 5 GROUP BY h.itemid, r.n) SELECT * FROM r',
    'WITH RECURSIVE r(n, m) AS (SELECT 1, 0::bigint UNION ALL SELECT n + 1, (SELECT count(*) FROM history h WHERE h.itemid = n AND h.clock < 172800) FROM r WHERE n < 6) SELECT * FROM r',
    'WITH RECURSIVE r(n) AS (SELECT DISTINCT itemid FROM history UNION SELECT n + 1 FROM r WHERE n < 60) SELECT count(*), sum(n) FROM r',
    'WITH w AS MATERIALIZED (SELECT itemid, count(*) AS n FROM history GROUP BY 1) SELECT a.itemid, sum(b.n) FROM w a JOIN w b ON a.itemid >= b.itemid GROUP BY 1',
    'WITH w AS NOT MATERIALIZED (SELECT itemid, count(*) AS n FROM history GROUP BY 1) SELECT (SELECT n FROM w WHERE itemid = 1), (SELECT sum(n) FROM w)']) query, compare(query) c;

-- values of a query's parameters
PREPARE of_parameter(integer) AS SELECT itemid, sum($1), count($1), max(value) FROM history WHERE itemid < 4 GROUP BY itemid ORDER BY itemid;
SET plan_cache_mode = force_generic_plan;
EXECUTE of_parameter(2);
EXECUTE of_parameter(NULL);
RESET plan_cache_mode;
EXECUTE of_parameter(2);
DEALLOCATE of_parameter;

-- rows that somebody may not see
CREATE ROLE aggregate_refused_reader;
GRANT USAGE ON SCHEMA aggregate_refused TO aggregate_refused_reader;
GRANT SELECT ON history, items TO aggregate_refused_reader;
ALTER TABLE history ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON history TO aggregate_refused_reader USING (itemid IN (2, 3) AND ns > 100);
CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM history WHERE itemid = 5;
SELECT count(*), max(clock) FROM barrier WHERE value > 50;
SET ROLE aggregate_refused_reader;
SELECT itemid, count(*), min(ns), sum(ns) FROM history GROUP BY itemid ORDER BY itemid;
SELECT DISTINCT itemid FROM history ORDER BY 1;
RESET ROLE;
SELECT count(DISTINCT itemid) FROM history;
ALTER TABLE history DISABLE ROW LEVEL SECURITY;
DROP POLICY few ON history;
DROP VIEW barrier;
DROP OWNED BY aggregate_refused_reader;
DROP ROLE aggregate_refused_reader;

-- below a nested loop groups are made once, but for those of another value
CREATE FUNCTION times_read(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || query LOOP
        IF line ~ 'Custom Scan|Days:' THEN
            RETURN NEXT substring(line, 'loops=\d+|Days: \d+');
        END IF;
    END LOOP;
END $$;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SELECT times_read('SELECT i.name, s.avg FROM (SELECT itemid, avg(value) FROM history WHERE clock < 86400 GROUP BY 1 OFFSET 0) s RIGHT JOIN items i ON i.itemid >= s.itemid');
SELECT times_read('SELECT i.name, s.avg FROM items i, LATERAL (SELECT avg(value) FROM history WHERE clock < 86400 AND itemid = i.itemid) s');
SELECT compare('SELECT i.name, s.avg FROM items i LEFT JOIN (SELECT itemid, avg(value), min(clock) FROM history WHERE clock < 86400 GROUP BY 1 OFFSET 0) s ON i.itemid >= s.itemid');
DROP SCHEMA aggregate_refused CASCADE;
DROP SCHEMA aggregate_refused_plain CASCADE;
