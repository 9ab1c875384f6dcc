--
-- EXPLAIN says how many runs were looked into, and how many of their rows were
-- decoded: of one item only its own.
--
LOAD 'zbxhist';
SET client_min_messages = warning;
SET timezone = 'UTC';
SET jit = off;
SET zbxhist.allow_packed_drop = on;
CREATE TABLE explained_runs (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('explained_runs');
SELECT zbxhist_internal.create_runs('explained_runs', 864000, 867600) AS runs \gset
SELECT zbxhist_internal.create_runs('explained_runs', 867600, 871200) AS later \gset
-- ten statements of 100 items, of which four are merged; odd ones have other items
INSERT INTO explained_runs SELECT i * 2, 864000, i, 0 FROM generate_series(1, 100) i;
INSERT INTO explained_runs SELECT i * 2, 864060, i, 0 FROM generate_series(1, 100) i;
INSERT INTO explained_runs SELECT i * 2, 864120, i, 0 FROM generate_series(1, 100) i;
INSERT INTO explained_runs SELECT i * 2, 864180, i, 0 FROM generate_series(1, 100) i;
SELECT zbxhist_internal.merge_runs(:'runs', 4);
INSERT INTO explained_runs SELECT i * 2, 864240, i, 0 FROM generate_series(1, 100) i;
INSERT INTO explained_runs SELECT i * 2, 864300, i, 0 FROM generate_series(1, 100) i;
INSERT INTO explained_runs SELECT i * 2, 864360, i, 0 FROM generate_series(1, 100) i;
INSERT INTO explained_runs SELECT i * 2 + 1, 864420, i, 0 FROM generate_series(1, 100) i;
INSERT INTO explained_runs SELECT i * 2 + 1, 864480, i, 0 FROM generate_series(1, 100) i;
INSERT INTO explained_runs SELECT i * 2 + 1, 867660, i, 0 FROM generate_series(1, 100) i;
-- one partition without runs
SELECT zbxhist.create_partition('explained_runs', '1970-01-10');
INSERT INTO explained_runs SELECT i, 777600, i, 0 FROM generate_series(1, 100) i;
ANALYZE explained_runs;

-- the sum of a counter in a plan; null: no node has it
CREATE FUNCTION counter(plan json, name text) RETURNS numeric LANGUAGE sql
RETURN (SELECT sum(n::text::numeric) FROM jsonb_path_query(plan::jsonb, format('strict $.**.%s', to_json(name))::jsonpath, silent => true) n);
CREATE FUNCTION runs_read(query text, OUT node text, OUT runs numeric, OUT rows numeric) LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT json) ' || query INTO plan;
    SELECT string_agg(DISTINCT coalesce(n->>'Custom Plan Provider', n->>'Node Type'), ', ') INTO node
      FROM jsonb_path_query(plan::jsonb, 'strict $.** ? (exists (@."Node Type"))', silent => true) n
     WHERE n->>'Node Type' IN ('Foreign Scan', 'Custom Scan');
    runs := counter(plan, 'Runs Read');
    rows := counter(plan, 'Run Rows Decoded');
END $$;
-- all rows; an item; an item that is in some runs; that is in none; newest first
SET zbxhist.enable_aggregate_scan = off;
SELECT * FROM runs_read('SELECT count(value) FROM explained_runs');
SELECT * FROM runs_read('SELECT * FROM explained_runs WHERE itemid = 40 AND clock BETWEEN 864000 AND 867599');
SELECT * FROM runs_read('SELECT * FROM explained_runs WHERE itemid = 39 AND clock BETWEEN 864000 AND 867599');
SELECT * FROM runs_read('SELECT * FROM explained_runs WHERE itemid = 999 AND clock BETWEEN 864000 AND 867599');
SELECT * FROM runs_read('SELECT * FROM explained_runs WHERE clock < 864000');
SELECT node, runs BETWEEN 1 AND 6 AS some, rows <= 7 AS few
  FROM runs_read('SELECT * FROM explained_runs WHERE itemid = 40 AND clock < 867600 ORDER BY clock DESC LIMIT 2');
-- aggregates
RESET zbxhist.enable_aggregate_scan;
SET enable_hashagg = off;
SELECT * FROM runs_read('SELECT itemid, sum(value) FROM explained_runs GROUP BY itemid');
RESET enable_hashagg;
-- with workers, each taking whole tables
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET parallel_leader_participation = off;
SELECT * FROM runs_read('SELECT avg(value) FROM explained_runs WHERE clock >= 864000 AND value > 0');
SET zbxhist.enable_aggregate_scan = off;
SELECT * FROM runs_read('SELECT avg(value) FROM explained_runs WHERE clock >= 864000 AND value > 0');
RESET zbxhist.enable_aggregate_scan;
RESET max_parallel_workers_per_gather;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET parallel_leader_participation;

-- the planner knows about how many rows there are: of hours of runs by their size; and ANALYZE takes rows
-- of them
CREATE FUNCTION estimate(query text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN plan->0->'Plan'->>'Plan Rows';
END $$;
INSERT INTO explained_runs SELECT i, 864540 + 3 * n, abs(hashint4(i * 1000 + n)::bigint) / 1000.0, abs(hashint4(i * 1000 + n)::bigint) % 1000000000
  FROM generate_series(1, 200) i, generate_series(1, 100) n;
SELECT estimate('SELECT * FROM explained_runs_packed') BETWEEN 10000 AND 100000 AS all_rows,
       estimate('SELECT * FROM explained_runs_packed WHERE clock < 867600') BETWEEN 10000 AND 100000 AS an_hour,
       estimate('SELECT * FROM explained_runs_packed WHERE clock >= 867600') < 5000 AS another;
ANALYZE explained_runs_packed;
SELECT attname, n_distinct BETWEEN 150 AND 220 AS has_200, histogram_bounds IS NOT NULL AS has_histogram
  FROM pg_stats WHERE tablename = 'explained_runs_packed' AND attname IN ('clock', 'itemid', 'value') ORDER BY 1;
SELECT estimate('SELECT * FROM explained_runs_packed WHERE itemid = 40') BETWEEN 50 AND 500 AS an_item;
\set VERBOSITY terse
DROP TABLE explained_runs CASCADE;
