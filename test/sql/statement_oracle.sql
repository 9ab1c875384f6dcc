--
-- Every statement gives the same result in a managed table as in a plain one
-- of the same shape: the same SQLSTATE, the same number of rows, the same
-- contents.  The statements are random, and the same ones in each run.  All of
-- them run inside functions here; those of a client are in test/t.
--
\a \t
LOAD 'zbxhist';
SET client_min_messages = warning;
SET extra_float_digits = 1;
CREATE SCHEMA plain;
CREATE SCHEMA managed;
CREATE SCHEMA oracle;
SET search_path = oracle;

-- Zabbix's tables; n is the row's random number
CREATE TABLE shape (name text PRIMARY KEY, definition text, columns text, value text, bad text);
INSERT INTO shape VALUES
('history',
 $$value double precision DEFAULT '0.0000' NOT NULL, ns integer DEFAULT '0' NOT NULL$$, 'value',
 $$quote_literal((ARRAY['0', '-0', '1.5', '0.1', '-1.7976931348623157E+308', '4.9406564584124654E-324', 'NaN', 'Infinity'])[1 + n % 8])$$,
 $$'abc'$$),
('history_uint',
 $$value numeric(20) DEFAULT '0' NOT NULL, ns integer DEFAULT '0' NOT NULL$$, 'value',
 $$(ARRAY['0', '1', '18446744073709551615', '9223372036854775808', '1000'])[1 + n % 5]$$,
 '100000000000000000000'),
('history_str',
 $$value varchar(255) DEFAULT '' NOT NULL, ns integer DEFAULT '0' NOT NULL$$, 'value',
 $$quote_literal(repeat(chr(32 + n % 500), n % 256))$$,
 $$repeat('x', 256)$$),
('history_log',
 $$timestamp integer DEFAULT '0' NOT NULL, source varchar(64) DEFAULT '' NOT NULL, severity integer DEFAULT '0' NOT NULL,
   value text DEFAULT '' NOT NULL, logeventid integer DEFAULT '0' NOT NULL, ns integer DEFAULT '0' NOT NULL$$,
 'timestamp, source, severity, value, logeventid',
 $$format('%s, %L, %s, %L, %s', n, 'source ''' || n % 7, n % 4, repeat(e'line\\\n' || n, n % 50), n % 9)$$,
 $$0, '', 2147483648, '', 0$$),
('history_text',
 $$value text DEFAULT '' NOT NULL, ns integer DEFAULT '0' NOT NULL$$, 'value',
 $$quote_literal((SELECT string_agg(md5((n * 100 + i)::text), '') FROM generate_series(0, n % 5 * (n % 37)) i))$$,
 'NULL'),
('history_bin',
 $$ns integer DEFAULT '0' NOT NULL, value bytea DEFAULT '' NOT NULL$$, 'value',
 $$quote_literal(repeat(e'\\000\\377\\\\a', n % 99))$$,
 $$'\x1'$$),
('history_json',
 $$ns integer DEFAULT '0' NOT NULL, value json NOT NULL$$, 'value',
 $$quote_literal(json_build_object('n', n, 'a', ARRAY[n % 3, 1]))$$,
 $$'{'$$),
('trends',
 $$num integer DEFAULT '0' NOT NULL, value_min double precision DEFAULT '0.0000' NOT NULL,
   value_avg double precision DEFAULT '0.0000' NOT NULL, value_max double precision DEFAULT '0.0000' NOT NULL$$,
 'num, value_min, value_avg, value_max',
 $$format('%s, %s, %s, %s', n, n % 3, n / 7.0, n)$$,
 '1, 1, NULL, 1'),
('trends_uint',
 $$num integer DEFAULT '0' NOT NULL, value_min numeric(20) DEFAULT '0' NOT NULL,
   value_avg numeric(20) DEFAULT '0' NOT NULL, value_max numeric(20) DEFAULT '0' NOT NULL$$,
 'num, value_min, value_avg, value_max',
 $$format('%s, %s, %s, 18446744073709551615', n, n % 3, n)$$,
 '1, 1, 1e20, 1');

