-- Rows in the order of their clocks: partitions and packed days one after the other,
-- beside a plain table.
\a \t
LOAD 'zbxhist';
SET client_min_messages = warning;
SET zbxhist.allow_packed_drop = on;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE history (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, value double precision DEFAULT '0.0000' NOT NULL, ns integer DEFAULT '0' NOT NULL,
    PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history');
SELECT count(zbxhist.create_partition('history', '1970-01-02'::date + n)) AS days FROM generate_series(0, 11) n;
CREATE TABLE plain (LIKE history INCLUDING ALL);
INSERT INTO plain SELECT i, c, i * 1000 + c % 1009, c % 7 * 1000 FROM generate_series(1, 60) i, generate_series(86400, 1123199, 600) c WHERE (i + c / 86400) % 5 <> 0;
INSERT INTO plain VALUES (5, 100000, 1, -5), (5, 100000, 2, 2147483647), (5, 100000, 3, -2147483648), (6, 100000, 1, 0), (6, 100000, 1, 1);
INSERT INTO history SELECT * FROM plain;
-- days 2 to 9 are packed but for one in between
SELECT format('CALL zbxhist.pack(%L, %L)', 'history', '1970-01-02'::date + n) FROM unnest('{0,1,2,4,5,6,7}'::integer[]) n \gexec
-- partitions made for the present would be in every plan
DO $$
DECLARE
    partition regclass;
BEGIN
    FOR partition IN SELECT p.partition FROM zbxhist.list_partitions('history') p WHERE p.from_clock > 1123200 LOOP EXECUTE format('DROP TABLE %s', partition); END LOOP;
END $$;
ANALYZE history, history_packed, plain;
CREATE FUNCTION read_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, COSTS OFF, FORMAT json) ' || query INTO plan;
    RETURN (SELECT string_agg(coalesce(s ->> 'Relation Name', '') || CASE WHEN s ? 'Days' THEN ' ' || (s ->> 'Days') ELSE '' END, ', ')
              FROM jsonb_path_query(plan, 'strict $.**') s WHERE jsonb_typeof(s) = 'object' AND s ? 'Relation Name' AND (s ->> 'Actual Loops')::float > 0);
END $$;
-- what is read: the first that have rows
SELECT read_of('SELECT * FROM history ORDER BY clock DESC LIMIT 10');
SELECT read_of('SELECT * FROM history ORDER BY clock LIMIT 10');
SELECT read_of('SELECT * FROM history WHERE itemid IN (5, 6, 7) ORDER BY clock DESC, ns DESC LIMIT 10');
SELECT read_of('SELECT * FROM history WHERE itemid IN (5, 6, 7) AND clock < 500000 ORDER BY clock DESC, ns DESC LIMIT 10');
SELECT read_of('SELECT * FROM history WHERE itemid IN (5, 6, 7) AND clock > 500000 ORDER BY clock, itemid LIMIT 10');
SELECT read_of('SELECT * FROM history WHERE clock < 432000 AND itemid IN (5, 6, 7) ORDER BY clock DESC LIMIT 500');
SELECT read_of('SELECT max(clock) FROM history WHERE clock < 500000 AND value > 3');
-- of packed days only
SELECT read_of('SELECT * FROM history WHERE clock < 345600 AND itemid IN (5, 6, 7) ORDER BY clock DESC LIMIT 50');
SELECT read_of('SELECT * FROM history WHERE clock < 345600 ORDER BY clock, itemid LIMIT 50');

