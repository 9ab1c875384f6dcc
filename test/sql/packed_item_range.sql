-- Of packed days only groups are read that may have one of the items: a range, or a list from
-- a subquery.  The same rows as from a plain table.
\a \t
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE plain (LIKE history INCLUDING ALL);
SET client_min_messages = warning;
SET zbxhist.allow_packed_drop = on;
SELECT zbxhist.create_parent('history', premake => 0);
SELECT count(zbxhist.create_partition('history', '1970-01-02'::date + n)) AS days FROM generate_series(0, 3) n;
DO $$
BEGIN
    EXECUTE (SELECT format('DROP TABLE %s', p.partition) FROM zbxhist.list_partitions('history') p WHERE p.from_clock > 1000000);
END $$;
-- days begin at 86400, 172800 (packed), 259200, 345600; some items are negative, few have odd numbers, and sums are exact in any order
INSERT INTO plain SELECT i * 2 - 100, c, (i + c % 1009) / 4.0, i FROM generate_series(1, 300) i, generate_series(86400, 388799, 1200) c WHERE i % 7 > 0 OR c % 3600 = 0;
INSERT INTO plain SELECT i, 100000, i % 1000, 0 FROM unnest('{-9223372036854775808, -99, 301, 9223372036854775807}'::bigint[]) i;
INSERT INTO history SELECT * FROM plain WHERE ns % 11 > 0;
CALL zbxhist.pack('history', '1970-01-02');
CALL zbxhist.pack('history', '1970-01-03');
INSERT INTO history SELECT * FROM plain WHERE ns % 11 = 0 AND ns < 200;
DO $$ DECLARE answer text; BEGIN CALL zbxhist_internal.do_step('history', 'merge', answer); END $$;
INSERT INTO history SELECT * FROM plain WHERE ns % 11 = 0 AND ns >= 200;
ANALYZE history, plain, history_packed;
SET max_parallel_workers_per_gather = 0;

EXPLAIN (COSTS OFF) SELECT * FROM history_packed WHERE itemid BETWEEN 10 AND 20;
EXPLAIN (COSTS OFF) SELECT clock / 3600, avg(value) FROM history_packed WHERE itemid > 10 AND 21 > itemid AND clock >= 100000 GROUP BY 1;
CREATE FUNCTION values_decoded(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, FORMAT json) ' || query INTO plan;
    RETURN jsonb_path_query_first(plan, '$.**."Values Decoded"');
END $$;
SELECT values_decoded('SELECT * FROM history_packed WHERE itemid BETWEEN 10 AND 13 AND clock < 172800');
SELECT values_decoded('SELECT sum(value * 2) FROM history_packed WHERE itemid BETWEEN 10 AND 13 AND clock < 172800');
-- as many rows as there are, more or less
CREATE FUNCTION is_estimate_near(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, FORMAT json) ' || query INTO plan;
    RETURN (plan -> 0 -> 'Plan' ->> 'Plan Rows')::float8 / (plan -> 0 -> 'Plan' ->> 'Actual Rows')::float8 BETWEEN 0.2 AND 5;
END $$;
SELECT is_estimate_near('SELECT * FROM history_packed WHERE itemid BETWEEN 100 AND 150'), is_estimate_near('SELECT * FROM history_packed WHERE itemid < 300 AND clock < 172800');
-- items as numbers of another type, and groups of what is computed of the item alone
EXPLAIN (COSTS OFF) SELECT * FROM history WHERE itemid IN (12.0, 14.0);
EXPLAIN (COSTS OFF) SELECT * FROM history WHERE itemid = '12'::text::bigint AND clock > 100000;
EXPLAIN (COSTS OFF) SELECT to_char(itemid, 'FM99999999999999999999') AS metric, clock / 7200 * 7200 AS time, avg(value) AS value FROM history WHERE itemid IN (12, 14, 16) AND clock > 100000 AND clock < 360000 GROUP BY 2, 1 ORDER BY time;
CREATE FUNCTION groups_expected(item text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) SELECT ' || item || ', clock / 7200 * 7200 AS time, avg(value) FROM history WHERE itemid IN (12, 14, 16) AND clock > 100000 GROUP BY 1, 2 ORDER BY time' INTO plan;
    RETURN plan -> 0 -> 'Plan' -> 'Plan Rows';
END $$;
SELECT item, groups_expected(item) = groups_expected('itemid') AS same FROM unnest('{itemid::text, "to_char(itemid, ''FM99999999999999999999'')", "''item '' || itemid"}'::text[]) item;