-- days (months for trends) with and without a partition, the ends of int4
CREATE TABLE clocks (is_trends boolean, clock integer[]);
INSERT INTO clocks VALUES
    (false, '{86400,86401,172799,172800,200000,259199,259200,345600,400000,0,-1,-2147483648,2147483647}'),
    (true, '{0,3600,2674800,2678400,2682000,5097600,7776000,10000800,-3600,2147482800}');

-- random numbers that are the same in every version of PostgreSQL
CREATE SEQUENCE random_state MINVALUE 0 START 1;
CREATE SEQUENCE fresh;
CREATE FUNCTION pick(n integer) RETURNS integer LANGUAGE sql AS $$
    SELECT (setval('oracle.random_state', ((s.last_value * 1103515245 + 12345) & 2147483647)) / 65536 % n)::integer
      FROM oracle.random_state s
$$;
CREATE FUNCTION pick(VARIADIC words text[]) RETURNS text LANGUAGE sql AS $$
    SELECT words[1 + oracle.pick(cardinality(words))]
$$;

-- the two sides
CREATE FUNCTION create_tables() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    s record;
    side text;
BEGIN
    FOR s IN SELECT * FROM shape ORDER BY name LOOP
        FOREACH side IN ARRAY ARRAY['plain', 'managed'] LOOP
            EXECUTE format('CREATE TABLE %I.%I (itemid bigint NOT NULL, clock integer DEFAULT ''0'' NOT NULL, %s, PRIMARY KEY (itemid, clock%s))',
                           side, s.name, s.definition, CASE WHEN s.name NOT LIKE 'trends%' THEN ', ns' END);
        END LOOP;
        EXECUTE format('CREATE TABLE oracle.staged_%1$s (LIKE plain.%1$I)', s.name);
        PERFORM zbxhist.create_parent(format('managed.%I', s.name)::regclass,
            CASE WHEN s.name LIKE 'trends%' THEN '1 month'::interval ELSE '1 day' END);
    END LOOP;
END $$;
SELECT create_tables();

-- keys: fresh ones, or few so that they come again
CREATE FUNCTION make_rows(tab text, nrows integer, keys text, is_bad boolean) RETURNS text[]
LANGUAGE plpgsql AS $$
DECLARE
    s CONSTANT shape := (SELECT s FROM shape s WHERE name = tab);
    with_ns CONSTANT boolean := tab NOT LIKE 'trends%';
    result text[];
BEGIN
    EXECUTE format($q$
        SELECT array_agg(format('(%%s, %%s%%s, %%s)',
                   CASE WHEN %L = 'fresh' THEN 100000 * $2 + r ELSE n %% 60 END,
                   c.clock[1 + n / 60 %% least($4, cardinality(c.clock))],
                   CASE WHEN %L::boolean THEN ', ' || n %% 2 END,
                   %s) ORDER BY r)
          FROM (SELECT r, ((r * 7919::bigint + $3) * 104729 %% 1000003)::integer AS n
                  FROM generate_series(1, $1) r) g, oracle.clocks c
         WHERE c.is_trends <> %2$L::boolean $q$, keys, with_ns, s.value)
       INTO result
      USING nrows, nextval('oracle.fresh'), pick(30000), CASE pick(3) WHEN 0 THEN 1 WHEN 1 THEN 4 ELSE 13 END;
    IF is_bad THEN
        result[1 + pick(nrows)] := format('(%s, 86400%s, %s)', nextval('oracle.fresh'),
                                          CASE WHEN with_ns THEN ', 0' END, s.bad);
    END IF;
    RETURN result;
END $$;

CREATE FUNCTION column_list(tab text) RETURNS text LANGUAGE sql AS $$
    SELECT 'itemid, clock' || CASE WHEN tab NOT LIKE 'trends%' THEN ', ns' ELSE '' END || ', ' || columns
      FROM oracle.shape WHERE name = tab
$$;