CREATE TABLE query (number serial, query text);
INSERT INTO query (query) VALUES
('SELECT * FROM %s ORDER BY clock, itemid, ns'), ('SELECT * FROM %s ORDER BY clock DESC, itemid DESC, ns'),
('SELECT * FROM %s ORDER BY clock, itemid, ns LIMIT 10'), ('SELECT * FROM %s ORDER BY clock DESC, ns DESC, itemid LIMIT 10'),
('SELECT clock FROM %s ORDER BY clock DESC LIMIT 30000'), ('SELECT clock FROM %s ORDER BY clock LIMIT 30000'), ('SELECT clock FROM %s ORDER BY clock LIMIT 100 OFFSET 30000'),
('SELECT itemid, clock, ns FROM %s WHERE itemid IN (5, 6, 7, 999) ORDER BY clock, ns, itemid LIMIT 2500'),
('SELECT * FROM %s WHERE itemid IN (5, 6, 7) ORDER BY clock DESC, ns DESC, itemid DESC LIMIT 100'),
('SELECT * FROM %s WHERE itemid IN (5, 6, 7) AND clock <= 500000 AND clock > 200000 ORDER BY clock DESC, ns DESC, itemid LIMIT 100'),
('SELECT * FROM %s WHERE itemid IN (5, 6, 7) AND value > 6500 ORDER BY clock, ns, itemid LIMIT 100'),
('SELECT * FROM %s WHERE value > 1e9 ORDER BY clock DESC LIMIT 5'),
('SELECT * FROM %s WHERE clock < 345600 ORDER BY clock DESC, itemid, ns LIMIT 9000'),
('SELECT clock, itemid + 1 AS i, ns FROM %s WHERE clock < 345600 AND value > 20000 ORDER BY clock, itemid, ns LIMIT 9000'),
('SELECT h.clock, p.n FROM %s h LEFT JOIN (VALUES (5, 1), (6, 2)) p(i, n) ON h.itemid = p.i WHERE h.clock < 345600 ORDER BY h.clock, h.itemid, h.ns LIMIT 60'),
('SELECT min(clock) AS a, max(clock) AS z FROM %s WHERE clock < 345600 AND value > 3'),
('SELECT * FROM %s WHERE clock BETWEEN 345000 AND 346500 ORDER BY clock DESC, itemid, ns LIMIT 120'),
('SELECT * FROM %s WHERE clock > 1123199 ORDER BY clock LIMIT 5'),
('SELECT * FROM %s WHERE (itemid = 5 AND clock > 300000) OR (itemid = 7 AND clock < 200000) OR itemid = 8 ORDER BY clock, itemid, ns LIMIT 300'),
('SELECT clock + 0 AS c FROM %s ORDER BY clock LIMIT 5'), ('SELECT clock, value * 2 AS v FROM %s ORDER BY clock, value * 2 LIMIT 5'),
('SELECT -clock AS c FROM %s ORDER BY -clock LIMIT 5'), ('SELECT DISTINCT clock FROM %s ORDER BY clock DESC LIMIT 5'),
('SELECT clock, count(*), sum(value) FROM %s GROUP BY clock ORDER BY clock DESC LIMIT 5'),
('SELECT min(clock) FROM %s'), ('SELECT max(clock) FROM %s'), ('SELECT min(clock), max(clock) FROM %s WHERE clock BETWEEN 200000 AND 400001'),
('SELECT max(clock) FROM %s WHERE itemid IN (5, 6, 9)'), ('SELECT min(clock) FROM %s WHERE value > 60500'), ('SELECT max(clock) FROM %s WHERE value < 0'),
('SELECT max(clock) - min(clock) AS c FROM %s WHERE itemid <> 5 AND clock < 600000'),
('SELECT n, h.* FROM generate_series(100000, 1100000, 150000) n, LATERAL (SELECT * FROM %s WHERE itemid IN (5, 6) AND clock > n ORDER BY clock, ns, itemid LIMIT 2) h'),
('SELECT a.clock, b.itemid, a.n FROM (SELECT clock, count(*) AS n FROM %1$s GROUP BY clock ORDER BY clock DESC LIMIT 4) a JOIN (SELECT * FROM %1$s ORDER BY clock DESC, itemid DESC, ns LIMIT 10) b USING (clock)'),
('SELECT h.clock, p.n FROM %s h JOIN (VALUES (5, 1), (6, 2)) p(i, n) ON h.itemid = p.i ORDER BY h.clock DESC, h.itemid LIMIT 7'),
('SELECT clock FROM (SELECT clock, itemid FROM %1$s UNION ALL SELECT clock, itemid FROM %1$s) u ORDER BY clock LIMIT 7'),
('SELECT clock, lag(clock) OVER (ORDER BY clock, itemid, ns) AS l FROM %s ORDER BY clock, itemid, ns LIMIT 7'),
('SELECT clock FROM %s ORDER BY clock DESC FETCH FIRST 5 ROWS WITH TIES'), ('SELECT clock FROM %s ORDER BY clock DESC NULLS LAST LIMIT 5');
CREATE FUNCTION compare() RETURNS TABLE (number integer, rows bigint, same boolean) LANGUAGE plpgsql AS $$
DECLARE
    q record;
    expected text[];
    found text[];
    sorting text;
BEGIN
    FOR q IN SELECT * FROM query ORDER BY query.number LOOP
        sorting := CASE WHEN q.query ~ 'JOIN|LATERAL' THEN 'ORDER BY r::text' ELSE '' END;
        EXECUTE format('SELECT array_agg(r::text ' || sorting || ') FROM (' || q.query || ') r', 'plain') INTO expected;
        EXECUTE format('SELECT array_agg(r::text ' || sorting || ') FROM (' || q.query || ') r', 'history') INTO found;
        RETURN QUERY SELECT q.number, coalesce(cardinality(found), 0)::bigint, found IS NOT DISTINCT FROM expected;
    END LOOP;
END $$;
SELECT * FROM compare();
-- rows of the parent itself: late ones, and one without a partition
INSERT INTO history SELECT i, c, i, 3 FROM generate_series(1, 61, 13) i, unnest('{90001, 400000, 1123000}'::integer[]) c;
INSERT INTO plain SELECT i, c, i, 3 FROM generate_series(1, 61, 13) i, unnest('{90001, 400000, 1123000}'::integer[]) c;
INSERT INTO history VALUES (3, 2000000000, 1, 1), (3, -5, 1, 1);
INSERT INTO plain VALUES (3, 2000000000, 1, 1), (3, -5, 1, 1);
SELECT count(*) FROM compare() WHERE NOT same;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(*) FROM compare() WHERE NOT same;
COMMIT;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT count(*) FROM compare() WHERE NOT same;
RESET max_parallel_workers_per_gather;
-- plans that are kept while days are packed, unpacked and come
SET plan_cache_mode = force_generic_plan;
PREPARE newest(integer) AS SELECT itemid, clock, ns FROM history WHERE itemid IN (5, 6) AND clock < $1 ORDER BY clock DESC, itemid, ns LIMIT 2;
EXECUTE newest(450000);
CALL zbxhist.pack('history', '1970-01-05');
EXECUTE newest(450000);
CALL zbxhist.unpack('history', '1970-01-06');
EXECUTE newest(450000);
DELETE FROM history WHERE itemid = 6 AND clock BETWEEN 440000 AND 450000;
EXECUTE newest(450000);
DELETE FROM plain WHERE itemid = 6 AND clock BETWEEN 440000 AND 450000;
RESET plan_cache_mode;
SELECT count(*) FROM compare() WHERE NOT same;
DROP TABLE history, plain, query CASCADE;
DROP FUNCTION compare(), read_of(text);