CREATE TABLE query (number serial, query text);
INSERT INTO query (query) VALUES
('SELECT * FROM %s WHERE itemid BETWEEN 10 AND 20'),
('SELECT * FROM %s WHERE itemid BETWEEN 10 AND 20 AND clock BETWEEN 100300 AND 360000'),
('SELECT * FROM %s WHERE itemid BETWEEN 12 AND 12 AND clock %% 7 = 0'),
('SELECT * FROM %s WHERE itemid BETWEEN 20 AND 10'),
('SELECT * FROM %s WHERE itemid <= -98'),
('SELECT * FROM %s WHERE itemid < -9223372036854775807'),
('SELECT * FROM %s WHERE itemid < (-9223372036854775808)::bigint'),
('SELECT * FROM %s WHERE itemid > 9223372036854775807'),
('SELECT * FROM %s WHERE itemid >= 9223372036854775807'),
('SELECT * FROM %s WHERE itemid >= 480 AND itemid > 490::smallint'),
('SELECT * FROM %s WHERE 497 < itemid'),
('SELECT * FROM %s WHERE itemid > NULL'),
('SELECT * FROM %s WHERE itemid IN (-98, 10, 12, 500) AND itemid > 0'),
('SELECT * FROM %s WHERE itemid = 12 AND itemid < 12'),
('SELECT * FROM %s WHERE itemid = 12 AND itemid <= 12 ORDER BY clock DESC, ns DESC LIMIT 3'),
('SELECT * FROM %s WHERE itemid > 480 ORDER BY itemid, clock, ns LIMIT 700'),
('SELECT * FROM %s WHERE ((itemid = 12 AND clock = 100200) OR (itemid = 14 AND clock < 100200) OR (itemid > 490 AND clock = 100200)) AND itemid > 12'),
('SELECT * FROM %s WHERE ((itemid = 12 AND clock = 100200) OR (itemid = 14 AND clock < 100200)) AND itemid > 12'),
('SELECT * FROM %s WHERE itemid > (SELECT 490)'),
('SELECT * FROM %s WHERE itemid = 12.0 AND clock < 100300'),
('SELECT * FROM %s WHERE 12::numeric = itemid ORDER BY clock DESC LIMIT 3'),
('SELECT * FROM %s WHERE itemid = 12.5 OR itemid = 1e30 OR itemid = (-1e30)::numeric OR itemid = ''NaN''::numeric'),
('SELECT * FROM %s WHERE itemid = (SELECT 12.0) AND itemid > -1e30 AND itemid < 1e30'),
('SELECT * FROM %s WHERE itemid > 489.5 AND itemid <= 491.0'),
('SELECT max(clock), count(*) FROM %s WHERE itemid = ''12''::text::bigint'),
('SELECT * FROM %s WHERE itemid IN (12.0, 14.0, NULL, 15.5) AND clock < 200000'),
('SELECT * FROM %s WHERE itemid IN (9223372036854775807.0, 9223372036854775807.5, 9223372036854775808, -1e30, ''NaN'')'),
('SELECT * FROM %s WHERE itemid IN (12.5, 14.5)'),
('SELECT itemid, avg(value) FROM %s WHERE itemid IN (12.0, 14.0, ''16''::text::bigint) GROUP BY itemid'),
('SELECT * FROM %s WHERE itemid IN (''12''::text::bigint, ''14''::text::bigint) AND clock IN (100800.0, 100800.5, 260400)'),
('SELECT * FROM %s WHERE clock::float8 = ANY (''{100800, 100800.5, NaN, Infinity}'') AND itemid = ''12'''),
('SELECT * FROM %s WHERE to_timestamp(clock) IN (to_timestamp(100800), ''1970-01-02 04:00:00.5+00'', ''infinity'') AND itemid < 50'),
('SELECT to_char(itemid, ''FM99999999999999999999'') AS metric, clock / 7200 * 7200 AS time, avg(value) FROM %s WHERE itemid IN (12, 14, 16) AND clock > 100000 AND clock < 360000 GROUP BY 1, 2 ORDER BY time'),
('SELECT itemid::text, clock / 7200 * 7200, max(value), min(ns), count(*) FROM %s WHERE itemid BETWEEN 12 AND 77 GROUP BY 1, 2'),
('SELECT DISTINCT ON (itemid) * FROM %s WHERE itemid > 450 ORDER BY itemid, clock DESC, ns DESC'),
('SELECT DISTINCT itemid FROM %s WHERE itemid BETWEEN 300 AND 400'),
('SELECT itemid, max(clock) FROM %s WHERE itemid < -50 GROUP BY itemid'),
('SELECT count(*), min(itemid), max(itemid), sum(value), max(clock) FROM %s WHERE itemid BETWEEN 77 AND 333'),
('SELECT itemid, clock / 3600, avg(value), count(ns) FROM %s WHERE itemid >= 77 AND itemid < 91 AND clock > 100000 GROUP BY 1, 2'),
('SELECT clock / 86400, sum(value) FROM %s WHERE itemid > 10 AND ns < 77 GROUP BY 1'),
('SELECT h.* FROM generate_series(10, 30, 7) n, LATERAL (SELECT * FROM %s WHERE itemid BETWEEN n AND n + 2) h'),
('SELECT a.clock, count(*) FROM %s a JOIN plain b ON a.itemid > b.itemid AND a.clock = b.clock AND b.itemid = 490 GROUP BY 1');
CREATE FUNCTION compare() RETURNS TABLE (number integer, rows bigint, same boolean) LANGUAGE plpgsql AS $$
DECLARE
    q record;
    expected text[];
    found text[];
