-- Plans of statements on a parent with packed days: what is pushed to the foreign table, in
-- which order it returns rows, and how much of it is read.
\a \t
LOAD 'zbxhist';
SET zbxhist.enable_aggregate_scan = off;
SET zbxhist.allow_packed_drop = on;
SET client_min_messages = warning;
-- see select_item_scan.sql
SET zbxhist.enable_item_scan = off;
CREATE TABLE history (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, value double precision DEFAULT '0.0000' NOT NULL, ns integer DEFAULT '0' NOT NULL,
    PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history');
SELECT count(zbxhist.create_partition('history', '1970-01-02'::date + n)) AS days FROM generate_series(0, 4) n;
-- 20 items, a value in 10 minutes, days at 86400, 172800, 259200, 345600, 432000
INSERT INTO history SELECT i, c, i + c % 1009 / 10.0, c % 7 * 1000 + i FROM generate_series(1, 20) i, generate_series(86400, 518399, 600) c;
CALL zbxhist.pack('history', '1970-01-02');
CALL zbxhist.pack('history', '1970-01-03');
CALL zbxhist.pack('history', '1970-01-04');
CALL zbxhist.pack('history', '1970-01-05');
CALL zbxhist.pack('history', '1970-01-06');
-- partitions made for the present would be in every plan
DO $$
DECLARE
    partition regclass;
BEGIN
    FOR partition IN SELECT p.partition FROM zbxhist.list_partitions('history') p LOOP EXECUTE format('DROP TABLE %s', partition); END LOOP;
END $$;
ANALYZE history, history_packed;
CREATE TABLE item (itemid bigint);
INSERT INTO item VALUES (3), (7), (99);
ANALYZE item;

-- a plan in the words of PostgreSQL 15, without what later ones know to hold
CREATE FUNCTION plan_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        CONTINUE WHEN line ~ 'Replaces:';
        line := regexp_replace(line, '\(InitPlan \w+\)\.col1|\$\d', '$', 'g');
        line := regexp_replace(line, 'InitPlan .*', 'InitPlan');
        line := regexp_replace(line, '\((?:\w+\.)?clock IS NOT NULL\) AND | AND \(clock IS NOT NULL\)', '');
        line := regexp_replace(line, '\(\((\w+\.)?itemid = 3\)\)', '(\1itemid = 3)');
        line := replace(replace(line, '(i.itemid = itemid)', '(itemid = i.itemid)'), '($ = h.itemid)', '(h.itemid = $)');
        RETURN NEXT line;
    END LOOP;
END $$;

-- conditions that the scan takes care of; the executor checks the others
EXPLAIN (COSTS OFF) SELECT clock, ns, value FROM history WHERE itemid = 3 AND clock > 172800 AND clock <= 200000;
EXPLAIN (COSTS OFF) SELECT * FROM history WHERE itemid = 3 AND 172800 < clock AND clock BETWEEN 1 AND 200000::bigint AND ns = 5 AND value > 3;
EXPLAIN (COSTS OFF) SELECT * FROM history_packed WHERE itemid IN (3, 7) AND clock = 200000;
SELECT plan_of($$SELECT * FROM history_packed WHERE (itemid IN (3, 4) OR itemid IN (5, 7)) AND clock > (SELECT 5)$$);
EXPLAIN (COSTS OFF) SELECT itemid, clock, ns FROM history_packed WHERE (itemid = 1 AND clock = 172800 AND ns = 6001) OR (itemid = 2 AND clock = 259200 AND ns = 2);
EXPLAIN (COSTS OFF) SELECT * FROM history_packed WHERE itemid = random()::int OR clock <> 5;
EXPLAIN (COSTS OFF) SELECT * FROM history_packed WHERE itemid::numeric = 3 AND clock + 0 > 5;
SET zbxhist.enable_packed_scan_pruning = off;
EXPLAIN (COSTS OFF) SELECT clock, ns, value FROM history WHERE itemid = 3 AND clock > 172800 AND clock <= 200000;
RESET zbxhist.enable_packed_scan_pruning;

-- a sample of which each packed row would be
SELECT count(*) FROM history TABLESAMPLE bernoulli (1);
SELECT count(*) FROM history TABLESAMPLE system (100) WHERE clock > 600000;

-- order
EXPLAIN (COSTS OFF) SELECT * FROM history WHERE itemid = 3 AND clock <= 400000 ORDER BY clock DESC LIMIT 2;
EXPLAIN (COSTS OFF) SELECT * FROM history WHERE itemid = 3 ORDER BY clock DESC, ns DESC LIMIT 2;
EXPLAIN (COSTS OFF) SELECT * FROM history WHERE itemid = 3 ORDER BY itemid, clock, ns LIMIT 2;
EXPLAIN (COSTS OFF) SELECT * FROM history WHERE itemid = 3 AND clock = 200000 ORDER BY ns DESC LIMIT 1;
SELECT plan_of($$SELECT max(clock) FROM history WHERE itemid = 3$$);
EXPLAIN (COSTS OFF) SELECT * FROM history_packed WHERE itemid = 3 ORDER BY clock, value LIMIT 2;
EXPLAIN (COSTS OFF) SELECT * FROM history_packed WHERE itemid = 3 ORDER BY clock DESC, ns;
EXPLAIN (COSTS OFF) SELECT * FROM history_packed WHERE itemid IN (3, 7) ORDER BY clock DESC LIMIT 2;
PREPARE newest(bigint, integer) AS SELECT clock, ns, value FROM history WHERE itemid = $1 AND clock <= $2 ORDER BY clock DESC LIMIT 2;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE newest(3, 400000);
EXECUTE newest(3, 400000);
EXECUTE newest(NULL, 400000);
RESET plan_cache_mode;

-- joins and subqueries: item after item
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT regexp_replace(plan_of, '\$ = h_2.itemid|h_2.itemid = \$', 'h_2.itemid = $')
  FROM plan_of($$SELECT h.* FROM item i JOIN history h ON h.itemid = i.itemid WHERE h.clock > 500000$$);
EXPLAIN (COSTS OFF) SELECT * FROM item i, LATERAL (SELECT * FROM history h WHERE h.itemid = i.itemid ORDER BY clock DESC LIMIT 1) h;
SELECT * FROM item i, LATERAL (SELECT clock, ns, value FROM history h WHERE h.itemid = i.itemid ORDER BY clock DESC LIMIT 1) h ORDER BY 1;
SELECT i.itemid, count(h.clock), min(h.clock), max(h.clock) FROM item i LEFT JOIN history h ON h.itemid = i.itemid AND h.clock > 500000 GROUP BY 1 ORDER BY 1;
RESET enable_hashjoin;
RESET enable_mergejoin;
SELECT plan_of($$SELECT * FROM history_packed WHERE itemid = (SELECT min(itemid) FROM item) AND clock = ANY (ARRAY(SELECT 200000))$$);
-- workers share days out
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT count(*), sum(ns) FROM history_packed;
SELECT count(*), sum(ns) FROM history_packed;
SELECT count(*), sum(ns), min(clock), max(clock) FROM history WHERE itemid IN (1, 2, 3) AND clock >= 172800;
RESET min_parallel_table_scan_size;
-- but not for little; nor of a parent of whose rows that is most
EXPLAIN (COSTS OFF) SELECT count(*), sum(ns) FROM history_packed WHERE itemid = 1;
BEGIN;
SET LOCAL zbxhist.enable_routing = off;
INSERT INTO history SELECT 1, 432000 + n, 0, 99 FROM generate_series(1, 500) n;
ANALYZE history;
EXPLAIN (COSTS OFF) SELECT abs(value), count(*) FROM history WHERE itemid = 1 AND clock < 432000 GROUP BY 1;
EXPLAIN (COSTS OFF) SELECT abs(value), count(*) FROM history WHERE itemid = 1 AND clock >= 431000 GROUP BY 1;
ROLLBACK;

-- what is read: two values need one segment, a day that is not wanted is not opened
CREATE FUNCTION read_by(query text) RETURNS TABLE (plan text) LANGUAGE plpgsql AS $$
BEGIN
    FOR plan IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
        plan := regexp_replace(plan, ' \(never executed\)| \(actual.*\)', '');
        CONTINUE WHEN plan ~ 'Buffers|Planning|Heap Fetches|Index Searches|Workers|Sort|Memory|Batches';
        RETURN NEXT;
    END LOOP;
END $$;
SELECT read_by('SELECT * FROM history_packed WHERE itemid = 3 AND clock <= 400000 ORDER BY clock DESC LIMIT 2');
SELECT read_by('SELECT * FROM history_packed WHERE itemid = 3 AND clock > 172800 AND clock < 259200');
SELECT read_by('SELECT * FROM history_packed WHERE itemid = 99');
SELECT read_by('SELECT * FROM history_packed WHERE itemid = 3 AND clock > 600000');
SELECT read_by('SELECT * FROM history_packed WHERE itemid = 3 AND clock > 5 AND clock < 5');
SELECT read_by('SELECT count(*) FROM history_packed WHERE itemid = ANY (''{}'')');
SELECT read_by('SELECT itemid, clock, ns FROM history_packed WHERE (itemid = 1 AND clock = 172800 AND ns = 6001) OR (itemid = 2 AND clock = 172800 AND ns = 6002)');
SET zbxhist.enable_packed_scan_pruning = off;
SELECT read_by('SELECT * FROM history_packed WHERE itemid = 3 AND clock > 172800 AND clock < 173401');
RESET zbxhist.enable_packed_scan_pruning;

-- what workers read that do so by themselves counts as well
BEGIN;
SET LOCAL parallel_leader_participation = off;
SET LOCAL zbxhist.enable_routing = off;
INSERT INTO history SELECT 1, 432000 + n, n % 100, 99 FROM generate_series(0, 9999) n;
ANALYZE history;
SELECT read_by('SELECT count(*) FROM history WHERE itemid = 1 AND clock >= 345600');
SELECT read_by('SELECT count(*) FROM history WHERE itemid = 1 AND clock >= 345600 AND value > 10');
ROLLBACK;

-- estimates
CREATE FUNCTION estimate(query text) RETURNS TABLE (estimated bigint, found bigint) LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, FORMAT json) ' || query INTO plan;
    RETURN QUERY SELECT (plan #>> '{0,Plan,Plan Rows}')::bigint, (plan #>> '{0,Plan,Actual Rows}')::numeric::bigint;
END $$;
SELECT query, estimated BETWEEN found * 0.8 - 1 AND found * 1.2 + 1 AS is_good FROM unnest(ARRAY[
    'SELECT * FROM history_packed',
    'SELECT * FROM history_packed WHERE itemid = 3',
    'SELECT * FROM history_packed WHERE itemid = 3 AND clock > 172800 AND clock <= 216000',
    'SELECT * FROM history_packed WHERE itemid IN (3, 4, 5) AND clock >= 432000',
    'SELECT * FROM history_packed WHERE clock >= 432000',
    'SELECT * FROM history_packed WHERE clock = 432000',
    'SELECT * FROM history_packed WHERE itemid = 3 AND clock > 172800 AND value > 50',
    'SELECT * FROM history_packed WHERE itemid = 3 AND clock > 600000',
    'SELECT DISTINCT itemid FROM history_packed']) query, estimate(query);
SELECT attname, n_distinct, null_frac FROM pg_stats WHERE tablename = 'history_packed' AND attname = 'itemid';
SELECT correlation > 0.9 AS in_order FROM pg_stats WHERE tablename = 'history_packed' AND attname = 'clock';
SELECT reltuples FROM pg_class WHERE oid = 'history_packed'::regclass;

-- system columns
SELECT tableoid::regclass, ctid, xmin, xmax, cmin, itemid, clock FROM history WHERE itemid = 3 AND clock BETWEEN 172800 AND 174000 ORDER BY clock;
SELECT h FROM history h WHERE itemid = 3 AND clock = 172800;
SELECT tableoid::regclass, ctid FROM history WHERE itemid = 3 AND clock = 172800 FOR UPDATE;
-- a cursor, both ways
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT clock FROM history WHERE itemid = 3 AND clock >= 500000 ORDER BY clock;
FETCH 2 FROM c;
MOVE LAST IN c;
FETCH BACKWARD 2 FROM c;
COMMIT;

-- options
ALTER FOREIGN TABLE history_packed OPTIONS (parents 'history');
ALTER FOREIGN TABLE history_packed ALTER value OPTIONS (parent 'history');
ALTER SERVER zbxhist OPTIONS (parent 'history');
CREATE FOREIGN TABLE orphan (itemid bigint, clock integer) SERVER zbxhist;
SELECT * FROM orphan;
CREATE FOREIGN TABLE stolen (itemid bigint, clock integer) SERVER zbxhist OPTIONS (parent 'public.history');
DROP FOREIGN TABLE orphan;
CREATE ROLE zbxhist_stranger;
GRANT USAGE ON FOREIGN SERVER zbxhist TO zbxhist_stranger;
GRANT CREATE ON SCHEMA public TO zbxhist_stranger;
SET ROLE zbxhist_stranger;
CREATE FOREIGN TABLE stolen () INHERITS (history) SERVER zbxhist;
SELECT count(*) FROM history;
SELECT count(*) FROM history_packed;
RESET ROLE;
-- readers need the parent only
GRANT SELECT ON history TO zbxhist_stranger;
SET ROLE zbxhist_stranger;
SELECT count(*) FROM history;
SELECT count(*) FROM zbxhist.range(NULL::history, 3, 172800, 259200);
SELECT count(*) FROM history_packed;
RESET ROLE;
DROP TABLE item;
REVOKE ALL ON FOREIGN SERVER zbxhist FROM zbxhist_stranger;
REVOKE ALL ON SCHEMA public FROM zbxhist_stranger;
DROP TABLE history CASCADE;
DROP ROLE zbxhist_stranger;
DROP FUNCTION plan_of, read_by, estimate;
