-- Aggregates over packed days without making rows give the same answers as a plain table with
-- the same rows, for any GROUP BY, wherever the rows are.
\a \t
LOAD 'zbxhist';
SET client_min_messages = warning;
SET timezone = 'Asia/Kathmandu';
SET zbxhist.allow_packed_drop = on;
CREATE SCHEMA aggregate;
CREATE SCHEMA aggregate_plain;
SET search_path = aggregate, public, zbxhist_partitions;
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value double precision, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE history_uint (itemid bigint NOT NULL, clock integer NOT NULL, value numeric(20), ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE history_any (itemid bigint NOT NULL, clock integer NOT NULL, value numeric, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE trends (itemid bigint NOT NULL, clock integer NOT NULL, num integer NOT NULL, value_min double precision NOT NULL, value_avg double precision NOT NULL,
    value_max double precision NOT NULL, PRIMARY KEY (itemid, clock));
CREATE TABLE trends_uint (itemid bigint NOT NULL, clock integer NOT NULL, num integer NOT NULL, value_min numeric(20) NOT NULL, value_avg numeric(20) NOT NULL,
    value_max numeric(20) NOT NULL, PRIMARY KEY (itemid, clock));
SELECT count(zbxhist.create_parent(t)) FROM unnest('{history,history_uint,history_any,trends,trends_uint}'::regclass[]) t;
SELECT count(zbxhist.create_partition(t, date '1970-01-01' + n)) FROM unnest('{history,history_uint,history_any,trends,trends_uint}'::regclass[]) t, generate_series(-1, 5) n;
CREATE TABLE aggregate_plain.history AS TABLE history;
CREATE TABLE aggregate_plain.history_uint AS TABLE history_uint;
CREATE TABLE aggregate_plain.history_any AS TABLE history_any;
CREATE TABLE aggregate_plain.trends AS TABLE trends;
CREATE TABLE aggregate_plain.trends_uint AS TABLE trends_uint;

-- sums of such doubles are exact in any order
CREATE FUNCTION rnd(n integer, seed integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT (''x'' || left(md5(n || ''/'' || seed), 7))::bit(28)::integer';
INSERT INTO aggregate_plain.history SELECT i, -86400 + n * 240 + i * 7, (rnd(n, i) % 100000 - 50000) / 64.0, n % 3 FROM generate_series(1, 6) i, generate_series(0, 7 * 360 - 1) n WHERE rnd(n, i) % 11 > 0;
INSERT INTO aggregate_plain.history_uint SELECT itemid, clock, round(abs(value * 1000)) + CASE WHEN itemid = 2 THEN 18446744073708551615 ELSE 0 END, ns FROM aggregate_plain.history;
INSERT INTO aggregate_plain.history_any SELECT itemid, clock, CASE itemid % 3 WHEN 1 THEN value::numeric WHEN 2 THEN -round(value) ELSE value::numeric(20, 2) END, ns FROM aggregate_plain.history_uint;
-- what doubles and numerics can be besides
UPDATE aggregate_plain.history SET value = 'NaN' WHERE itemid = 3 AND clock % 5000 < 240;
UPDATE aggregate_plain.history SET value = 'Infinity' WHERE itemid = 4 AND clock BETWEEN 100000 AND 101000;
UPDATE aggregate_plain.history SET value = '-Infinity' WHERE itemid = 4 AND clock BETWEEN 200000 AND 202000;
UPDATE aggregate_plain.history SET value = '-0' WHERE itemid = 5;
UPDATE aggregate_plain.history_any SET value = '1e30' WHERE itemid = 3 AND clock BETWEEN 100000 AND 101000;
UPDATE aggregate_plain.history_any SET value = 'NaN' WHERE itemid = 4 AND clock BETWEEN 90000 AND 92000;
UPDATE aggregate_plain.history_any SET value = 'Infinity' WHERE itemid = 5 AND clock BETWEEN 90000 AND 92000;
UPDATE aggregate_plain.history SET value = NULL WHERE clock % 17 = 0;
UPDATE aggregate_plain.history_uint SET value = NULL WHERE clock % 19 = 0 OR (itemid = 6 AND clock / 86400 = 1);
INSERT INTO aggregate_plain.trends SELECT itemid, clock / 3600 * 3600, 1 + count(*)::integer % 60, min(value), max(value) / 2, max(value) FROM aggregate_plain.history WHERE abs(value) < 1e9 GROUP BY 1, 2;
INSERT INTO aggregate_plain.trends_uint SELECT itemid, clock / 3600 * 3600, 1 + count(*)::integer % 60, min(value), max(value), max(value) FROM aggregate_plain.history_uint WHERE value IS NOT NULL GROUP BY 1, 2;
SELECT format('INSERT INTO aggregate.%1$I SELECT * FROM aggregate_plain.%1$I WHERE rnd(clock, 1) %% 13 > 0', relname) FROM pg_class WHERE relnamespace = 'aggregate_plain'::regnamespace AND relkind = 'r' ORDER BY 1 \gexec
-- four days and a negative one are packed; the others are heap
SELECT format('CALL zbxhist.pack(%L, %L)', t, date '1970-01-01' + n) FROM unnest('{history,history_uint,history_any,trends,trends_uint}'::text[]) t, unnest('{-1,0,1,2,4}'::integer[]) n ORDER BY t, n \gexec
-- late values, some merged; and some with no partition
SELECT format('INSERT INTO aggregate.%1$I SELECT * FROM aggregate_plain.%1$I WHERE rnd(clock, 1) %% 26 = 0', relname) FROM pg_class WHERE relnamespace = 'aggregate_plain'::regnamespace AND relkind = 'r' ORDER BY 1 \gexec
SELECT format('DO $do$ DECLARE answer text; BEGIN CALL zbxhist_internal.do_step(%L, ''merge'', answer); END $do$', t) FROM unnest('{history_uint,trends}'::text[]) t \gexec
SELECT format('INSERT INTO aggregate.%1$I SELECT * FROM aggregate_plain.%1$I WHERE rnd(clock, 1) %% 26 = 13', relname) FROM pg_class WHERE relnamespace = 'aggregate_plain'::regnamespace AND relkind = 'r' ORDER BY 1 \gexec
ANALYZE;
-- values of packed days that were changed and deleted
CREATE PROCEDURE on_both(command text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE command;
    EXECUTE regexp_replace(command, '\m(history|trends)', 'aggregate_plain.\1');
END $$;
CALL on_both('DELETE FROM history_uint WHERE itemid = 1 AND clock BETWEEN 100000 AND 120000');
CALL on_both('UPDATE history_uint SET value = 77 WHERE itemid = 2 AND clock BETWEEN 90000 AND 91000');
CALL on_both('DELETE FROM history WHERE itemid = 6 AND clock < 86400');

-- queries: every combination of what is grouped by, aggregated and looked for
CREATE TABLE queries (id integer PRIMARY KEY, tab text, query text);
INSERT INTO queries SELECT row_number() OVER (ORDER BY t.tab, k.n, a.n, w.n), t.tab,
    format('SELECT %s FROM %s%s%s%s', concat_ws(', ', nullif(k.key, ''), a.list), t.tab, w.condition, CASE WHEN k.key <> '' THEN ' GROUP BY ' || k.key ELSE '' END, h.suffix)
FROM (VALUES ('history', 1), ('history_uint', 1), ('history_any', 1), ('trends', 2), ('trends_uint', 2)) t (tab, kind),
    unnest('{"", itemid, clock, clock / 3600, clock / 3600 * 3600, (clock / 600) * 600, clock - clock % 300, clock % 7200,
        "round(900.0 * (clock - 90000) / 400000, 0)", "round(900 * mod(cast(clock AS bigint) + 7, 400000) / 400000, 0)",
        "cast(clock AS bigint) - mod(cast(clock AS bigint), 1800)", "to_timestamp(clock / 7200 * 7200)", "date_trunc(''hour'', to_timestamp(clock))",
        "date_trunc(''day'', to_timestamp(clock))", "date_trunc(''month'', to_timestamp(clock) AT TIME ZONE ''UTC'')",
        "date_bin(''7 minutes'', to_timestamp(clock), ''2000-01-01'')", "floor(clock / 7200.0) * 7200", "floor(clock / 7200) * 7200",
        "clock / -1000", "(5 - clock) / 1800", "mod(clock, 86400) / 3600", "itemid % 2", "to_char(itemid, ''FM99999999999999999999'')",
        "itemid * 1000000 + clock / 7200", "CASE WHEN clock < 200000 THEN 1 ELSE 2 END", "nullif(clock / 86400, 2)", "clock / 700 % 5",
        "floor(extract(epoch FROM to_timestamp(clock)) / 300) * 300", "clock::double precision / 3600", "clock / 43200.0",
        "itemid, clock / 1000", "itemid, round(20.0 * (clock - 90000) / 400000, 0)", "clock / 86400, to_char(itemid, ''FM9'')"}'::text[]) WITH ORDINALITY k (key, n),
    (VALUES (1, 'count(*)', 1), (2, 'count(value)', 1), (3, 'min(value), max(value)', 1), (4, 'avg(value)', 1), (5, 'sum(value), count(*)', 1),
        (6, 'count(*), avg(value), min(value), max(value), max(clock)', 1), (7, 'min(clock), max(clock), sum(clock), avg(clock), max(itemid), avg(itemid), sum(itemid)', 1),
        (8, 'count(ns), max(ns), sum(ns), count(*) + 1, coalesce(max(value), 5) - min(value)', 1),
        (9, 'sum(num), avg(value_avg), min(value_min), max(value_max), max(clock)', 2), (10, 'sum(value_avg) / sum(num), count(*)', 2), (11, 'max(num), avg(num)', 2)) a (n, list, kind),
    unnest('{"", " WHERE itemid = 3", " WHERE itemid IN (1, 2, 5)", " WHERE clock >= 90000 AND clock < 300000", " WHERE itemid = 2 AND clock BETWEEN 100003 AND 107777",
        " WHERE itemid = ANY (''{2,4,6}'') AND clock > 170000", " WHERE VALUE > 100", " WHERE itemid < 4 AND VALUE BETWEEN -500 AND 5000", " WHERE VALUE IS NOT NULL AND clock <> 172803",
        " WHERE itemid = 99", " WHERE clock < -1000 OR clock BETWEEN 20000 AND 30000", " WHERE clock = 172803"}'::text[]) WITH ORDINALITY w (condition, n),
    unnest('{"", " HAVING count(*) > 10"}'::text[]) WITH ORDINALITY h (suffix, n)
WHERE a.kind = t.kind AND rnd((k.n * 1000 + a.n * 17 + w.n)::integer, (h.n + length(t.tab))::integer) % 64 = 0;
UPDATE queries SET query = replace(query, 'VALUE', CASE WHEN tab LIKE 'trends%' THEN 'value_avg' ELSE 'value' END);

-- runs all of them, or every nth, on both and says how many were planned with the custom scan, and which differ
CREATE FUNCTION run_queries(every integer DEFAULT 1, OUT differences text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE q record; line text; plan text; found text; expected text; many integer := 0; scans integer := 0; results bigint := 0;
BEGIN
    FOR q IN SELECT * FROM queries WHERE id % every = 0 ORDER BY id LOOP
        plan := '';
        FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || q.query LOOP plan := plan || line; END LOOP;
        EXECUTE format('SELECT string_agg(x::text, '' '' ORDER BY x::text) FROM (%s) x', q.query) INTO found;
        EXECUTE format('SELECT string_agg(x::text, '' '' ORDER BY x::text) FROM (%s) x', replace(q.query, ' FROM ' || q.tab, ' FROM aggregate_plain.' || q.tab)) INTO expected;
        IF found IS DISTINCT FROM expected THEN
            differences := format(E'%s\n  %s\n  %s', q.query, left(found, 200), left(expected, 200));
            RETURN NEXT;
        END IF;
        many := many + 1;
        scans := scans + (plan LIKE '%ZbxhistAggregate%')::integer;
        results := results + coalesce(length(found), 0);
    END LOOP;
    differences := format('%s queries, %s with the scan, enough results: %s', many > 300 / every, round(100.0 * scans / many), results > 50000 / every);
    RETURN NEXT;
END $$;
SELECT * FROM run_queries();

-- nothing is decoded where the directory says it all
CREATE FUNCTION plan_of(command text, with_analyze boolean DEFAULT true) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE format('EXPLAIN (COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF, ANALYZE %s) %s', with_analyze::text, command) LOOP
        CONTINUE WHEN line ~ '(Memory|Disabled|_p20[0-9]+)' OR line ~ 'Index Searches';
        RETURN NEXT regexp_replace(regexp_replace(line, '\(actual .*\)', ''), '_([0-9]+)( |\.|$)', '\2');
    END LOOP;
END $$;
SET enable_bitmapscan = off;
SET enable_seqscan = off;
SELECT * FROM plan_of('SELECT itemid, count(*), min(value), max(value), avg(value), max(clock) FROM history_uint WHERE clock BETWEEN 86400 AND 259199 GROUP BY itemid');
SELECT * FROM plan_of('SELECT itemid, count(*), min(value), max(value), max(clock) FROM history WHERE itemid IN (1, 2) AND clock BETWEEN 86400 AND 259199 GROUP BY itemid');
SELECT * FROM plan_of('SELECT itemid, avg(value), clock / 86400 FROM history WHERE itemid IN (1, 2) AND clock BETWEEN 86400 AND 259199 GROUP BY itemid, clock / 86400 HAVING count(*) > 3 ORDER BY 2');
SELECT * FROM plan_of('SELECT clock / 3600, max(value) FROM history WHERE itemid = 1 AND clock BETWEEN 90000 AND 300000 AND value > 100 GROUP BY 1');
SELECT * FROM plan_of('SELECT itemid, sum(num), max(value_max) FROM trends_uint WHERE itemid = 1 AND clock < 259200 GROUP BY itemid');
RESET enable_bitmapscan;
RESET enable_seqscan;
-- the same with values that the transaction has not committed, in the plain table as well
BEGIN ISOLATION LEVEL REPEATABLE READ;
CALL on_both('INSERT INTO history_uint SELECT i, c, 12345, 99 FROM generate_series(1, 8) i, generate_series(86400, 400000, 7777) c');
CALL on_both('DELETE FROM history_uint WHERE itemid = 5 AND clock % 3 = 0');
CALL on_both('UPDATE history SET value = 0.5 WHERE itemid = 2 AND clock % 5 = 0');
SELECT * FROM run_queries(5);
ROLLBACK;
-- columns that days have not got, or as another type, and others after them
BEGIN;
ALTER TABLE history ADD COLUMN extra integer DEFAULT 5;
ALTER TABLE aggregate_plain.history ADD COLUMN extra integer DEFAULT 5;
ALTER TABLE history_uint ALTER value TYPE numeric;
ALTER TABLE aggregate_plain.history_uint ALTER value TYPE numeric;
ALTER TABLE history_uint ADD COLUMN more numeric(20);
ALTER TABLE aggregate_plain.history_uint ADD COLUMN more numeric(20);
CALL on_both('INSERT INTO history_uint VALUES (1, 300000, 0.25, 77, 1)');
SELECT * FROM run_queries(5);
SELECT itemid, sum(extra), count(extra) FROM history GROUP BY itemid EXCEPT SELECT itemid, sum(extra), count(extra) FROM aggregate_plain.history GROUP BY itemid;
SELECT count(more), sum(more), avg(more), count(*) > 0 AS has_rows FROM history_uint;
ALTER TABLE history_uint ALTER value TYPE double precision;
SELECT clock / 86400, max(value), count(value) FROM history_uint WHERE itemid = 1 GROUP BY 1 EXCEPT SELECT clock / 86400, max(value)::double precision, count(value) FROM aggregate_plain.history_uint WHERE itemid = 1 GROUP BY 1;
ROLLBACK;
-- more groups than memory holds: they are spilled, again and again, and nothing is decoded twice
SET plan_cache_mode = force_generic_plan;
PREPARE many AS SELECT clock / 60 * 60, to_char(itemid, 'FM9'), count(*), avg(value) FROM history_uint GROUP BY clock / 60 * 60, to_char(itemid, 'FM9');
PREPARE others AS SELECT clock, count(value), min(value), max(value), avg(value) FROM history_any GROUP BY clock;
SET work_mem = '64MB';
CREATE TEMP TABLE in_memory AS SELECT q, string_agg(p, '') AS plan FROM unnest('{many,others}'::text[]) q, plan_of('EXECUTE ' || q) p GROUP BY q;
DEALLOCATE ALL;
SET work_mem = '64kB';
PREPARE many AS SELECT clock / 60 * 60, to_char(itemid, 'FM9'), count(*), avg(value) FROM history_uint GROUP BY clock / 60 * 60, to_char(itemid, 'FM9');
PREPARE others AS SELECT clock, count(value), min(value), max(value), avg(value) FROM history_any GROUP BY clock;
SELECT q, m.plan LIKE '%ZbxhistAggregate%' AND m.plan NOT LIKE '%Spilled%' AS in_memory, (regexp_match(string_agg(p, ''), 'Groups Spilled: ([0-9]+)'))[1]::integer > 3000 AS spilled,
    regexp_match(string_agg(p, ''), 'Values Decoded: [0-9]+') = regexp_match(m.plan, 'Values Decoded: [0-9]+') AS decoded_once
    FROM in_memory m, plan_of('EXECUTE ' || q) p GROUP BY q, m.plan ORDER BY q;
CREATE TEMP TABLE found AS EXECUTE many;
CREATE TEMP TABLE expected AS SELECT clock / 60 * 60, to_char(itemid, 'FM9'), count(*), avg(value) FROM aggregate_plain.history_uint GROUP BY clock / 60 * 60, to_char(itemid, 'FM9');
SELECT count(*) > 10000 AS many, (SELECT count(*) FROM expected) - count(*) AS lost FROM found;
SELECT * FROM found EXCEPT ALL SELECT * FROM expected;
DROP TABLE found, expected;
CREATE TEMP TABLE found AS EXECUTE others;
CREATE TEMP TABLE expected AS SELECT clock, count(value), min(value), max(value), avg(value) FROM aggregate_plain.history_any GROUP BY clock;
SELECT count(*) > 3000 AS many, (SELECT count(*) FROM expected) - count(*) AS lost FROM found;
SELECT * FROM found EXCEPT ALL SELECT * FROM expected;
DROP TABLE found, expected, in_memory;
-- which is run again, or ends before its end
SELECT i, (SELECT string_agg(x::text, ' ' ORDER BY x) FROM (SELECT clock, sum(value) FROM history_any h WHERE h.itemid = i GROUP BY clock) x) =
    (SELECT string_agg(x::text, ' ' ORDER BY x) FROM (SELECT clock, sum(value) FROM aggregate_plain.history_any h WHERE h.itemid = i GROUP BY clock) x) AS same FROM generate_series(1, 3) i;
-- whatever PostgreSQL takes its own ways to cost
SET enable_hashagg = off;
SET enable_sort = off;
SELECT count(*) AS spilled FROM plan_of('SELECT i, (SELECT count(*) FROM (SELECT clock, sum(value) FROM history_any h WHERE h.itemid = i GROUP BY clock) x) FROM generate_series(1, 3) i') p WHERE p ~ 'Spilled';
RESET enable_hashagg;
RESET enable_sort;
SELECT count(*) FROM (SELECT clock FROM (SELECT clock, count(*) FROM history_any GROUP BY clock) x LIMIT 5) y;
RESET work_mem;
-- clocks as other numbers and as times, which say what is read; <> does not
CREATE FUNCTION of_clocks(tab text, condition text, OUT result text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT count(*) || '' '' || coalesce(sum(clock), 0) || '' '' || coalesce(min(clock), 0) FROM %s WHERE itemid = 1 AND %s', tab, condition) INTO result;
END $$;
CREATE TEMP TABLE conditions AS SELECT format(CASE WHEN length(o) = 1 THEN '%1$s %2$s %3$s' ELSE '%3$s %2$s %1$s' END, t.form, o, coalesce(quote_literal(v), 'NULL') || t.cast_to) AS condition
    FROM (VALUES ('clock::numeric', '::numeric', '{90000,90000.5,-1000.5,-240,NaN,Infinity,-Infinity,1e30,-1e30,172800.0000000000000000001,172799.9999999999999999999,NULL}'::text[]),
        ('clock::double precision', '::double precision', '{90000,90000.5,-1000.5,-240,NaN,Infinity,-Infinity,1e300,-1e300,NULL}'),
        ('to_timestamp(clock)', '::timestamptz', '{"1970-01-02 00:00:00 UTC","1970-01-02 01:00:00.5 UTC","1969-12-31 23:50:00.25 UTC","1969-12-31 23:56:00 UTC",infinity,-infinity,NULL}'),
        ('clock::bigint', '::bigint', '{90000,-240,9223372036854775807,-9223372036854775808}')) t (form, cast_to, vals), unnest(vals) v, unnest('{<,<=,=,>=,>,<>}'::text[]) o;
SELECT condition, of_clocks('history_uint', condition), of_clocks('aggregate_plain.history_uint', condition) FROM conditions WHERE of_clocks('history_uint', condition) <> of_clocks('aggregate_plain.history_uint', condition);
SELECT count(*) FILTER (WHERE p ~ 'Packed (Column )?Filter') AS filters FROM conditions, LATERAL (SELECT string_agg(l, '') AS p
    FROM plan_of('SELECT max(clock) FROM history_uint WHERE itemid = 1 AND ' || condition, false) l) x WHERE condition !~ '(NULL|<>)';
SELECT * FROM plan_of('SELECT max(value) FROM history_uint WHERE itemid = 1 AND to_timestamp(clock) >= to_timestamp(90000) AND clock < extract(epoch FROM timestamptz ''1970-01-02 06:00:00 UTC'')') p WHERE p ~ 'Days';
CREATE FUNCTION of_rows(tab text, rest text, OUT result text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT string_agg(x::text, '' '' ORDER BY x) FROM (SELECT itemid, clock, value FROM %s WHERE itemid = 2 AND %s) x', tab, rest) INTO result;
END $$;
SELECT count(*) FILTER (WHERE length(of_rows('history_uint', c || r)) > 20) AS with_rows, count(*) FILTER (WHERE of_rows('history_uint', c || r) <> of_rows('aggregate_plain.history_uint', c || r)) AS differ
    FROM unnest('{"to_timestamp(clock) >= to_timestamp(300000)",clock::numeric < 90000.5}'::text[]) c, unnest('{" ORDER BY clock DESC LIMIT 3"," ORDER BY clock, ns LIMIT 2",""}'::text[]) r;
DROP TABLE conditions;
-- DISTINCT is GROUP BY without aggregates, if there is nothing else
CREATE FUNCTION result_of(command text, OUT result text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT string_agg(x::text, '' '' ORDER BY x) FROM (%s) x', command) INTO result;
END $$;
SELECT command, (SELECT count(*) FROM plan_of(command, false) p WHERE p ~ 'ZbxhistAggregate') AS scans, length(result_of(command)) > 8 AS has_rows, result_of(command) = result_of(replace(command, ' FROM ', ' FROM aggregate_plain.')) AS same FROM unnest(ARRAY[
    'SELECT DISTINCT itemid FROM history WHERE itemid IN (1, 2, 4) AND clock > 90000', 'SELECT DISTINCT clock / 86400 + 1, itemid % 2 FROM history ORDER BY 1 DESC, 2 LIMIT 3', 'SELECT DISTINCT date_trunc(''day'', to_timestamp(clock)) FROM trends WHERE clock < 300000',
    'SELECT DISTINCT itemid FROM history_uint WHERE value BETWEEN 5000 AND 5100 AND itemid <> 2', 'SELECT DISTINCT ON (itemid) itemid, clock FROM history ORDER BY itemid, clock, ns', 'SELECT DISTINCT itemid, min(clock) FROM history GROUP BY itemid',
    'SELECT DISTINCT count(*) FROM history GROUP BY itemid', 'SELECT DISTINCT itemid, rank() OVER (ORDER BY itemid) FROM history WHERE clock BETWEEN 90000 AND 100000', 'SELECT DISTINCT value IS NULL FROM history_any',
    'SELECT DISTINCT itemid, clock FROM history WHERE itemid = 2']) command;
-- parameters, subqueries that are run again, cursors
PREPARE of_item(bigint, integer, integer) AS SELECT clock / $3 AS bucket, count(*), sum(value) FROM history_uint WHERE itemid = $1 AND clock >= $2 GROUP BY clock / $3 ORDER BY 1 LIMIT 3;
SELECT * FROM plan_of('EXECUTE of_item(1, 90000, 86400)', false) LIMIT 8;
EXECUTE of_item(1, 90000, 86400);
EXECUTE of_item(2, 250000, 43200);
EXECUTE of_item(NULL, 0, 1);
EXECUTE of_item(2, 250000, 0);
RESET plan_cache_mode;
SELECT i, (SELECT count(*) FROM history_uint h WHERE h.itemid = i AND clock < 300000) - (SELECT count(*) FROM aggregate_plain.history_uint h WHERE h.itemid = i AND clock < 300000) AS difference FROM generate_series(1, 8) i;
SELECT i, x.avg = y.avg AS same, x.count - y.count AS difference FROM generate_series(1, 4) i,
    LATERAL (SELECT avg(value), count(*) FROM history_uint h WHERE h.itemid = i AND clock / 10000 <> i HAVING count(*) > i) x,
    LATERAL (SELECT avg(value), count(*) FROM aggregate_plain.history_uint h WHERE h.itemid = i AND clock / 10000 <> i HAVING count(*) > i) y;
SELECT itemid, sum(s) OVER (ORDER BY itemid) - sum(p) OVER (ORDER BY itemid) AS difference FROM (SELECT itemid, sum(value) AS s FROM history_uint GROUP BY itemid) a JOIN
    (SELECT itemid, sum(value) AS p FROM aggregate_plain.history_uint GROUP BY itemid) b USING (itemid) ORDER BY 1;
-- what is planned as before
SELECT command, count(*) FILTER (WHERE p LIKE '%ZbxhistAggregate%') AS scans FROM unnest(ARRAY[
    'SELECT count(DISTINCT itemid) FROM history', 'SELECT count(*) FILTER (WHERE value > random()) FROM history', 'SELECT regr_slope(value, clock) FROM history',
    'SELECT string_agg(value::text, '','' ORDER BY clock) FROM history', 'SELECT value, count(*) FROM history GROUP BY value',
    'SELECT random() < 2, count(*) FROM history GROUP BY random() < 2', 'SELECT rnd(clock, 1), count(*) FROM history GROUP BY 1', 'SELECT count(*) FROM history a JOIN history b USING (itemid)',
    'SELECT tableoid, count(*) FROM history GROUP BY tableoid', 'SELECT max(value) FROM history WHERE random() < 2',
    'SELECT clock, (SELECT 1 FROM history h WHERE h.clock = a.clock LIMIT 1) FROM history a GROUP BY clock', 'SELECT generate_series(1, 2), count(*) FROM history GROUP BY 1',
    'SELECT max(ns::text) FROM history', 'SELECT sum(value) FROM ONLY history', 'SELECT avg(value) OVER (PARTITION BY itemid) FROM history']) command, plan_of(command, false) p GROUP BY command ORDER BY command COLLATE "C";
SET zbxhist.enable_aggregate_scan = off;
SELECT count(*) FILTER (WHERE p LIKE '%ZbxhistAggregate%') AS scans FROM plan_of('SELECT count(*) FROM history', false) p;
RESET zbxhist.enable_aggregate_scan;
-- sums of doubles: 2 ^ 53 and many halves, whose exact sum only the custom scan finds; beyond the range
CREATE TABLE exact (itemid bigint NOT NULL, clock integer NOT NULL, value double precision, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('exact'), zbxhist.create_partition('exact', '1970-01-02');
INSERT INTO exact SELECT 1, 86400 + n, CASE n WHEN 0 THEN 9007199254740992 ELSE 0.5 END, 0 FROM generate_series(0, 2000) n;
INSERT INTO exact SELECT 2, 86400 + n, CASE n % 3 WHEN 0 THEN 1e16 WHEN 1 THEN 1 ELSE -1e16 END, 0 FROM generate_series(0, 299) n;
INSERT INTO exact SELECT 3, 86400 + n, 1e308, 0 FROM generate_series(0, 9) n;
INSERT INTO exact SELECT 4, 86400 + n, CASE n WHEN 3 THEN 'Infinity' WHEN 7 THEN '-Infinity' ELSE 1.0::double precision END, 0 FROM generate_series(0, 9) n;
INSERT INTO exact SELECT 5, 86400 + n, '-0', 0 FROM generate_series(0, 9) n;
INSERT INTO exact SELECT 6, 86400 + n, CASE n % 3 WHEN 0 THEN 1e308 WHEN 1 THEN -1e308 ELSE 1 END, 0 FROM generate_series(0, 299) n;
INSERT INTO exact SELECT 7, 86400 + n, CASE WHEN n % 4 > 0 THEN 0.1 END, 0 FROM generate_series(0, 399) n;
CALL zbxhist.pack('exact', '1970-01-02');
SELECT itemid, sum(value), avg(value), min(value), max(value) FROM exact WHERE itemid <> 3 GROUP BY itemid ORDER BY itemid;
-- what rounding took from the sum of a segment is in its statistics: a part of a segment has the same sum by its values
SELECT itemid, sum(value), count(value) FROM exact WHERE itemid IN (1, 2, 6, 7) AND value IS NOT NULL GROUP BY itemid ORDER BY itemid;
SELECT * FROM plan_of('SELECT itemid, sum(value), avg(value) FROM exact WHERE itemid IN (1, 2, 6, 7) GROUP BY itemid') p WHERE p ~ 'Segments';
SELECT sum(value) FROM exact WHERE itemid = 3;
SELECT avg(value) FROM exact WHERE itemid = 3 AND clock > 86402;
SELECT max(value), sum(value) FROM exact WHERE itemid = 3 AND clock = 86402;
SELECT clock / 2, sum(value) FROM exact WHERE itemid = 4 GROUP BY 1 ORDER BY 1;
-- privileges are asked for as ever; row security is not passed over
CREATE ROLE zbxhist_graphs;
GRANT USAGE ON SCHEMA aggregate TO zbxhist_graphs;
GRANT SELECT (itemid, clock) ON history TO zbxhist_graphs;
SET ROLE zbxhist_graphs;
SELECT itemid % 1, count(*) > 0, max(clock) > 0 FROM history GROUP BY 1;
SELECT itemid, max(value) FROM history GROUP BY itemid;
SELECT count(*) FROM history WHERE value > 5;
SELECT count(*) FROM history_uint;
RESET ROLE;
GRANT SELECT ON history_uint TO zbxhist_graphs;
ALTER TABLE history_uint ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON history_uint FOR SELECT TO zbxhist_graphs USING (itemid IN (2, 3));
SET ROLE zbxhist_graphs;
SELECT itemid, count(*) > 0 AS has_rows FROM history_uint GROUP BY itemid ORDER BY itemid;
SELECT itemid, max(value) > 0 AS has_rows FROM history_uint WHERE itemid = 1 GROUP BY itemid;
SELECT count(*) FILTER (WHERE p LIKE '%ZbxhistAggregate%') AS scans FROM plan_of('SELECT itemid, count(*) FROM history_uint GROUP BY itemid', false) p;
RESET ROLE;
BEGIN;
REVOKE ALL ON FUNCTION pg_catalog.sum(numeric) FROM PUBLIC;
GRANT SELECT ON history_any TO zbxhist_graphs;
SET ROLE zbxhist_graphs;
SELECT sum(value) FROM history_any;
ROLLBACK;
DROP SCHEMA aggregate, aggregate_plain CASCADE;
DROP ROLE zbxhist_graphs;