BEGIN
    FOR q IN SELECT * FROM query ORDER BY query.number LOOP
        EXECUTE format('SELECT array_agg(r::text ORDER BY r::text) FROM (' || q.query || ') r', 'plain') INTO expected;
        EXECUTE format('SELECT array_agg(r::text ORDER BY r::text) FROM (' || q.query || ') r', 'history') INTO found;
        RETURN QUERY SELECT q.number, coalesce(cardinality(found), 0)::bigint, found IS NOT DISTINCT FROM expected;
    END LOOP;
END $$;
SELECT * FROM compare();
-- with values that are not known when it is planned
SET plan_cache_mode = force_generic_plan;
PREPARE range AS SELECT count(*), sum(value) FROM history WHERE itemid > $1 AND itemid <= $2;
EXECUTE range(10, 20);
EXECUTE range(-200, 2000000000);
EXECUTE range(1, NULL);
RESET plan_cache_mode;
SELECT count(*), sum(value) FROM plain WHERE itemid > 10 AND itemid <= 20;
SELECT count(*), sum(value) FROM plain WHERE itemid > -200 AND itemid <= 2000000000;
-- by workers, and in the strictest isolation
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT count(*) FROM compare() WHERE NOT same;
RESET max_parallel_workers_per_gather;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(*) FROM compare() WHERE NOT same;
COMMIT;
-- items that a subquery gives
CREATE TABLE items (itemid bigint, hostid integer);
INSERT INTO items SELECT i, i % 10 FROM generate_series(-100, 500) i;
INSERT INTO items VALUES (12, 2), (NULL, 2), (NULL, 7);
ANALYZE items;
SET max_parallel_workers_per_gather = 0;
TRUNCATE query;
INSERT INTO query (query) VALUES
('SELECT * FROM %s WHERE itemid IN (SELECT itemid FROM items WHERE hostid = 2)'),
('SELECT * FROM %s WHERE itemid IN (SELECT itemid FROM items WHERE hostid = 2) AND (clock < 100000 OR itemid IN (SELECT itemid FROM items WHERE hostid = 4))'),
('SELECT * FROM %s WHERE itemid IN (SELECT itemid FROM items WHERE hostid = 2) AND itemid IN (SELECT itemid FROM items WHERE itemid > 100 UNION SELECT 12)'),
('SELECT * FROM %s WHERE itemid IN (SELECT itemid FROM items WHERE hostid = 77)'),
('SELECT * FROM %s h WHERE clock < 93600 AND itemid IN (SELECT itemid FROM items WHERE hostid = h.clock / 1200 %% 10)'),
('SELECT * FROM %s h WHERE itemid NOT IN (SELECT itemid FROM items WHERE hostid <> 2 AND itemid IS NOT NULL)'),
('SELECT clock / 7200, avg(value), count(*) FROM %s WHERE itemid IN (SELECT itemid FROM items WHERE hostid = 2) AND clock > 100000 GROUP BY 1'),
('SELECT itemid, max(value), count(*) FILTER (WHERE value < 100) FROM %s WHERE itemid IN (SELECT itemid FROM items WHERE hostid IN (2, 4)) GROUP BY itemid'),
('SELECT itemid, sum(value) FROM %s WHERE itemid = (SELECT max(itemid) FROM items WHERE hostid = 2) GROUP BY itemid'),
('SELECT x.hostid, h.n FROM (SELECT DISTINCT hostid FROM items) x, LATERAL (SELECT count(*) AS n FROM %s WHERE itemid IN (SELECT itemid FROM items i WHERE i.hostid = x.hostid)) h'),
('SELECT i.hostid, count(*) FROM %s h JOIN items i USING (itemid) WHERE h.itemid IN (SELECT itemid FROM items WHERE hostid IN (2, 3)) GROUP BY 1');
SELECT number - min(number) OVER () + 1 AS number, rows, same FROM compare();
-- changes
EXPLAIN (COSTS OFF) DELETE FROM history_packed WHERE itemid BETWEEN 10 AND 13;
DELETE FROM history WHERE itemid BETWEEN 10 AND 13;
DELETE FROM plain WHERE itemid BETWEEN 10 AND 13;
UPDATE history SET value = -1 WHERE itemid > 480 AND clock < 100000;
UPDATE plain SET value = -1 WHERE itemid > 480 AND clock < 100000;
SELECT count(*) FROM compare() WHERE NOT same;
DROP TABLE history, plain, query, items CASCADE;
DROP FUNCTION compare(), values_decoded(text), is_estimate_near(text);
