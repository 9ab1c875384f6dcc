--
-- Runs are read as everything else: each query gives what it gives on a plain
-- table with the same rows, of which some are in the parent, in partitions, in
-- packed days and in two hours of runs.
--
LOAD 'zbxhist';
SET client_min_messages = warning;
SET extra_float_digits = 1;
SET timezone = 'UTC';
SET jit = off;
SET zbxhist.allow_packed_drop = on;
CREATE SCHEMA plain;
CREATE SCHEMA managed;
CREATE SCHEMA runs_read;
SET search_path = runs_read;

CREATE TABLE shape (name text PRIMARY KEY, definition text, value text);
INSERT INTO shape VALUES
('history', 'value double precision NOT NULL, ns integer NOT NULL', '(n % 2001 - 1000) / 4.0, ns'),
-- in some runs all are unsigned integers, in others not
('history_uint', 'value numeric NOT NULL, ns integer NOT NULL',
 'CASE WHEN n % 3 = 0 THEN 18446744073709551615 - n % 1000 WHEN clock % 600 < 300 AND n % 50 = 1 THEN n / 8.0 ELSE n END, ns'),
('history_log', 'timestamp integer, value text, ns integer NOT NULL',
 'nullif(n % 4, 1), CASE n % 5 WHEN 0 THEN NULL WHEN 1 THEN '''' ELSE repeat(md5(n::text), n % 9) END, ns');

-- a number of the limit, the same ones in each run
CREATE SEQUENCE random_state MINVALUE 0;
CREATE FUNCTION pick(below bigint) RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT ('x' || substr(md5(nextval('runs_read.random_state')::text), 1, 12))::bit(48)::bigint % below
$$;

-- days 1 and 2 are partitions, days 3 and 4 will be packed, day 5 has two hours of runs
CREATE FUNCTION make_tables() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    s    shape;
    side text;
    i    integer;
BEGIN
    FOR s IN SELECT * FROM shape ORDER BY name LOOP
        FOREACH side IN ARRAY ARRAY['plain', 'managed'] LOOP
            EXECUTE format('CREATE TABLE %I.%I (itemid bigint NOT NULL, clock integer NOT NULL, %s, PRIMARY KEY (itemid, clock, ns))',
                           side, s.name, s.definition);
        END LOOP;
        PERFORM zbxhist.create_parent(format('managed.%I', s.name)::regclass);
        PERFORM zbxhist.create_partition(format('managed.%I', s.name)::regclass, date '1970-01-01' + d) FROM generate_series(1, 4) d;
        PERFORM zbxhist_internal.create_runs(format('managed.%I', s.name)::regclass, 5 * 86400 + 3600 * h, 5 * 86400 + 3600 * (h + 1))
           FROM generate_series(0, 1) h;
        -- few seconds and few ns, so that many rows share them
        EXECUTE format('INSERT INTO plain.%1$I SELECT itemid, clock, %2$s FROM (
            SELECT runs_read.pick(6) AS itemid, (CASE WHEN i %% 3 = 0 THEN 86400 + runs_read.pick(500) * 800 ELSE 432000 + runs_read.pick(60) * 150 + runs_read.pick(3) END)::integer AS clock,
                   (ARRAY[0, 1, 2, 500000000, 999999999])[1 + runs_read.pick(5)] AS ns, runs_read.pick(20000000)::integer AS n FROM generate_series(1, 3000) i) r
            ON CONFLICT DO NOTHING', s.name, s.value);
        -- statement by statement, in an order of their own; also one row, and two items each
        FOR i IN 0 .. 39 LOOP
            EXECUTE format('INSERT INTO managed.%1$I SELECT * FROM plain.%1$I WHERE abs(hashint8(itemid * 1000000000000 + clock * 1000::bigint + ns)) %% 40 = %2$s', s.name, i);
        END LOOP;
    END LOOP;
END $$;
-- how many runs there are, and that no row is elsewhere; before they are committed, for a
-- worker may merge them then
CREATE FUNCTION count_runs(parent regclass, OUT nruns bigint, OUT nrows bigint) LANGUAGE plpgsql AS $$
DECLARE
    runs regclass;
    more record;
BEGIN
    nruns := 0;
    nrows := 0;
    FOR runs IN SELECT day FROM zbxhist.packed_day d WHERE d.parent = count_runs.parent AND d.runs LOOP
        EXECUTE format('SELECT count(*) AS nruns, sum(nrows) AS nrows FROM %s', runs) INTO more;
        nruns := nruns + more.nruns;
        nrows := nrows + more.nrows;
    END LOOP;
END $$;
CREATE FUNCTION count_plain(parent regclass) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    nrows bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM %s WHERE clock BETWEEN 432000 AND 439199', parent) INTO nrows;
    RETURN nrows;
END $$;
BEGIN;
SELECT make_tables();
SELECT s.name, r.nruns, r.nrows = count_plain(format('plain.%I', s.name)::regclass) AS all_rows, r.nrows > 1000 AS many_rows
  FROM shape s, count_runs(format('managed.%I', s.name)::regclass) r
 ORDER BY 1;
COMMIT;
CALL zbxhist.pack('managed.history', '1970-01-03');
CALL zbxhist.pack('managed.history_uint', '1970-01-03');
CALL zbxhist.pack('managed.history_log', '1970-01-03');
CALL zbxhist.pack('managed.history', '1970-01-04');

CREATE TABLE difference (tab text, query text, expected text, found text);
CREATE TABLE outcome (query text, rows bigint);

-- runs a query on both tables and notes the difference of the rows in their order
CREATE FUNCTION compare(tab text, query text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    texts text[];
    side  text;
BEGIN
    FOREACH side IN ARRAY ARRAY['plain', 'managed'] LOOP
        DECLARE
            result text;
        BEGIN
            EXECUTE format('SELECT string_agg(q::text, E''\n'') FROM (%s) q', replace(query, '$T', format('%I.%I', side, tab))) INTO result;
            texts := texts || coalesce(result, '');
        EXCEPTION WHEN OTHERS THEN
            texts := texts || (SQLSTATE || ' ' || SQLERRM);
        END;
    END LOOP;
    INSERT INTO outcome VALUES (query, length(texts[1]));
    IF texts[1] <> texts[2] THEN
        INSERT INTO difference VALUES (tab, query, texts[1], texts[2]);
        RAISE WARNING '%: %: expected % found %', tab, query, left(texts[1], 300), left(texts[2], 300);
    END IF;
END $$;

CREATE FUNCTION some_clock() RETURNS bigint LANGUAGE sql AS $$
    SELECT CASE WHEN runs_read.pick(4) = 0 THEN 86400 + runs_read.pick(500) * 800 ELSE 431990 + runs_read.pick(9100) END
$$;

CREATE FUNCTION compare_all(times integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    form text;
    tab  text;
    i    integer;
BEGIN
    FOR tab IN SELECT name FROM shape ORDER BY name LOOP
        FOREACH form IN ARRAY ARRAY[
            'SELECT * FROM $T ORDER BY itemid, clock, ns',
            'SELECT count(*), min(clock), max(clock) FROM $T',
            'SELECT * FROM $T WHERE itemid = {item} ORDER BY clock, ns',
            'SELECT * FROM $T WHERE itemid = {item} ORDER BY clock DESC, ns DESC',
            'SELECT * FROM $T WHERE itemid = {item} AND clock <= {to} ORDER BY clock DESC, ns DESC LIMIT 3',
            'SELECT * FROM $T WHERE itemid = {item} AND clock >= {from} ORDER BY clock, ns LIMIT 3',
            'SELECT clock, ns, value FROM $T WHERE itemid = {item} AND clock > {from} AND clock <= {to} ORDER BY clock, ns',
            'SELECT itemid, clock, ns FROM $T WHERE clock BETWEEN {from} AND {to} ORDER BY clock, ns, itemid',
            'SELECT itemid, value FROM $T WHERE itemid IN (0, {item}, 5, 99) AND clock >= {from} ORDER BY clock DESC, ns DESC, itemid',
            'SELECT i, v.* FROM generate_series(-1, 7) i, LATERAL (SELECT * FROM $T h WHERE h.itemid = i AND clock >= {from} ORDER BY clock, ns LIMIT 2) v ORDER BY 1, 3, 5',
            'SELECT itemid, count(*), min(clock), max(clock) FROM $T WHERE clock BETWEEN {from} AND {to} GROUP BY itemid ORDER BY itemid',
            'SELECT itemid, clock / 600 AS bucket, count(value), min(value), max(value) FROM $T WHERE clock >= {from} GROUP BY itemid, clock / 600 ORDER BY 1, 2',
            'SELECT DISTINCT ON (itemid) itemid, clock, ns, value FROM $T ORDER BY itemid, clock DESC, ns DESC',
            'SELECT itemid, count(*), min(clock), max(value) FROM $T WHERE clock >= {from} AND ns > 0 AND clock % 2 = 0 GROUP BY itemid ORDER BY itemid',
            'SELECT count(*) FROM $T WHERE value IS NULL',
            'SELECT * FROM $T WHERE itemid = {item} AND clock = {from} ORDER BY ns'] LOOP
            FOR i IN 1 .. CASE WHEN form ~ '[{]' THEN times ELSE 1 END LOOP
                PERFORM compare(tab, replace(replace(replace(form, '{item}', pick(7)::text), '{from}', least(f, t)::text), '{to}', greatest(f, t)::text))
                   FROM (SELECT some_clock() AS f, some_clock() AS t OFFSET 0) c;
            END LOOP;
        END LOOP;
    END LOOP;
    PERFORM compare('history', 'SELECT itemid, clock / 900, count(*), sum(value), avg(value), min(value), max(value) FROM $T GROUP BY itemid, clock / 900 ORDER BY 1, 2');
    PERFORM compare(t, 'SELECT itemid, count(*), min(value), max(clock) FROM $T WHERE value > 100 AND value < 400 GROUP BY itemid ORDER BY itemid')
       FROM unnest('{history,history_uint}'::text[]) t;
    PERFORM compare('history_uint', 'SELECT itemid, clock / 900, count(*), sum(value), avg(value), min(value), max(value) FROM $T GROUP BY itemid, clock / 900 ORDER BY 1, 2');
END $$;
SELECT compare_all(6);
-- by other plans
SET enable_sort = off;
SET enable_hashagg = off;
SET zbxhist.enable_item_scan = off;
SET zbxhist.enable_range_scan = off;
SET zbxhist.enable_aggregate_scan = off;
SET zbxhist.enable_partition_pruning = off;
SELECT compare_all(2);
RESET enable_sort;
RESET enable_hashagg;
RESET zbxhist.enable_item_scan;
RESET zbxhist.enable_range_scan;
RESET zbxhist.enable_aggregate_scan;
RESET zbxhist.enable_partition_pruning;
-- runs are decoded again and again
SET work_mem = '64kB';
SELECT compare_all(2);
RESET work_mem;
SET max_parallel_workers_per_gather = 2;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SELECT compare_all(2);
RESET max_parallel_workers_per_gather;
RESET min_parallel_table_scan_size;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;

-- the functions that read
CREATE FUNCTION compare_functions(query text, call text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    tab   text;
    names text[];
    texts text[];
    text  text;
    i     integer;
BEGIN
    FOR tab IN SELECT name FROM shape WHERE name <> 'history_log' OR query !~ 'sum' ORDER BY name LOOP
        FOR i IN 1 .. 12 LOOP
            names := ARRAY[pick(7)::text, some_clock()::text, (ARRAY['1', '3', '1000'])[1 + pick(3)]];
            texts := NULL;
            FOREACH text IN ARRAY ARRAY[query, call] LOOP
                DECLARE
                    result text;
                BEGIN
                    EXECUTE format('SELECT string_agg(q::text, E''\n'') FROM (%s) q',
                                   replace(replace(replace(replace(text, '$T', tab), '{item}', names[1]), '{from}', names[2]), '{n}', names[3])) INTO result;
                    texts := texts || coalesce(result, '');
                END;
            END LOOP;
            INSERT INTO outcome VALUES (call, length(texts[1]));
            IF texts[1] <> texts[2] THEN
                INSERT INTO difference VALUES (tab, call || ' ' || names::text, texts[1], texts[2]);
            END IF;
        END LOOP;
    END LOOP;
END $$;
CREATE TABLE call (query text, call text);
INSERT INTO call VALUES
('SELECT * FROM plain.$T WHERE itemid = {item} AND clock >= {from} AND clock < {from} + 3000 ORDER BY clock, ns LIMIT {n}',
 'SELECT * FROM zbxhist.range(NULL::managed.$T, {item}, {from}, {from} + 3000, ''asc'', {n})'),
('SELECT * FROM plain.$T WHERE itemid = {item} AND clock >= {from} - 3000 AND clock < {from} ORDER BY clock DESC, ns DESC LIMIT {n}',
 'SELECT * FROM zbxhist.range(NULL::managed.$T, {item}, {from} - 3000, {from}, ''desc'', {n})'),
('SELECT * FROM plain.$T WHERE itemid = {item} AND (clock, ns) <= ({from}, 1) ORDER BY clock DESC, ns DESC LIMIT 1',
 'SELECT * FROM zbxhist.nearest(NULL::managed.$T, {item}, {from}, 1, ''less'') r WHERE clock IS NOT NULL'),
('SELECT * FROM plain.$T WHERE itemid = {item} AND (clock, ns) >= ({from}, 1) ORDER BY clock, ns LIMIT 1',
 'SELECT * FROM zbxhist.nearest(NULL::managed.$T, {item}, {from}, 1, ''greater'') r WHERE clock IS NOT NULL'),
('SELECT clock, ns FROM plain.$T WHERE itemid = {item} ORDER BY clock, ns LIMIT 1',
 'SELECT clock, ns FROM zbxhist.minimum_time(''managed.$T'', {item}) WHERE clock IS NOT NULL'),
('SELECT h.* FROM unnest(ARRAY[0, 1, {item}, 5, 99]) WITH ORDINALITY i (itemid, n), LATERAL (SELECT * FROM plain.$T h WHERE h.itemid = i.itemid AND clock >= {from} ORDER BY clock DESC, ns DESC LIMIT {n}) h WHERE i.n = (SELECT min(n) FROM unnest(ARRAY[0, 1, {item}, 5, 99]) WITH ORDINALITY j (itemid, n) WHERE j.itemid = i.itemid) ORDER BY itemid, clock DESC, ns DESC',
 'SELECT * FROM zbxhist.last_values(NULL::managed.$T, ARRAY[0, 1, {item}, 5, 99], {n}, {from}) ORDER BY itemid, clock DESC, ns DESC'),
('SELECT count(*), sum(value)::numeric, min(value)::numeric, max(value)::numeric FROM plain.$T WHERE itemid = {item} AND clock >= {from} AND clock < {from} + 5000',
 'SELECT count, sum::numeric, min::numeric, max::numeric FROM zbxhist.statistics(''managed.$T'', {item}, {from}, {from} + 5000)');
SELECT count(compare_functions(query, call)) FROM call;

SELECT count(*) AS queries, count(*) FILTER (WHERE rows > 0) > 300 AS with_rows FROM outcome;
SELECT tab, query FROM difference ORDER BY 1, 2;

-- what is known of them
ANALYZE managed.history;
SELECT zbxhist.verify('managed.history');
SELECT d.kind, count(*), count(*) FILTER (WHERE rows > 0) AS with_rows FROM zbxhist.partitions d WHERE d.parent = 'managed.history'::regclass AND d.kind <> 'heap' GROUP BY 1 ORDER BY 1;
RESET search_path;
DROP SCHEMA plain, managed, runs_read CASCADE;
