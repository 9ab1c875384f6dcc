--
-- Each reading function gives what a SELECT on a plain table with the same
-- rows gives: every table of Zabbix and two old ones (an index without ns,
-- none at all), random rows and random arguments, the same in each run.
--
\a \t
LOAD 'zbxhist';
SET zbxhist.allow_packed_drop = on;
SET client_min_messages = warning;
SET extra_float_digits = 1;
CREATE SCHEMA plain;
CREATE SCHEMA managed;
CREATE SCHEMA oracle;
SET search_path = oracle;

-- a row is made of a random number n; sums of the doubles are exact
CREATE TABLE shape (name text PRIMARY KEY, definition text, key text, row_values text, value text);
INSERT INTO shape VALUES
('history', 'value double precision NOT NULL, ns integer NOT NULL', 'PRIMARY KEY (itemid, clock, ns)', '(n % 2000001 - 1000000) / 4.0, ns', 'value'),
('history_uint', 'value numeric(20) NOT NULL, ns integer NOT NULL', 'PRIMARY KEY (itemid, clock, ns)',
 'CASE n % 3 WHEN 0 THEN 18446744073709551615 - n % 1000 WHEN 1 THEN n % 10 ELSE n * 1000003::bigint END, ns', 'value'),
('history_str', 'value varchar(255) NOT NULL, ns integer NOT NULL', 'PRIMARY KEY (itemid, clock, ns)', 'repeat(chr(32 + n % 500), n % 256), ns', NULL),
('history_log', 'timestamp integer NOT NULL, value text NOT NULL, ns integer NOT NULL', 'PRIMARY KEY (itemid, clock, ns)', 'n, repeat(md5(n::text), n % 9), ns', NULL),
('history_text', 'value text NOT NULL, ns integer NOT NULL', 'PRIMARY KEY (itemid, clock, ns)',
 '(SELECT string_agg(md5((n * 100 + i)::text), '''') FROM generate_series(0, n % 200) i) || ''.'', ns', NULL),
('history_bin', 'ns integer NOT NULL, value bytea NOT NULL', 'PRIMARY KEY (itemid, clock, ns)', 'ns, decode(md5(n::text), ''hex'')', NULL),
('history_json', 'ns integer NOT NULL, value json NOT NULL', 'PRIMARY KEY (itemid, clock, ns)', 'ns, json_build_object(''n'', n)', NULL),
('trends', 'num integer NOT NULL, value_min double precision NOT NULL, value_avg double precision NOT NULL, value_max double precision NOT NULL',
 'PRIMARY KEY (itemid, clock)', 'n % 60, n % 100 / 4.0, n % 1000 / 4.0, n % 10000 / 4.0', 'value_avg'),
('trends_uint', 'num integer NOT NULL, value_min numeric(20) NOT NULL, value_avg numeric(20) NOT NULL, value_max numeric(20) NOT NULL',
 'PRIMARY KEY (itemid, clock)', 'n % 60, n % 100, n % 1000, 18446744073709551615 - n % 3', 'value_avg'),
('old', 'value double precision NOT NULL, ns integer NOT NULL', 'CHECK (true)', 'n % 1000 / 4.0, ns', 'value'),
('bare', 'value numeric(20) NOT NULL, ns integer NOT NULL', 'CHECK (true)', 'n % 1000, ns', 'value');

-- a random integer from 0 to below a limit, the same on every platform
CREATE SEQUENCE random_state MINVALUE 0;
CREATE FUNCTION pick(below bigint) RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT ('x' || substr(md5(nextval('oracle.random_state')::text), 1, 12))::bit(48)::bigint % below
$$;

CREATE FUNCTION make_tables() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    s shape;
    is_trend boolean;
    side text;
BEGIN
    FOR s IN SELECT * FROM shape ORDER BY name LOOP
        is_trend := s.name LIKE 'trends%';
        FOREACH side IN ARRAY ARRAY['plain', 'managed'] LOOP
            EXECUTE format('CREATE TABLE %I.%I (itemid bigint NOT NULL, clock integer NOT NULL, %s, %s)', side, s.name, s.definition, s.key);
        END LOOP;
        IF s.name = 'old' THEN CREATE INDEX ON managed.old (itemid, clock); END IF;
        PERFORM zbxhist.create_parent(format('managed.%I', s.name)::regclass);
        -- a gap on the fourth day: those rows stay in the parent
        PERFORM zbxhist.create_partition(format('managed.%I', s.name)::regclass, date '1970-01-01' + d) FROM unnest(ARRAY[1, 2, 4, 5]) d;
        -- few seconds and few ns, so that many rows share them
        EXECUTE format('INSERT INTO plain.%1$I SELECT itemid, clock, %2$s FROM (
            SELECT oracle.pick(5) AS itemid, (oracle.pick(40) * 14400 + oracle.pick(3) - 1) * %3$s AS clock,
                   (ARRAY[0, 1, 2, 500000000, 999999999])[1 + oracle.pick(5)] AS ns, oracle.pick(20000000)::integer AS n FROM generate_series(1, %4$s)) r %5$s',
            s.name, s.row_values, CASE WHEN is_trend THEN 3600 / 14400.0 ELSE 1 END, CASE WHEN is_trend THEN 300 ELSE 1200 END,
            CASE WHEN s.key LIKE 'PRIMARY%' THEN 'ON CONFLICT DO NOTHING' END);
        PERFORM set_config('zbxhist.enable_routing', 'off', true);
        EXECUTE format('INSERT INTO managed.%1$I SELECT * FROM plain.%1$I WHERE (itemid + clock) %% 7 = 0', s.name);
        PERFORM set_config('zbxhist.enable_routing', 'on', true);
        EXECUTE format('INSERT INTO managed.%1$I SELECT * FROM plain.%1$I WHERE (itemid + clock) %% 7 <> 0', s.name);
    END LOOP;
END $$;
BEGIN;
SELECT make_tables();
COMMIT;
SELECT count(DISTINCT tableoid) AS stored_in, count(*) FROM managed.history;

CREATE TABLE difference (tab text, call text, expected text, found text);
CREATE TABLE outcome (tab text, call text, empty boolean);

-- runs two queries of one text each and notes the difference
CREATE FUNCTION compare(tab text, call text, expected_query text, found_query text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    expected text;
    found text;
BEGIN
    EXECUTE expected_query INTO expected;
    BEGIN
        EXECUTE found_query INTO found;
    EXCEPTION WHEN OTHERS THEN
        found := SQLSTATE || ' ' || SQLERRM;
    END;
    INSERT INTO outcome VALUES (tab, call, expected IS NULL OR expected = '0');
    IF expected IS DISTINCT FROM found THEN
        INSERT INTO difference VALUES (tab, call, expected, found);
        RAISE WARNING '% expected: % found: %', found_query, left(expected, 300), left(found, 300);
    END IF;
END $$;

CREATE FUNCTION some_clock() RETURNS text LANGUAGE sql AS $$
    SELECT (oracle.pick(40) * 14400 + oracle.pick(5) - 2)::text
$$;

-- puts the values of a JSON object in the place of their names in braces
CREATE FUNCTION fill(template text, names jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    name record;
BEGIN
    FOR name IN SELECT * FROM jsonb_each_text(names) LOOP
        template := replace(template, '{' || name.key || '}', coalesce(name.value, 'NULL'));
    END LOOP;
    RETURN template;
END $$;

CREATE FUNCTION compare_rows(s shape) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    has_ns CONSTANT boolean := s.definition LIKE '%ns integer%';
    is_unique CONSTANT boolean := s.key LIKE 'PRIMARY%';
    max_rows CONSTANT text := (ARRAY[NULL, '1', '7', '100', '0'])[1 + pick(5)];
    names jsonb := jsonb_build_object('tab', s.name, 'item', pick(6), 'from', some_clock(), 'to', some_clock(),
        'max', max_rows, 'limit', coalesce(max_rows, '1000000'), 'ns', CASE WHEN has_ns THEN 'ns' ELSE 'itemid * 0' END,
        'from_ns', CASE WHEN has_ns THEN (ARRAY['0', '1', '500000000'])[1 + pick(3)] ELSE '0' END,
        'to_ns', CASE WHEN has_ns THEN (ARRAY['0', '2', '999999999'])[1 + pick(3)] ELSE '0' END,
        -- rows with equal keys may come in any order
        'row', CASE WHEN is_unique OR max_rows IS NULL THEN 'to_jsonb(x) - ''number''' ELSE '0' END,
        'first', CASE WHEN is_unique THEN 'r::text' ELSE 'r.clock' END);
    sort text;
    which text;
