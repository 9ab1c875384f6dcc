--
-- Aggregates over packed days in two steps: by item without rows, and then by
-- what a join, GROUPING SETS, DISTINCT items or UNION ALL ask for.
--
LOAD 'zbxhist';
SET client_min_messages = warning;
SET zbxhist.allow_packed_drop = on;
SET max_parallel_workers_per_gather = 0;
CREATE SCHEMA aggregate_steps;
CREATE SCHEMA aggregate_steps_plain;
SET search_path = aggregate_steps, public;
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE history_uint (itemid bigint NOT NULL, clock integer NOT NULL, value numeric(20) NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE items (itemid bigint PRIMARY KEY, hostid bigint NOT NULL, name text NOT NULL);
CREATE TABLE hosts (hostid bigint PRIMARY KEY, name text NOT NULL);
CREATE TABLE host_tag (hostid bigint NOT NULL, tag text NOT NULL, value text NOT NULL);
INSERT INTO items SELECT i, 10 + i % 3, 'item ' || i FROM generate_series(1, 9) i;
INSERT INTO hosts SELECT 10 + n, 'host ' || n FROM generate_series(0, 2) n;
INSERT INTO host_tag VALUES (10, 'env', 'a'), (11, 'env', 'a'), (11, 'team', 'x'), (11, 'team', 'y'), (12, 'env', 'b');
SELECT count(zbxhist.create_parent(t)) FROM unnest('{history,history_uint}'::regclass[]) t;
SELECT count(zbxhist.create_partition(t, date '1970-01-01' + n)) FROM unnest('{history,history_uint}'::regclass[]) t, generate_series(0, 3) n;
INSERT INTO history SELECT i, n * 300 + i, (i * 37 + n * 11) % 1000 / 8.0, n FROM generate_series(1, 8) i, generate_series(0, 3 * 288 - 1) n;
INSERT INTO history_uint SELECT i, n * 300 + i, (i * 37 + n * 11) % 1000, n FROM generate_series(11, 13) i, generate_series(0, 3 * 288 - 1) n;
INSERT INTO history SELECT 9, n * 300, -n, -3 FROM generate_series(0, 2 * 288 - 1) n;
CREATE TABLE aggregate_steps_plain.history AS TABLE history;
CREATE TABLE aggregate_steps_plain.history_uint AS TABLE history_uint;
SELECT format('CALL zbxhist.pack(%L, %L)', t, date '1970-01-01' + n) FROM unnest('{history,history_uint}'::text[]) t, generate_series(0, 1) n ORDER BY t, n \gexec
-- a late value, and one of an item that is in no other table
INSERT INTO history VALUES (1, 5000, 3, 7), (50, 90000, 4, 8);
INSERT INTO aggregate_steps_plain.history VALUES (1, 5000, 3, 7), (50, 90000, 4, 8);
ANALYZE;

-- the nodes of a query's plan, and whether its answer is that of a plain table
CREATE FUNCTION nodes(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
    plain text := regexp_replace(query, '\m(FROM|JOIN) (history(?:_uint)?)\M', '\1 aggregate_steps_plain.\2', 'g');
    is_below boolean := false;
    n bigint;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        IF line ~ '->  |Custom Scan' THEN
            is_below := line ~ 'Zbxhist';
        END IF;
        IF line ~ 'Foreign Scan' THEN
            RETURN NEXT 'Foreign Scan';
        ELSIF line ~ 'Hash Cond.* = s.t' THEN
            RETURN NEXT 'Hash of the series';
        ELSIF is_below AND line ~ 'Zbxhist|Group Key|Packed Cond' THEN
            RETURN NEXT regexp_replace(ltrim(line), '\$[0-9]|\(InitPlan [0-9]+\)\.col1', 'items');
        END IF;
    END LOOP;
    EXECUTE format('SELECT count(*) FROM ((%1$s EXCEPT ALL %2$s) UNION ALL (%2$s EXCEPT ALL %1$s)) x', query, plain) INTO n;
    RETURN NEXT format('%s rows differ', n);
END $$;
SELECT nodes('SELECT o.name, h.clock / 3600, avg(h.value), count(*), min(h.clock), max(h.value), sum(h.ns) FROM history h JOIN items i ON i.itemid = h.itemid JOIN hosts o ON o.hostid = i.hostid WHERE h.clock < 86400 GROUP BY 1, 2');
SELECT nodes('SELECT o.name, avg(h.value) FROM history h JOIN items i USING (itemid) JOIN hosts o USING (hostid) WHERE o.name = ''host 1'' AND h.clock < 86400 AND h.value > 5 GROUP BY o.name HAVING count(*) > 5');
SELECT nodes('SELECT t.value, count(*), count(DISTINCT i.hostid), sum(h.value) FILTER (WHERE h.value < 50) FROM history h, items i, host_tag t WHERE i.itemid = h.itemid AND t.hostid = i.hostid AND t.tag = ''team'' AND h.clock < 86400 GROUP BY 1');
SELECT nodes('SELECT i.name, max(h.value) FROM history h LEFT JOIN items i ON i.itemid = h.itemid WHERE h.clock < 100000 GROUP BY 1');
SELECT nodes('SELECT sum(h.clock), avg(h.ns), count(h.value), bool_or(h.value > 124) FROM history h JOIN (VALUES (1), (5), (5)) v (i) ON v.i = h.itemid WHERE h.clock < 86400');
SELECT nodes('SELECT clock / 3600, count(DISTINCT itemid), count(*) FROM history WHERE clock < 86400 GROUP BY 1');
SELECT nodes('SELECT itemid, clock / 43200, grouping(itemid), count(*), avg(value) FROM history WHERE clock < 86400 GROUP BY ROLLUP (1, 2)');
SELECT nodes('SELECT itemid, count(*), avg(value) FROM (SELECT itemid, clock, value::numeric FROM history WHERE itemid < 4 UNION ALL SELECT itemid, clock, value FROM history_uint) h WHERE clock < 86400 GROUP BY itemid');
-- in a subquery that refers to the query around it
SELECT nodes('SELECT o.name, (SELECT count(*) + avg(h.value) FROM history h JOIN items i USING (itemid) WHERE i.hostid = o.hostid AND h.clock < 86400) FROM hosts o');
-- what is not done so: values of both sides in one aggregate or condition, every clock a group, days that are not packed
SELECT nodes('SELECT sum(h.value * i.hostid) FROM history h JOIN items i USING (itemid) WHERE h.clock < 86400');
SELECT nodes('SELECT count(*) FROM history h JOIN items i ON i.itemid = h.itemid AND h.value > i.hostid WHERE h.clock < 86400');
SELECT nodes('SELECT i.name, h.clock, count(*) FROM history h JOIN items i USING (itemid) WHERE h.clock < 86400 GROUP BY 1, 2');
SELECT nodes('SELECT count(*), count(h.clock) FROM items i LEFT JOIN history h ON i.itemid = h.itemid AND h.clock < 86400');
SELECT nodes('SELECT i.name, count(*) FROM history h JOIN items i USING (itemid) WHERE h.clock BETWEEN 180000 AND 190000 GROUP BY 1');
SELECT nodes('SELECT count(DISTINCT value) FROM history WHERE clock < 86400');

SELECT nodes('SELECT sum(ns), avg(ns), min(ns), sum(value) FROM history WHERE itemid = 9 AND clock < 86400');
-- the first and last value of groups: in one step
SELECT nodes('SELECT itemid, clock / 3600, (array_agg(value ORDER BY clock, ns))[1], (array_agg(value ORDER BY clock DESC, ns DESC))[1], max(value), count(*) FROM history WHERE clock < 100000 GROUP BY 1, 2 HAVING (array_agg(value ORDER BY clock, ns))[1] < 100');
SELECT nodes('SELECT itemid, (array_agg(value ORDER BY clock DESC))[1]::text, (array_agg(ns ORDER BY clock))[1] + 1, (array_agg(itemid ORDER BY clock))[1], (array_agg(value * 2 ORDER BY clock))[1] FROM history_uint WHERE value > 100 GROUP BY 1');
SELECT nodes('SELECT (array_agg(value ORDER BY clock, ns))[1], count(*) FROM history WHERE itemid = 1 AND clock < 0');
-- with rows: of more of the array than that, in another order, of some of the rows
SELECT nodes('SELECT itemid, (array_agg(value ORDER BY clock, ns))[1], array_agg(value ORDER BY clock, ns) FROM history WHERE clock < 86400 GROUP BY 1');
SELECT nodes('SELECT itemid, (array_agg(value ORDER BY clock, ns))[2] FROM history WHERE clock < 86400 GROUP BY 1');
SELECT nodes('SELECT itemid, (array_agg(value ORDER BY clock, ns DESC))[1] FROM history WHERE clock < 86400 GROUP BY 1');
SELECT nodes('SELECT itemid, (array_agg(value ORDER BY clock NULLS FIRST))[1] FROM history WHERE clock < 86400 GROUP BY 1');
SELECT nodes('SELECT itemid, (array_agg(value ORDER BY clock) FILTER (WHERE value > 50))[1] FROM history WHERE clock < 86400 GROUP BY 1');
-- intervals of a series: joined by a hash
SELECT nodes('SELECT s.t, avg(h.value), count(h.value) FROM generate_series(0, 100000, 3600) s(t) LEFT JOIN history h ON h.itemid = 3 AND h.clock >= s.t AND h.clock < s.t + 3600 GROUP BY s.t');
SELECT nodes('SELECT s.t, count(*) FROM generate_series(50000, 100000, 600) s(t) JOIN history h ON h.itemid IN (3, 4) AND h.clock > s.t - 600 AND s.t >= h.clock GROUP BY s.t');
SELECT nodes('SELECT s.t, count(*) FROM generate_series(0, 100000, 3600) s(t), history h WHERE h.itemid = 3 AND h.clock BETWEEN s.t + 100 AND s.t + 399 GROUP BY s.t');
-- compared with each: intervals that overlap
SELECT nodes('SELECT s.t, count(h.value) FROM generate_series(0, 100000, 3600) s(t) LEFT JOIN history h ON h.itemid = 3 AND h.clock >= s.t AND h.clock <= s.t + 3600 GROUP BY s.t');
-- below a nested loop: the groups are made once, but for those of another value
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
SELECT nodes('SELECT i.name, s.avg FROM items i LEFT JOIN (SELECT itemid, avg(value), min(clock) FROM history WHERE clock < 86400 GROUP BY 1 OFFSET 0) s ON i.itemid >= s.itemid');
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;
-- rows of the transaction's own
BEGIN;
SELECT format('INSERT INTO %1$s.history VALUES (1, 3599, 10, 999), (1, 3600, 11, -1), (3, 7199, 12, 0), (5, 5, 14, -1), (6, 3306, 15, 77); UPDATE %1$s.history SET value = 13 WHERE itemid = 2 AND clock < 4000; DELETE FROM %1$s.history WHERE itemid = 4 AND clock BETWEEN 3000 AND 4000', s) FROM unnest('{aggregate_steps,aggregate_steps_plain}'::text[]) s \gexec
SELECT nodes('SELECT itemid, clock / 3600, (array_agg(value ORDER BY clock, ns))[1], (array_agg(value ORDER BY clock DESC, ns DESC))[1] FROM history WHERE clock < 86400 GROUP BY 1, 2');
SELECT nodes('SELECT s.t, avg(h.value) FROM generate_series(0, 80000, 1800) s(t) LEFT JOIN history h ON h.itemid = 1 AND h.clock >= s.t AND h.clock < s.t + 1800 GROUP BY s.t');
ROLLBACK;

DROP SCHEMA aggregate_steps CASCADE;
DROP SCHEMA aggregate_steps_plain CASCADE;