CREATE FUNCTION typed_list(tab text) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(format('%s::text::%s', c, format_type(a.atttypid, a.atttypmod)), ', ' ORDER BY i)
      FROM string_to_table(oracle.column_list(tab), ', ') WITH ORDINALITY t (c, i)
      JOIN pg_attribute a ON a.attrelid = format('plain.%I', tab)::regclass AND a.attname = c
$$;

CREATE FUNCTION make_insert(tab text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    is_bad CONSTANT boolean := pick(12) = 0;
    keys CONSTANT text := CASE WHEN is_bad THEN 'fresh' ELSE pick('fresh', 'small') END;
    -- few rows if a duplicate is to be possible but not certain
    nrows CONSTANT integer := CASE WHEN keys = 'small' THEN 1 + pick(6)
        WHEN pick(12) = 0 THEN 1000 + pick(2000) ELSE 1 + pick(40) END;
    rows CONSTANT text := array_to_string(make_rows(tab, nrows, keys, is_bad), ', ');
    target CONSTANT text := format('INSERT INTO %I (%s)', tab, column_list(tab));
BEGIN
    RETURN CASE pick(10)
        WHEN 0 THEN format('%s SELECT %s FROM (VALUES %s) v (%s)', target, typed_list(tab), rows, column_list(tab))
        WHEN 1 THEN format('%s VALUES %s ON CONFLICT DO NOTHING', target, rows)
        WHEN 2 THEN format('%s VALUES %s RETURNING md5(%I::text)', target, rows, tab)
        WHEN 3 THEN format('WITH a AS (%s VALUES %s) %s VALUES %s', target, rows, target,
                           array_to_string(make_rows(tab, nrows, keys, false), ', '))
        ELSE format('%s VALUES %s', target, rows)
    END;
END $$;

-- blocks, some of which fail and are caught
CREATE FUNCTION make_block(tab text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN format($q$
        DO $do$
        BEGIN
            %s;
            BEGIN
                %s;
                BEGIN
                    %s;
                    IF %L THEN RAISE division_by_zero; END IF;
                EXCEPTION WHEN division_by_zero OR unique_violation THEN
                    %s;
                END;
                %s;
            EXCEPTION WHEN unique_violation OR data_exception THEN
                %s;
            END;
        END $do$ $q$,
        make_plain_insert(tab), make_plain_insert(tab), make_plain_insert(tab), pick(2) = 0,
        make_plain_insert(tab), make_plain_insert(tab), make_plain_insert(tab));
END $$;
CREATE FUNCTION make_plain_insert(tab text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    LOOP
        result := make_insert(tab);
        IF result NOT LIKE '% RETURNING %' THEN RETURN result; END IF;
    END LOOP;
END $$;

CREATE FUNCTION make_statement(tab text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    value CONSTANT text := (SELECT split_part(columns, ', ', 1) FROM shape WHERE name = tab);
BEGIN
    RETURN CASE pick(24)
        WHEN 0 THEN format('DELETE FROM %I WHERE itemid %% 7 = %s', tab, pick(7))
        WHEN 1 THEN format('DELETE FROM %I WHERE itemid = %s', tab, pick(60))
        WHEN 2 THEN format('DELETE FROM %I WHERE clock < %s AND itemid < 60', tab, pick(300000))
        WHEN 3 THEN format('UPDATE %1$I SET %2$I = (SELECT %2$I FROM %1$I ORDER BY md5(%1$I::text) LIMIT 1) WHERE itemid = %3$s', tab, value, pick(60))
        WHEN 4 THEN CASE WHEN pick(6) = 0 THEN format('TRUNCATE %I', tab) ELSE make_insert(tab) END
        WHEN 5 THEN format('INSERT INTO %1$I (%2$s) SELECT %3$s FROM %1$I WHERE itemid < 60', tab, column_list(tab),
                           replace(column_list(tab), 'itemid, clock', pick('itemid + 60, clock', 'itemid, clock # 1048576', 'itemid, clock')))
        WHEN 6 THEN format('MERGE INTO %1$I t USING (SELECT %5$s FROM (VALUES %2$s) x (%3$s)) v (%3$s) ON t.itemid = v.itemid AND t.clock = v.clock
                            WHEN NOT MATCHED THEN INSERT (%3$s) VALUES (v.%4$s) WHEN MATCHED THEN DELETE',
                           tab, array_to_string(make_rows(tab, 5, 'fresh', false), ', '), column_list(tab),
                           replace(column_list(tab), ', ', ', v.'), typed_list(tab))
        WHEN 7 THEN format('DELETE FROM %1$I WHERE clock = %2$s AND itemid %% 5 = %3$s; UPDATE %1$I SET %4$I = (SELECT %4$I FROM %1$I ORDER BY md5(%1$I::text) LIMIT 1) WHERE clock > 86400 AND clock <= %5$s',
                           tab, (SELECT c.clock[1 + pick(8)] FROM clocks c WHERE c.is_trends = (tab LIKE 'trends%')), pick(5), value, 86400 + pick(300000))
        WHEN 12 THEN format('DELETE FROM %I WHERE clock = %s AND itemid < %s', tab,
                            (SELECT c.clock[1 + pick(10)] FROM clocks c WHERE c.is_trends = (tab LIKE 'trends%')), pick(60))
        WHEN 13 THEN format('UPDATE %I SET %s = DEFAULT WHERE clock >= %s AND clock < %s', tab, value,
                            (SELECT c.clock[1 + pick(10)] FROM clocks c WHERE c.is_trends = (tab LIKE 'trends%')), pick(10000000))
        WHEN 8 THEN make_block(tab)
        WHEN 9 THEN format('PREPARE p AS %s; EXECUTE p; EXECUTE p; DEALLOCATE p', make_insert(tab))
        WHEN 11 THEN format('TRUNCATE oracle.staged_%1$s; INSERT INTO oracle.staged_%1$s (%2$s) VALUES %3$s; COPY oracle.staged_%1$s TO %4$L; COPY %1$I FROM %4$L',
                            tab, column_list(tab), array_to_string(make_rows(tab, 1 + pick(1500) / (1 + pick(300)), pick('fresh', 'small'), false), ', '),
                            current_setting('data_directory') || '/zbxhist_oracle_' || current_database())
        WHEN 10 THEN make_insert(tab) || '; ' || make_insert(tab)
        ELSE make_insert(tab)
    END;
END $$;

-- what happens to the managed side between statements
CREATE FUNCTION disturb(tab text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    target CONSTANT regclass := format('managed.%I', tab)::regclass;
    p record;
    what integer;
BEGIN
    PERFORM zbxhist.create_partition(target, '1970-01-02');
    SELECT * INTO p FROM zbxhist.list_partitions(target) WHERE to_clock < 50000000
     ORDER BY pick(1000) LIMIT 1;
    what := CASE WHEN p.partition IS NULL THEN 5 + pick(4) ELSE pick(10) END;
    CASE what
        WHEN 9 THEN
            PERFORM zbxhist_internal.step_verify(target);
        WHEN 0, 1 THEN
            PERFORM zbxhist.create_partition(target, date '1970-01-01' + pick(6) * CASE WHEN tab LIKE 'trends%' THEN 31 ELSE 1 END);
        WHEN 2 THEN
            PERFORM zbxhist_internal.move_rows(target, p.partition, p.from_clock, p.to_clock, NULL, 1 + pick(3000));
        WHEN 3 THEN
            PERFORM zbxhist_internal.move_rows(p.partition, target, p.from_clock, p.to_clock, NULL, 1 + pick(3000));
        WHEN 4 THEN
            PERFORM zbxhist_internal.move_rows(p.partition, target, p.from_clock, p.to_clock, NULL, 2000000000);
            EXECUTE format('DROP TABLE %s', p.partition);
        WHEN 5 THEN
            UPDATE zbxhist.parent_config c SET routing = NOT routing WHERE c.parent = target;
            PERFORM zbxhist_internal.invalidate(target);
        WHEN 6 THEN
            PERFORM set_config('zbxhist.enable_batching', pick('on', 'off'), false);
        WHEN 7 THEN
            PERFORM set_config('zbxhist.enable_routing', pick('on', 'on', 'off'), false);
        ELSE
            PERFORM set_config('plan_cache_mode', pick('auto', 'force_generic_plan', 'force_custom_plan'), false);
    END CASE;
END $$;

-- the differences found
CREATE TABLE difference (step integer, tab text, statement text, plain text, managed text);
CREATE TABLE outcome (result text, times bigint);

CREATE FUNCTION run_on(side text, statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
    r text;
BEGIN
    PERFORM set_config('search_path', side || ', oracle', true);
    IF statement LIKE '% RETURNING %' AND statement NOT LIKE '%; %' THEN
        EXECUTE format('WITH w AS (%s) SELECT coalesce(string_agg(w::text, '','' ORDER BY w::text), ''none'') FROM w', statement) INTO r;
        RETURN 'rows: ' || md5(r);
    END IF;
    EXECUTE statement;
    GET DIAGNOSTICS n = ROW_COUNT;
    RETURN 'rows: ' || n;
EXCEPTION WHEN OTHERS THEN
    IF EXISTS (SELECT FROM pg_prepared_statements WHERE name = 'p') THEN
        DEALLOCATE p;
    END IF;
    RETURN SQLSTATE;
END $$;

CREATE FUNCTION compare_tables(step integer, tab text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM ((SELECT p::text FROM plain.%1$I p EXCEPT ALL SELECT m::text FROM managed.%1$I m)
                                UNION ALL (SELECT m::text FROM managed.%1$I m EXCEPT ALL SELECT p::text FROM plain.%1$I p)) d', tab) INTO n;
    IF n > 0 THEN
        INSERT INTO difference VALUES (step, tab, 'contents', n);
        RAISE WARNING 'step %: % rows of % differ', step, n, tab;
    END IF;
END $$;

CREATE PROCEDURE run_steps(seed integer, steps integer) LANGUAGE plpgsql AS $$
DECLARE
    tab text;
    statement text;
    one text;
    other text;
BEGIN
    PERFORM setval('oracle.random_state', seed);
    FOR step IN 1 .. steps LOOP
        tab := (SELECT name FROM oracle.shape ORDER BY name LIMIT 1 OFFSET oracle.pick(9));
        PERFORM set_config('search_path', 'oracle', true);
        IF pick(3) = 0 THEN
            PERFORM disturb(tab);
            IF pick(2) = 0 THEN COMMIT; END IF;
        END IF;
        statement := oracle.make_statement(tab);
        one := oracle.run_on('plain', statement);
        other := oracle.run_on('managed', statement);
        IF one <> other THEN
            INSERT INTO oracle.difference VALUES (step, tab, statement, one, other);
            RAISE WARNING 'seed %, step %: % <> %: %', seed, step, one, other, left(statement, 300);
        END IF;
        INSERT INTO oracle.outcome VALUES (CASE WHEN one LIKE 'rows:%' THEN 'success' ELSE one END, 1);
        IF pick(4) = 0 THEN COMMIT; END IF;
        IF step % 10 = 0 THEN PERFORM oracle.compare_tables(step, tab); END IF;
    END LOOP;
    FOR tab IN SELECT name FROM oracle.shape LOOP
        PERFORM oracle.compare_tables(steps, tab);
    END LOOP;
    COMMIT;
END $$;
SET search_path = oracle;

-- more of them: psql -v seed=7 -v steps=5000
\if :{?seed}
\else
\set seed 1
\set steps 250
\endif
CALL run_steps(:seed, :steps);
SELECT * FROM difference;
SELECT DISTINCT result FROM outcome ORDER BY 1;

DO $$ BEGIN
    EXECUTE format('COPY (SELECT) TO PROGRAM %L',
                   format('cat >/dev/null; rm -f "%s"', current_setting('data_directory') || '/zbxhist_oracle_' || current_database()));
END $$;
DROP SCHEMA plain, managed, oracle CASCADE;
SELECT zbxhist_internal.forget_dropped();