BEGIN
    FOREACH sort IN ARRAY ARRAY['asc', 'desc'] LOOP
        names := names || jsonb_build_object('sort', sort);
        PERFORM compare(s.name, 'range',
            fill('SELECT string_agg(clock || ''.'' || ({ns}), '' '' ORDER BY number) || md5(string_agg(({row})::text, '' '' ORDER BY ({row})::text)) FROM (
                SELECT *, row_number() OVER (ORDER BY clock {sort}, {ns} {sort}) AS number FROM plain.{tab} WHERE itemid = {item} AND
                (clock, {ns}) >= ({from}, {from_ns}) AND (clock, {ns}) < ({to}, {to_ns}) ORDER BY clock {sort}, {ns} {sort} LIMIT {limit}) x', names),
            fill('SELECT string_agg(clock || ''.'' || ({ns}), '' '' ORDER BY number) || md5(string_agg(({row})::text, '' '' ORDER BY ({row})::text)) FROM (
                SELECT *, row_number() OVER () AS number FROM zbxhist.range(NULL::managed.{tab}, {item}, {from}, {to}, ''{sort}'', {max}, {from_ns}, {to_ns})) x', names));
    END LOOP;
    -- the other way of taking a set
    PERFORM compare(s.name, 'range',
        fill('SELECT md5(string_agg(r::text, '' '' ORDER BY r::text)) FROM plain.{tab} r WHERE itemid = {item} AND clock >= {from} AND clock < {to}', names),
        fill('SELECT md5(string_agg(r::text, '' '' ORDER BY r::text)) FROM (SELECT zbxhist.range(NULL::managed.{tab}, {item}, {from}, {to}, ''none'') r OFFSET 0) x', names));
    FOREACH which IN ARRAY ARRAY['= exact asc', '<= less desc', '>= greater asc'] LOOP
        names := names || jsonb_build_object('op', split_part(which, ' ', 1), 'which', split_part(which, ' ', 2), 'sort', split_part(which, ' ', 3));
        PERFORM compare(s.name, 'nearest',
            fill('SELECT {first} FROM plain.{tab} r WHERE itemid = {item} AND (clock, {ns}) {op} ({from}, {from_ns}) ORDER BY clock {sort}, {ns} {sort} LIMIT 1', names),
            fill('SELECT {first} FROM zbxhist.nearest(NULL::managed.{tab}, {item}, {from}, {from_ns}, ''{which}'') r WHERE clock IS NOT NULL', names));
    END LOOP;
    PERFORM compare(s.name, 'minimum_time',
        fill('SELECT clock || ''.'' || ({ns}) FROM plain.{tab} WHERE itemid = {item} ORDER BY clock, {ns} LIMIT 1', names),
        fill('SELECT clock || ''.'' || ns FROM zbxhist.minimum_time(''managed.{tab}'', {item})', names));
    PERFORM compare(s.name, 'last_values',
        fill('SELECT string_agg(itemid || '':'' || clock || ''.'' || fraction, '' '' ORDER BY itemid, clock DESC, fraction DESC) FROM (
            SELECT itemid, clock, {ns} AS fraction, row_number() OVER (PARTITION BY itemid ORDER BY clock DESC, {ns} DESC) AS number FROM plain.{tab}
            WHERE itemid = ANY (''{4,1,1,9,3,NULL}'') AND clock >= {from}) x WHERE number <= {limit}', names),
        fill('SELECT string_agg(itemid || '':'' || clock || ''.'' || ({ns}), '' '') FROM zbxhist.last_values(NULL::managed.{tab}, ''{4,1,1,9,3,NULL}'', {max}, {from})', names));
END $$;

CREATE FUNCTION compare_numbers(s shape) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    is_trend CONSTANT boolean := s.name LIKE 'trends%';
    from_clock CONSTANT bigint := some_clock();
    to_clock CONSTANT bigint := CASE pick(20) WHEN 0 THEN from_clock + 1 ELSE some_clock()::bigint END;
    names CONSTANT jsonb := jsonb_build_object('tab', s.name, 'item', pick(6), 'from', from_clock, 'to', to_clock, 'period', to_clock - from_clock,
        'width', 1 + pick(CASE pick(3) WHEN 0 THEN 5 WHEN 1 THEN 1200 ELSE 100000 END),
        'type', CASE WHEN s.definition LIKE '%double%' THEN 'double precision' ELSE 'numeric' END,
        -- the frontend's own words
        'graph', CASE WHEN is_trend THEN 'SUM(num) AS count,AVG(value_avg) AS avg,MIN(value_min) AS min,MAX(value_max) AS max'
            ELSE 'COUNT(*) AS count,AVG(value) AS avg,MIN(value) AS min,MAX(value) AS max' END,
        'figures', CASE WHEN is_trend THEN 'coalesce(sum(num), 0), min(value_min), max(value_max), sum(value_avg * num), sum(value_avg * num) / sum(num), max(value_max) - min(value_min)'
            ELSE 'count(*), min(value), max(value), sum(value), avg(value), max(value) - min(value)' END);
BEGIN
    PERFORM compare(s.name, 'statistics',
        fill('SELECT concat_ws('','', {figures}, min(clock), max(clock)) FROM plain.{tab} WHERE itemid = {item} AND clock >= {from} AND clock < {to}', names),
        fill('SELECT concat_ws('','', count, min::{type}, max::{type}, sum::{type}, avg::{type}, delta::{type}, first_clock, last_clock)
            FROM zbxhist.statistics(''managed.{tab}'', {item}, {from}, {to})', names));
    IF to_clock <> from_clock THEN
        PERFORM compare(s.name, 'buckets',
            fill('SELECT string_agg(concat_ws('','', i, count, avg, min, max, clock), '' '') FROM (
                SELECT itemid,{graph},round({width}.0*(clock-({from}))/({period}),0) AS i,MAX(clock) AS clock FROM plain.{tab}
                WHERE itemid=''{item}'' AND clock>=''{from}'' AND clock<=''{to}'' GROUP BY itemid,round({width}.0*(clock-({from}))/({period}),0) ORDER BY itemid,i) q', names),
            fill('SELECT string_agg(concat_ws('','', bucket, count, avg::{type}, min::{type}, max::{type}, clock), '' '')
                FROM zbxhist.buckets(''managed.{tab}'', {item}, {from}, {to}, {width})', names));
    END IF;
END $$;
-- SQL would divide by zero for trends without values
UPDATE plain.trends SET num = 1 WHERE num = 0;
UPDATE managed.trends SET num = 1 WHERE num = 0;
UPDATE plain.trends_uint SET num = 1 WHERE num = 0;
UPDATE managed.trends_uint SET num = 1 WHERE num = 0;

CREATE FUNCTION run_steps(seed integer, steps integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    s shape;
BEGIN
    PERFORM setval('oracle.random_state', seed);
    FOR step IN 1 .. steps LOOP
        FOR s IN SELECT * FROM shape ORDER BY name LOOP
            PERFORM compare_rows(s);
            IF s.value IS NOT NULL THEN PERFORM compare_numbers(s); END IF;
        END LOOP;
    END LOOP;
END $$;
\if :{?seed}
\else
\set seed 1000000
\set steps 25
\endif
SELECT run_steps(:seed, :steps);
SELECT call, count(*), count(*) FILTER (WHERE empty) AS empty FROM outcome GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM difference;

-- the same with days packed, of which some rows wait in the parent
DO $$
DECLARE
    parent regclass;
BEGIN
    FOREACH parent IN ARRAY array(SELECT format('managed.%I', name)::regclass FROM oracle.shape ORDER BY name) LOOP
        CALL zbxhist.pack(parent, '1970-01-02');
        CALL zbxhist.pack(parent, '1970-01-05');
        CALL zbxhist.pack(parent, '1970-01-06');
    END LOOP;
END $$;
SELECT count(*), count(DISTINCT parent) AS parents, sum(nrows) > 1000 AS many FROM zbxhist.packed_day WHERE parent::text LIKE 'managed.%';
SELECT count(*) > 0 AS still_in_parent FROM ONLY managed.history WHERE clock BETWEEN 86400 AND 172799;
TRUNCATE outcome;
SELECT run_steps(:seed + 1000000, :steps);
SELECT call, count(*), count(*) FILTER (WHERE empty) AS empty FROM outcome GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM difference;

-- text has no statistics
SELECT * FROM zbxhist.statistics('managed.history_str', 1, 0, 1);
SELECT * FROM zbxhist.buckets('managed.history_bin', 1, 0, 1, 1);
-- words, edges, nulls
SELECT * FROM zbxhist.statistics('managed.history', 99, 0, 1);
SELECT count, sum, first_clock FROM zbxhist.statistics('managed.history', 1, 172800, 86400);
SELECT count(*) FROM zbxhist.statistics('managed.history', NULL, 0, 1);
SELECT count(*) FROM zbxhist.buckets('managed.history', 1, 0, 1, 0);
SELECT count(*) FROM zbxhist.buckets('managed.history', 1, 0, 1, 1000001);
SELECT count(*) FROM zbxhist.buckets('managed.history', 1, 100, 0, 10);
SELECT count(*) FROM zbxhist.last_values(NULL::managed.history, '{1}', -1);
SELECT count(*) FROM zbxhist.last_values(NULL::managed.history, NULL);
SELECT count(*) FROM zbxhist.last_values(NULL::managed.history, '{}');
SELECT itemid FROM zbxhist.last_values(NULL::managed.history, '{{1,2},{3,2}}');
-- times
SELECT count FROM zbxhist.statistics('managed.history', 1, timestamptz '1970-01-02 UTC', timestamptz '1970-01-03 UTC')
EXCEPT SELECT count(*) FROM plain.history WHERE itemid = 1 AND clock >= 86400 AND clock < 172800;
SELECT * FROM zbxhist.buckets('managed.history', 1, timestamptz '1970-01-02 UTC', timestamptz '1970-01-03 UTC', 10)
EXCEPT SELECT * FROM zbxhist.buckets('managed.history', 1, 86400, 172800, 10);
SELECT * FROM zbxhist.last_values(NULL::managed.history, '{1,2}', 3, timestamptz '1970-01-03 UTC')
EXCEPT SELECT * FROM zbxhist.last_values(NULL::managed.history, '{1,2}', 3, 172800);
-- doubles at their ends; a sum that is none is an error, as in SQL
CREATE TABLE managed.ends (LIKE managed.history INCLUDING ALL);
SELECT zbxhist.create_parent('managed.ends');
INSERT INTO managed.ends VALUES (1, 1, 'NaN', 0), (1, 2, 1, 0), (2, 1, 'Infinity', 0), (2, 2, 4.9406564584124654E-324, 0),
    (3, 1, 1.7976931348623157E+308, 0), (4, 1, 1.7976931348623157E+308, 0), (4, 2, 1e308, 0), (5, 1, 0.1, 0), (5, 2, 0.2, 0), (5, 3, -0.0, 0);
SELECT i, s.count, s.min::float8, s.max::float8, s.sum::float8, s.avg::float8, s.delta::float8
  FROM unnest('{1,2,3,5}'::bigint[]) i, zbxhist.statistics('managed.ends', i, 0, 10) s;
SELECT itemid, min(value), max(value), sum(value), avg(value), max(value) - min(value) FROM managed.ends WHERE itemid <> 4 GROUP BY 1 ORDER BY 1;
SELECT * FROM zbxhist.statistics('managed.ends', 4, 0, 10);
DROP SCHEMA plain, managed, oracle CASCADE;
