-- Aggregates over packed days: conditions on columns, decided by statistics or by decoded
-- values, give the same answers as on rows.
\a \t
LOAD 'zbxhist';
SET client_min_messages = warning;
SET zbxhist.allow_packed_drop = on;
CREATE SCHEMA aggregate_filter;
SET search_path = aggregate_filter, public, zbxhist_partitions;
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value double precision, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE history_uint (itemid bigint NOT NULL, clock integer NOT NULL, value numeric(20), ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE history_any (itemid bigint NOT NULL, clock integer NOT NULL, value numeric, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE trends (itemid bigint NOT NULL, clock integer NOT NULL, num integer NOT NULL, value_avg double precision, PRIMARY KEY (itemid, clock));
SELECT count(zbxhist.create_parent(t)) FROM unnest('{history,history_uint,history_any,trends}'::regclass[]) t;
SELECT count(zbxhist.create_partition(t, date '1970-01-01' + n)) FROM unnest('{history,history_uint,history_any,trends}'::regclass[]) t, generate_series(1, 3) n;
-- items with one value, with none, with few values, and with all that there are
CREATE TABLE numbers (n integer PRIMARY KEY, value text);
INSERT INTO numbers SELECT row_number() OVER (), v FROM unnest('{0,-0,1,5,5.5,-5.25,1e-320,1.7976931348623157e308,-1.7976931348623157e308,Infinity,-Infinity,NaN,9007199254740993,-1,4294967296}'::text[]) v;
CREATE TABLE wide (n integer PRIMARY KEY, value text);
INSERT INTO wide SELECT row_number() OVER (), v FROM unnest('{0,1,5,5.5,5.0,-5,0.5,-0.5,18446744073709551615,18446744073709551614,18446744073709551615.5,18446744073709551616,9223372036854775808,1e25,-1e25,NaN,Infinity,-Infinity,10000,9999.99999}'::text[]) v;
INSERT INTO history SELECT i, 86400 * (1 + d) + n * 60, CASE i WHEN 1 THEN (SELECT value::double precision FROM numbers x WHERE x.n = 1 + h.n % 15) WHEN 2 THEN 5 WHEN 4 THEN n % 10 WHEN 5 THEN nullif(n % 10, 5) WHEN 6 THEN -0.0::double precision * (n % 2) WHEN 7 THEN n - 100.5 END, n % 3
    FROM generate_series(1, 7) i, generate_series(0, 2) d, generate_series(0, 299) h(n);
INSERT INTO history_uint SELECT i, 86400 * (1 + d) + n * 60, CASE i WHEN 1 THEN (SELECT value::numeric FROM wide x WHERE x.n = ('{1,2,3,9,10,13,19}'::integer[])[1 + h.n % 7]) WHEN 2 THEN 5 WHEN 4 THEN n % 10 WHEN 5 THEN nullif(n % 10, 5) WHEN 6 THEN 18446744073709551615 - n % 2 WHEN 7 THEN n + 18446744073709551000 END, n % 3
    FROM generate_series(1, 7) i, generate_series(0, 2) d, generate_series(0, 299) h(n);
INSERT INTO history_any SELECT i, 86400 * (1 + d) + n * 60, CASE i WHEN 1 THEN (SELECT value::numeric FROM wide x WHERE x.n = 1 + h.n % 20) WHEN 2 THEN 5.0 WHEN 4 THEN n % 10 WHEN 5 THEN nullif(n % 10, 5) WHEN 6 THEN CASE WHEN n = 7 THEN -1 ELSE n END WHEN 7 THEN n / 4.0 END, n % 3
    FROM generate_series(1, 7) i, generate_series(0, 2) d, generate_series(0, 299) h(n);
INSERT INTO trends SELECT i, 86400 * (1 + d) + n * 3600, CASE WHEN i = 2 THEN 60 WHEN i = 3 THEN -2147483648 ELSE n * i - 30 END, nullif(n, i) FROM generate_series(1, 5) i, generate_series(0, 2) d, generate_series(0, 23) n;
SELECT format('CALL zbxhist.pack(%L, %L)', t, date '1970-01-01' + n) FROM unnest('{history,history_uint,history_any,trends}'::text[]) t, generate_series(1, 2) n ORDER BY t, n \gexec
ANALYZE;

-- compares the scan, rows of segments that statistics leave, and all rows; says how often rows were made
CREATE FUNCTION of_plan(command text, label text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE line text; result bigint;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || command LOOP
        result := coalesce(result, (regexp_match(line, label || ': ([0-9]+)'))[1]::bigint);
    END LOOP;
    RETURN result;
END $$;
CREATE TABLE conditions (tab text, condition text);
CREATE FUNCTION run_conditions(OUT result text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE c record; query text; found text; of_rows text; expected text; n integer := 0; scans integer := 0; made integer := 0; filled integer := 0; key text;
BEGIN
    FOR c IN SELECT * FROM conditions ORDER BY tab, condition LOOP
        key := CASE n % 4 WHEN 0 THEN 'itemid' WHEN 1 THEN 'clock / 3600' WHEN 2 THEN 'clock / 86400' ELSE '0 * itemid' END;
        query := format('SELECT %1$s AS key, count(*), count(v), %2$s, max(clock), sum(k) FROM (SELECT itemid, clock, %3$s AS v, %4$s AS k FROM %5$s WHERE %6$s) x GROUP BY %1$s', key, CASE WHEN c.tab ~ '_' THEN 'trim_scale(min(v)), trim_scale(max(v)), sum(v)' ELSE 'min(v) + 0, max(v) + 0' END, CASE c.tab WHEN 'trends' THEN 'value_avg' ELSE 'value' END, CASE c.tab WHEN 'trends' THEN 'num' ELSE 'ns' END, c.tab, c.condition);
        SET zbxhist.enable_aggregate_scan = on;
        EXECUTE format('SELECT string_agg(x::text, '' '' ORDER BY x::text) FROM (%s) x', query) INTO found;
        SET zbxhist.enable_aggregate_scan = off;
        EXECUTE format('SELECT string_agg(x::text, '' '' ORDER BY x::text) FROM (%s) x', query) INTO of_rows;
        SET zbxhist.enable_packed_scan_pruning = off;
        EXECUTE format('SELECT string_agg(x::text, '' '' ORDER BY x::text) FROM (%s) x', query) INTO expected;
        RESET zbxhist.enable_packed_scan_pruning;
        IF found IS DISTINCT FROM expected OR of_rows IS DISTINCT FROM expected THEN
            result := format(E'%s %s\n  %s\n  %s', c.tab, c.condition, left(found, 200), left(expected, 200));
            RETURN NEXT;
        END IF;
        n := n + 1;
        filled := filled + (found IS NOT NULL)::integer;
        IF n % 20 = 0 THEN
            SET zbxhist.enable_aggregate_scan = on;
            scans := scans + (of_plan(query, 'Segments Decoded') IS NOT NULL)::integer;
            made := made + coalesce(of_plan(query, 'Packed Rows Made'), 0)::integer;
        END IF;
    END LOOP;
    RESET zbxhist.enable_aggregate_scan;
    result := format('%s conditions, some rows: %s, by the scan: %s, packed rows made: %s', n, filled > n / 2, scans > n / 40, made);
    RETURN NEXT;
END $$;
-- every operator with every constant
INSERT INTO conditions SELECT 'history', format('value %s %L::%s', op, v, type) FROM unnest('{<,<=,=,>=,>,<>}'::text[]) op, numbers v(n, v), unnest('{float8,float4}'::text[]) type WHERE type = 'float8' OR v IN ('5.5', '-0', 'NaN', 'Infinity', '9007199254740993');
INSERT INTO conditions SELECT tab, format('value %s %L::numeric', op, v) FROM unnest('{<,<=,=,>=,>,<>}'::text[]) op, wide v(n, v), unnest('{history_uint,history_any}'::text[]) tab;
INSERT INTO conditions SELECT 'trends', format('%L::%s %s num', v, type, op) FROM unnest('{<,<=,=,>=,>,<>}'::text[]) op, unnest('{-2147483648,-30,0,60,2147483647}'::bigint[]) v, unnest('{integer,bigint}'::text[]) type;
INSERT INTO conditions SELECT 'trends', format('num %s %s', op, v) FROM unnest('{<,<=,=,>=,>,<>}'::text[]) op, unnest('{-9223372036854775808,9223372036854775807,''7''::smallint}'::text[]) v;
-- lists, nulls, AND, OR, other columns
INSERT INTO conditions SELECT tab, condition FROM unnest('{history,history_uint,history_any}'::text[]) tab, unnest('{"value IN (0, 5, 7)", "value NOT IN (0, 5)", "value = ANY (''{}'')", "value <> ALL (''{}'')", "value = ANY (''{5,NULL}'')",
    "value <> ALL (''{5,NULL}'')", "value = ANY (''{5,5,6,NaN}'')", "value <> ALL (''{0,1,2,3,4,5,6,7,8,9}'')", "value IS NULL", "value IS NOT NULL", "value = NULL::numeric::double precision OR value IS NULL", "value BETWEEN 2 AND 6", "value NOT BETWEEN 2 AND 6",
    "value BETWEEN SYMMETRIC 6 AND 2", "value > 3 OR value IS NULL", "(value > 3 AND clock < 100000) OR (value < 2 AND ns = 1)", "NOT (value > 3 OR ns = 2)", "ns = 1", "ns IN (0, 2) AND value > 5", "itemid = 4 AND value > 5 OR itemid = 5 AND value IS NULL",
    "value > 3 AND clock >= 90000 AND clock < 200000", "clock < 90000 OR clock BETWEEN 170000 AND 180000", "value > 5 AND itemid % 2 = 0", "itemid NOT IN (1, 3) AND value <> 5", "(clock = 86460 OR clock = 190000) AND ns <> 0", "value >= 5 AND value <= 5"}'::text[]) condition;
SELECT * FROM run_conditions();
-- the same as FILTER of some aggregates, beside others
CREATE FUNCTION run_filters(OUT result text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE c record; query text; found text; of_rows text; expected text; n integer := 0; scans integer := 0; made integer := 0; filled integer := 0;
BEGIN
    FOR c IN SELECT * FROM conditions ORDER BY tab, condition LOOP
        query := format('SELECT %1$s AS key, count(*) FILTER (WHERE %2$s), count(v) FILTER (WHERE %2$s), max(clock) FILTER (WHERE %2$s), sum(itemid) FILTER (WHERE %2$s), %3$s, count(*) FROM (SELECT *, %4$s AS v FROM (SELECT *%5$s FROM %6$s) y) x %7$s GROUP BY %1$s',
            CASE n % 4 WHEN 0 THEN 'itemid' WHEN 1 THEN 'clock / 3600' WHEN 2 THEN 'clock / 86400' ELSE '0 * itemid' END, c.condition,
            CASE WHEN c.tab ~ '_' THEN 'trim_scale(min(v) FILTER (WHERE ' || c.condition || ')), sum(v)' ELSE 'max(v) FILTER (WHERE ' || c.condition || ') + 0, min(v) + 0' END,
            CASE c.tab WHEN 'trends' THEN 'value_avg' ELSE 'value' END, CASE c.tab WHEN 'trends' THEN ', num AS ns' ELSE '' END, c.tab, CASE n % 3 WHEN 0 THEN 'WHERE ns > 0' ELSE '' END);
        SET zbxhist.enable_aggregate_scan = on;
        EXECUTE format('SELECT string_agg(x::text, '' '' ORDER BY x::text) FROM (%s) x', query) INTO found;
        SET zbxhist.enable_aggregate_scan = off;
        EXECUTE format('SELECT string_agg(x::text, '' '' ORDER BY x::text) FROM (%s) x', query) INTO of_rows;
        SET zbxhist.enable_packed_scan_pruning = off;
        EXECUTE format('SELECT string_agg(x::text, '' '' ORDER BY x::text) FROM (%s) x', query) INTO expected;
        RESET zbxhist.enable_packed_scan_pruning;
        IF found IS DISTINCT FROM expected OR of_rows IS DISTINCT FROM expected THEN
            result := format(E'%s %s\n  %s\n  %s', c.tab, c.condition, left(found, 200), left(expected, 200));
            RETURN NEXT;
        END IF;
        n := n + 1;
        filled := filled + (found IS NOT NULL)::integer;
        IF n % 20 = 0 THEN
            SET zbxhist.enable_aggregate_scan = on;
            scans := scans + (of_plan(query, 'Segments Decoded') IS NOT NULL)::integer;
            made := made + coalesce(of_plan(query, 'Packed Rows Made'), 0)::integer;
        END IF;
    END LOOP;
    RESET zbxhist.enable_aggregate_scan;
    result := format('%s conditions, some rows: %s, by the scan: %s, packed rows made: %s', n, filled > n / 2, scans > n / 40, made);
    RETURN NEXT;
END $$;
SELECT * FROM run_filters();
-- what statistics say nothing of, with the same answers
TRUNCATE conditions;
INSERT INTO conditions SELECT tab, condition FROM unnest('{history,history_uint}'::text[]) tab, unnest('{"value > ns", "value + 0 > 5", "(value > 5) IS NOT TRUE", "value > 5 OR clock % 7 = 0", "value > 5 AND clock % 7 = 0", "value::text > ''5''", "value < ANY (''{3,4}'')", "value::numeric(5,1) = 5.5 AND value < 1000 AND value > -1000", "(value > 5) = (ns = 1)"}'::text[]) condition
    WHERE condition NOT LIKE '%numeric(5%' OR tab = 'history_uint';
INSERT INTO conditions VALUES ('history', 'value > 5.5::numeric::real'), ('history_uint', 'value > 5.5::double precision'), ('trends', 'num > 5.5');
SELECT count(*) AS different FROM run_conditions() r WHERE r NOT LIKE '%conditions, some rows%';
DELETE FROM conditions WHERE condition LIKE '%numeric(5%';
SELECT count(*) AS different FROM run_filters() r WHERE r NOT LIKE '%conditions, some rows%';
SELECT of_plan('SELECT * FROM history_uint WHERE value > 1e19', 'Segments Skipped');
-- statistics leave segments out, or take them whole
CREATE FUNCTION plan_of(command text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || command LOOP
        CONTINUE WHEN line !~ '(Segments|Column Filter|Packed Rows|Packed Filter|Values)';
        RETURN NEXT line;
    END LOOP;
END $$;
SELECT * FROM plan_of('SELECT count(*), sum(value) FROM history WHERE itemid IN (2, 4, 7) AND value <= 9');
SELECT * FROM plan_of('SELECT itemid, max(value) FROM history_uint WHERE value > 1e19 GROUP BY itemid');
SELECT * FROM plan_of('SELECT max(value) FROM history_uint WHERE value IN (5, 18446744073709551400)');
SELECT * FROM plan_of('SELECT count(*) FILTER (WHERE value <= 9), count(*) FROM history WHERE itemid IN (2, 4, 7)');
SELECT * FROM plan_of('SELECT itemid, max(value) FILTER (WHERE itemid < 4) FROM history_uint GROUP BY itemid');
-- parameters, of generic plans too, are evaluated anew each time
SET plan_cache_mode = force_generic_plan;
PREPARE above(double precision, integer[]) AS SELECT count(*), sum(value) FROM history WHERE itemid = ANY ('{2,4,5,7}') AND clock < 259200 AND value > $1 AND ns = ANY ($2);
EXECUTE above(3, '{0,1,2}');
EXECUTE above('NaN', '{0,1,2}');
EXECUTE above(-1000, '{}');
EXECUTE above(NULL, '{1}');
EXECUTE above(-1000, NULL);
SELECT * FROM plan_of('EXECUTE above(3, ''{0,1,2}'')');
-- what an OR does not come to does not fail
PREPARE parted(double precision) AS SELECT count(*) FROM history WHERE itemid = 2 AND clock < 259200 AND (value = 5 OR value > 1 / $1);
EXECUTE parted(0);
PREPARE cast_down(numeric) AS SELECT count(*), count(*) FILTER (WHERE value IS NOT NULL OR ns = $1::integer) FROM history WHERE itemid = 2 AND clock < 259200 AND (value IS NOT NULL OR value IS NULL OR ns = $1::integer);
EXECUTE cast_down(1e30);
PREPARE below(text) AS SELECT count(*) FROM history_uint WHERE itemid = $1::bigint AND value < $1::numeric;
EXECUTE below('4');
RESET plan_cache_mode;
-- the answer to no rows, and a group without rows that pass is none
SELECT count(*), sum(value), max(clock) FROM history WHERE value = 12345;
SELECT itemid, count(*) FROM history WHERE value = 9 AND itemid > 2 GROUP BY itemid ORDER BY itemid;
-- a type of our own ordering, or a function with side effects, is evaluated by PostgreSQL
CREATE FUNCTION noisy(double precision, double precision) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE WARNING 'called'; RETURN $1 > $2; END $$;
CREATE OPERATOR >>> (LEFTARG = double precision, RIGHTARG = double precision, FUNCTION = noisy);
SELECT of_plan('SELECT count(*) FROM history WHERE itemid = 99 AND value >>> 5', 'Segments Decoded') IS NULL AS planned_as_before;
-- a column of another type since, or one that days have not got
BEGIN;
ALTER TABLE history_uint ALTER value TYPE numeric;
ALTER TABLE history ADD COLUMN extra integer DEFAULT 5;
SELECT count(*), sum(value) FROM history_uint WHERE value = 5;
SELECT count(*) FROM history WHERE extra = 5 AND value = 5;
ALTER TABLE history_uint ALTER value TYPE double precision;
SELECT count(*) FROM history_uint WHERE value = 5;
ROLLBACK;
SELECT count(*) FROM history_uint WHERE value = 5;
-- FILTER with parameters, and one that is not of columns alone
SET plan_cache_mode = force_generic_plan;
PREPARE filtered(double precision) AS SELECT count(*) FILTER (WHERE value > $1), min(value) FILTER (WHERE value > $1) FROM history WHERE itemid IN (2, 4);
EXECUTE filtered(3);
EXECUTE filtered('-Infinity');
EXECUTE filtered(NULL);
RESET plan_cache_mode;
SELECT count(*) FILTER (WHERE value > ns), count(*) FILTER (WHERE true), count(value) FILTER (WHERE NULL) FROM history WHERE itemid = 4;
SELECT of_plan('SELECT count(*) FILTER (WHERE EXISTS (SELECT)) FROM history', 'Segments Decoded') IS NULL AS planned_as_before;
DROP SCHEMA aggregate_filter CASCADE;
