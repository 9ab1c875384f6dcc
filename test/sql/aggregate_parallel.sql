-- Aggregates over packed days in several processes give the same answers as in one, to the
-- last digit.
\a \t
LOAD 'zbxhist';
SET client_min_messages = warning;
SET zbxhist.allow_packed_drop = on;
CREATE SCHEMA aggregate_parallel;
SET search_path = aggregate_parallel, public, zbxhist_partitions;
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value double precision, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE history_uint (itemid bigint NOT NULL, clock integer NOT NULL, value numeric(20), ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE history_any (itemid bigint NOT NULL, clock integer NOT NULL, value numeric, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
SELECT count(zbxhist.create_parent(t)) FROM unnest('{history,history_uint,history_any}'::regclass[]) t;
SELECT count(zbxhist.create_partition(t, date '1970-01-01' + n)) FROM unnest('{history,history_uint,history_any}'::regclass[]) t, generate_series(1, 8) n;
INSERT INTO history SELECT i, 86400 * (1 + d) + n * 120, CASE WHEN n % 97 = 5 THEN NULL WHEN i = 3 AND n = 55 THEN 'NaN' WHEN i = 4 AND n = 44 THEN 'Infinity' WHEN i = 5 THEN -0.0::double precision WHEN i = 6 THEN (2.0 ^ (n % 60)) * (1 - n % 2 * 2) ELSE sin(n * i + d) * 1000 END, n % 3
    FROM generate_series(1, 9) i, generate_series(0, 7) d, generate_series(0, 719) n;
INSERT INTO history_uint SELECT itemid, clock, CASE itemid WHEN 6 THEN 18446744073709551615 ELSE (clock::bigint * 7919) % 100000 END, ns FROM history WHERE itemid <> 7 OR clock < 100000;
INSERT INTO history_any SELECT itemid, clock, CASE itemid WHEN 1 THEN clock / 7.0 WHEN 2 THEN -clock WHEN 3 THEN CASE WHEN clock % 7200 = 0 THEN 1e25 ELSE 5 END WHEN 4 THEN CASE WHEN clock = 200040 THEN 'NaN'::numeric ELSE 1 END WHEN 5 THEN NULL ELSE clock END, ns FROM history;
-- six days are packed, two are partitions; and some values are the parent's
SELECT format('CALL zbxhist.pack(%L, %L)', t, date '1970-01-01' + n) FROM unnest('{history,history_uint,history_any}'::text[]) t, generate_series(1, 6) n ORDER BY t, n \gexec
INSERT INTO history SELECT 8, 86400 * 20 + n, n / 3.0, 0 FROM generate_series(1, 300) n;
INSERT INTO history_uint SELECT 8, 86400 * 2 + n, n, 77 FROM generate_series(1, 300) n;
ANALYZE;
CREATE PROCEDURE use_workers(n integer) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('parallel_setup_cost', '0', false), set_config('parallel_tuple_cost', '0', false), set_config('min_parallel_table_scan_size', '0', false), set_config('max_parallel_workers_per_gather', n::text, false);
END $$;
-- lines of the plan that are the same whoever does how much
CREATE FUNCTION plan_of(command text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || command LOOP
        CONTINUE WHEN line !~ '(Custom Scan|Gather|Group Key|Filter: .*count|Packed|Days|Segments|Values|Other Rows|Spilled)';
        RETURN NEXT regexp_replace(line, '\(actual .*\)', '');
    END LOOP;
END $$;
CALL use_workers(2);
SELECT * FROM plan_of('SELECT itemid, clock / 86400, sum(value), count(*) FROM history GROUP BY 1, 2 HAVING count(*) > 3');
SELECT * FROM plan_of('SELECT count(*), max(value) FROM history_uint WHERE value > 50000');
CALL use_workers(0);
SELECT * FROM plan_of('SELECT count(*), max(value) FROM history_uint WHERE value > 50000');

-- every combination, with workers and without
CREATE FUNCTION run_queries(workers integer, every integer) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE q text; line text; plan text; found text; expected text; many integer := 0; gathers integer := 0;
BEGIN
    FOR q IN SELECT format('SELECT %s%s FROM %s%s%s%s', nullif(k, '') || ', ', a, t, w, ' GROUP BY ' || nullif(k, ''), h)
        FROM unnest('{history,history_uint,history_any}'::text[]) t, unnest('{"", itemid, clock / 3600, clock / 86400, "itemid % 2", "to_char(itemid, ''FM99'')", "itemid, clock / 7200 * 7200", clock}'::text[]) k,
            unnest('{count(*), "count(*), count(value), min(value), max(value), sum(value), avg(value), max(clock), sum(ns)", "avg(value) + 1, sum(value) * 2"}'::text[]) a,
            unnest('{"", " WHERE value > 500", " WHERE itemid IN (1, 4, 8) AND clock > 100000", " WHERE ns IN (1, 2)", " WHERE itemid = 99"}'::text[]) w, unnest('{"", " HAVING count(*) > 400"}'::text[]) h
        WHERE hashtext(t || k || a || w || h) % every = 0 LOOP
        CALL use_workers(workers);
        plan := '';
        FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || q LOOP plan := plan || line; END LOOP;
        EXECUTE format('SELECT string_agg(x::text, '' '' ORDER BY x::text) FROM (%s) x', q) INTO found;
        CALL use_workers(0);
        EXECUTE format('SELECT string_agg(x::text, '' '' ORDER BY x::text) FROM (%s) x', q) INTO expected;
        IF found IS DISTINCT FROM expected THEN
            RETURN NEXT format(E'%s\n  %s\n  %s', q, left(found, 200), left(expected, 200));
        END IF;
        many := many + 1;
        gathers := gathers + (plan ~ 'ZbxhistAggregate.*Gather.*Parallel Custom Scan .ZbxhistAggregate')::integer;
    END LOOP;
    RETURN NEXT format('many queries: %s, most by workers: %s', many > 600 / every, gathers > many / 2);
END $$;
SELECT * FROM run_queries(2, 12);
SET parallel_leader_participation = off;
SELECT * FROM run_queries(2, 40);
RESET parallel_leader_participation;
-- no worker is to be had: the leader does all
SET max_parallel_workers = 0;
SELECT * FROM run_queries(3, 40);
SET parallel_leader_participation = off;
SELECT * FROM run_queries(2, 40);
RESET parallel_leader_participation;
RESET max_parallel_workers;
-- participants give out groups when memory is full, which come together again
CALL use_workers(2);
SET plan_cache_mode = force_generic_plan;
PREPARE many AS SELECT itemid, clock / 1200 AS bucket, count(*), sum(value), min(value) FROM history_uint WHERE ns < 2 GROUP BY 1, 2;
SET work_mem = '64MB';
SELECT count(*) AS gathers FROM plan_of('EXECUTE many') p WHERE p ~ '(Gather|Spilled)';
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
CREATE TABLE found AS EXECUTE many;
SELECT count(*) AS gathers, bool_or((regexp_match(p, 'Groups Spilled: ([0-9]+)'))[1]::integer > 1000) AS spilled FROM plan_of('EXECUTE many') p WHERE p ~ '(Gather|Spilled)';
SET work_mem = '64MB';
RESET plan_cache_mode;
SELECT count(*) > 3000 AS many, sum(count) - (SELECT count(*) FROM history_uint WHERE ns < 2) AS lost FROM found;
CALL use_workers(0);
SELECT * FROM found EXCEPT ALL SELECT itemid, clock / 1200 AS bucket, count(*), sum(value), min(value) FROM history_uint WHERE ns < 2 GROUP BY 1, 2;
RESET work_mem;
RESET hash_mem_multiplier;
CREATE TABLE plain AS TABLE history;
-- read again by the same participants: rows, and groups that have been spilled
CALL use_workers(2);
SET hash_mem_multiplier = 1;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SELECT count(*) AS gathers FROM plan_of('SELECT * FROM generate_series(1, 3) i, (SELECT clock FROM history WHERE value > 999 OFFSET 0) h') p WHERE p ~ 'Gather';
SELECT i, count(*), sum(h.clock) = (SELECT sum(clock) FROM plain WHERE value > 999) AS same FROM generate_series(1, 3) i, (SELECT clock FROM history WHERE value > 999 OFFSET 0) h GROUP BY i ORDER BY i;
SET work_mem = '64kB';
SELECT i, count(*), sum(h.n) = (SELECT count(*) FROM plain) AS same FROM generate_series(1, 3) i, (SELECT clock / 3600 AS n, itemid, count(*) FROM history GROUP BY 1, 2 OFFSET 0) h (x, itemid, n) GROUP BY i ORDER BY i;
SELECT count(*) AS gathers, bool_or((regexp_match(p, 'Groups Spilled: ([0-9]+)'))[1]::integer > 100) AS spilled FROM plan_of('SELECT * FROM generate_series(1, 3) i, (SELECT clock / 3600, itemid, count(*) FROM history GROUP BY 1, 2 OFFSET 0) h') p WHERE p ~ 'Gather|Spilled';
RESET work_mem;
RESET hash_mem_multiplier;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;
-- run again for each row, with another value, up to a LIMIT
CALL use_workers(2);
SELECT i, (SELECT count(*) FROM history h WHERE h.clock > i * 86400 AND value > 100) AS after FROM generate_series(1, 9, 2) i;
SELECT i, x.* FROM generate_series(3, 5) i, LATERAL (SELECT clock / 86400 AS day, count(*), max(value) FROM history_uint WHERE clock < i * 86400 GROUP BY 1 ORDER BY 1 LIMIT 2) x ORDER BY 1, 2;
SELECT i, (SELECT count(*) FROM (SELECT itemid FROM history_uint OFFSET 0) h) AS all_rows FROM generate_series(1, 2) i;
-- parameters, generic plans, subqueries
SET plan_cache_mode = force_generic_plan;
PREPARE above(numeric, bigint[]) AS SELECT itemid, count(*), sum(value) FROM history_uint WHERE value > $1 AND itemid = ANY ($2) GROUP BY itemid ORDER BY itemid;
EXECUTE above(99000, '{1,2,6}');
EXECUTE above(50000, '{}');
EXECUTE above(NULL, '{1}');
RESET plan_cache_mode;
SELECT itemid, count(*) FROM history_uint WHERE clock > (SELECT 86400 * 6 + min(ns) FROM history) AND itemid < 4 GROUP BY itemid ORDER BY itemid;
-- rows of the transaction itself, at every isolation level; a cursor
BEGIN ISOLATION LEVEL SERIALIZABLE;
INSERT INTO history_uint SELECT 1, 86400 * 3 + n, 1000000, 12345 FROM generate_series(1, 1000) n;
DELETE FROM history_uint WHERE itemid = 2 AND clock < 86400 * 4;
UPDATE history_uint SET value = 3 WHERE itemid = 3 AND clock = 86400 * 5;
SELECT * FROM run_queries(2, 40);
CALL use_workers(2);
SELECT itemid, count(*), sum(value) FROM history_uint WHERE itemid < 4 GROUP BY itemid ORDER BY itemid;
DECLARE c CURSOR FOR SELECT clock / 86400 AS day, count(*) FROM history_uint GROUP BY 1 ORDER BY 1;
FETCH 2 FROM c;
FETCH 2 FROM c;
ROLLBACK;
-- what workers may not do is done by one
CREATE FUNCTION restricted(bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE PARALLEL RESTRICTED AS 'BEGIN RETURN $1; END';
SELECT command, count(*) FILTER (WHERE p LIKE '%Gather%') AS gathers FROM unnest('{SELECT restricted(count(*)) FROM history,SELECT count(*) FROM history HAVING restricted(count(*)) > 5,SELECT DISTINCT itemid FROM history,SELECT count(*) FROM history}'::text[]) command, plan_of(command) p GROUP BY 1 ORDER BY 1;
DROP SCHEMA aggregate_parallel CASCADE;
