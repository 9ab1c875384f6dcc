-- The same statements into three tables: a parent with fast INSERTs, a parent with these
-- switched off, and a plain table.  Rows, SQLSTATEs and row counts must be the same.
\a \t
LOAD 'zbxhist';
SET client_min_messages = warning;
CREATE SCHEMA diff;
SET search_path = diff, zbxhist_partitions;
CREATE TABLE history_p      (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, value double precision DEFAULT '0.0000' NOT NULL, ns integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE history_uint_p (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, value numeric(20) DEFAULT '0' NOT NULL, ns integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE history_str_p  (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, value varchar(255) DEFAULT '' NOT NULL, ns integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE history_text_p (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, value text DEFAULT '' NOT NULL, ns integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE history_log_p  (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, timestamp integer DEFAULT '0' NOT NULL, source varchar(64) DEFAULT '' NOT NULL,
                             severity integer DEFAULT '0' NOT NULL, value text DEFAULT '' NOT NULL, logeventid integer DEFAULT '0' NOT NULL, ns integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE history_bin_p  (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, ns integer DEFAULT '0' NOT NULL, value bytea DEFAULT '' NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE history_json_p (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, ns integer DEFAULT '0' NOT NULL, value json NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE trends_p       (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, num integer DEFAULT '0' NOT NULL, value_min double precision DEFAULT '0.0000' NOT NULL,
                             value_avg double precision DEFAULT '0.0000' NOT NULL, value_max double precision DEFAULT '0.0000' NOT NULL, PRIMARY KEY (itemid, clock));
CREATE TABLE trends_uint_p  (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, num integer DEFAULT '0' NOT NULL, value_min numeric(20) DEFAULT '0' NOT NULL,
                             value_avg numeric(20) DEFAULT '0' NOT NULL, value_max numeric(20) DEFAULT '0' NOT NULL, PRIMARY KEY (itemid, clock));
CREATE TABLE kinds AS
SELECT left(relname, -2) AS kind FROM pg_class
 WHERE relnamespace = 'diff'::regnamespace AND relkind = 'r' AND relname LIKE '%\_p';
SELECT count(*) AS kinds FROM kinds;
DO $$
DECLARE
    k record;
    suffix text;
BEGIN
    FOR k IN SELECT kind FROM kinds LOOP
        FOREACH suffix IN ARRAY ARRAY['_f', '_s'] LOOP
            EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', k.kind || suffix, k.kind || '_p');
            PERFORM zbxhist.create_parent((k.kind || suffix)::regclass);
            PERFORM zbxhist.create_partition((k.kind || suffix)::regclass, '1970-01-02');
            PERFORM zbxhist.create_partition((k.kind || suffix)::regclass, '1970-01-03');
        END LOOP;
    END LOOP;
END $$;

-- ---- statements ----

CREATE FUNCTION pick(VARIADIC choices text[]) RETURNS text LANGUAGE sql VOLATILE AS
$$ SELECT choices[1 + floor(random() * cardinality(choices))::integer] $$;

CREATE FUNCTION digits(most integer) RETURNS text LANGUAGE sql VOLATILE AS
$$ SELECT coalesce(string_agg(floor(random() * 10)::text, ''), '')
     FROM generate_series(1, floor(random() * (most + 1))::integer) $$;

-- a literal for a column, in one of the ways it can be written
CREATE FUNCTION literal_of(type text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    n text := '1' || digits(8);
BEGIN
    CASE type
    WHEN 'double precision' THEN
        n := pick('', '-') || '0' || digits(pick('2', '9', '20')::integer) || '.' || '0' || digits(pick('2', '16', '25')::integer);
        RETURN pick(n, n, n, n || 'e' || pick('1', '-1', '12', '-12', '30', '-30', '200', '-200'), '''' || n || '''',
                    digits(7) || '0', n || '::real', n || '::double precision', n || '::numeric', 'DEFAULT',
                    '''NaN''', '''-Infinity''', '''Infinity''::float8', '1 + 1', '(SELECT 0.5)');
    WHEN 'numeric' THEN
        RETURN pick(n, '1' || digits(18), '18446744073709551615', '0' || digits(17) || '.4', '0' || digits(15) || '.5', '''' || n || '''',
                    n || '::bigint', n || '::numeric', 'DEFAULT', '2 * 3', n || '.25::double precision');
    WHEN 'integer' THEN
        RETURN pick(n, n, n, '''' || n || '''', n || '::bigint', n || '.4', n || '::text::integer', '-' || n, 'DEFAULT');
    WHEN 'bytea' THEN
        RETURN pick('''\x00ff' || n || repeat('00', length(n) % 2) || '''', '''abc''::bytea', '''\000\\\377''', 'DEFAULT', 'decode(''00'', ''hex'')');
    WHEN 'json' THEN
        RETURN pick('''{"a": ' || n || '}''', '''[]''::json', '''null''', 'to_json(1)');
    ELSE
        RETURN pick('''' || n || '''', '''''', 'DEFAULT', '''it''''s \ ' || n || '''', '''' || n || '''::varchar(5)', '''' || n || '''::text',
                    '''' || n || '''::char(20)', n || '::text', 'repeat(''x'', 60)', '''' || repeat('long ', 12) || '''', 'E''\u00e9''');
    END CASE;
END $$;

-- one fault at most in a statement, so that it has one SQLSTATE
CREATE FUNCTION faulty_literal(type text, fault text) RETURNS text LANGUAGE sql VOLATILE AS $$
    SELECT CASE fault WHEN 'null' THEN pick('NULL', 'NULL::integer::text::' || type)
                      WHEN 'range' THEN CASE type WHEN 'integer' THEN '2147483648' WHEN 'double precision' THEN '1e400'
                                                  WHEN 'numeric' THEN '100000000000000000000'
                                                  WHEN 'character varying' THEN '''' || repeat('x', 300) || ''''
                                                  ELSE '(1 / 0)::text::' || type END
                      WHEN 'type' THEN CASE type WHEN 'text' THEN '1::oid' WHEN 'character varying' THEN 'now()' ELSE '''{x''' END END $$;

-- a statement with a %s for its table; large ones have simple values
CREATE FUNCTION statement_for(kind text, nrows integer, fault text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    c record;
    values_of text[];
    result text;
    row_parts text;
    bad_column integer;
    bad_row integer := 1 + floor(random() * nrows);
    has_ns boolean := kind !~ 'trends';
    at text := pick('86400', '86400', '172790', '0', '-5', '259200');
BEGIN
    SELECT array_agg(a ORDER BY random()) FILTER (WHERE name NOT IN ('itemid', 'clock', 'ns') AND (random() < 0.8 OR type = 'json'))
      INTO values_of
      FROM (SELECT attname AS name, regexp_replace(format_type(atttypid, NULL), '\(.*', '') AS type,
                   attname || '/' || format_type(atttypid, NULL) AS a
              FROM pg_attribute WHERE attrelid = (kind || '_p')::regclass AND attnum > 0) x;
    bad_column := CASE WHEN fault IN ('null', 'range', 'type') THEN 1 + floor(random() * cardinality(values_of)) END;
    result := '';
    FOR i IN 1 .. nrows LOOP
        row_parts := '';
        FOR k IN 1 .. coalesce(cardinality(values_of), 0) LOOP
            row_parts := row_parts || CASE WHEN i = bad_row AND k = bad_column
                THEN faulty_literal(split_part(values_of[k], '/', 2), fault)
                WHEN nrows > 200 THEN pick('DEFAULT', '1', '''2''') ELSE literal_of(split_part(values_of[k], '/', 2)) END || ', ';
        END LOOP;
        IF kind = 'history_json' AND nrows > 200 THEN
            row_parts := '''{}'', ';
        END IF;
        result := result || format(', (%s%s, %s%s)', row_parts,
            CASE WHEN fault = 'duplicate' AND i IN (1, nrows) THEN -7 ELSE nextval('items') END,
            CASE WHEN fault = 'duplicate' AND i IN (1, nrows) THEN 86400 ELSE at::integer + i % 200 END,
            CASE WHEN has_ns THEN ', 1' ELSE '' END);
    END LOOP;
    RETURN format('INSERT INTO %%s (%s itemid, clock%s) VALUES %s',
                  (SELECT string_agg(split_part(v, '/', 1) || ',', ' ' ORDER BY n) FROM unnest(values_of) WITH ORDINALITY AS u (v, n)),
                  CASE WHEN has_ns THEN ', ns' ELSE '' END, substr(result, 3));
END $$;
CREATE SEQUENCE items;

-- ---- running them ----

CREATE FUNCTION outcome(statement text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    n bigint;
BEGIN
    EXECUTE statement;
    GET DIAGNOSTICS n = ROW_COUNT;
    RETURN n;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE;
END $$;
CREATE TABLE outcomes (kind text, statement text, fast text, slow text, plain text, is_fast boolean);

CREATE FUNCTION is_fast(statement text) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    line text;
BEGIN
    EXECUTE 'EXPLAIN ' || statement INTO line;
    RETURN line LIKE 'Custom Scan (ZbxhistInsert)%';
EXCEPTION WHEN OTHERS THEN
    RETURN NULL;
END $$;

CREATE FUNCTION compare(kind text, statement text) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    o outcomes;
BEGIN
    o.kind := kind;
    o.statement := statement;
    o.is_fast := is_fast(replace(statement, '%s', kind || '_f'));
    o.fast := outcome(replace(statement, '%s', kind || '_f'));
    PERFORM set_config('zbxhist.enable_fast_insert', 'off', true);
    o.slow := outcome(replace(statement, '%s', kind || '_s'));
    PERFORM set_config('zbxhist.enable_fast_insert', 'on', true);
    o.plain := outcome(replace(statement, '%s', kind || '_p'));
    INSERT INTO outcomes VALUES (o.*);
END $$;

SELECT setseed(0.6);
DO $$
DECLARE
    k record;
BEGIN
    FOR k IN SELECT kind, i FROM kinds, generate_series(1, 20) i ORDER BY kind COLLATE "C", i LOOP
        PERFORM compare(k.kind, statement_for(k.kind, CASE WHEN k.i % 3 = 0 THEN 1 ELSE pick('2', '3', '10', '30')::integer END,
                                              CASE WHEN k.i % 2 = 0 THEN pick('null', 'range', 'type', 'duplicate') END));
    END LOOP;
    FOR k IN SELECT kind, n, fault FROM kinds, unnest(ARRAY[1000, 1025, 5000, 1000], ARRAY[NULL, NULL, NULL, 'duplicate']) u (n, fault)
             ORDER BY kind COLLATE "C", n, fault LOOP
        PERFORM compare(k.kind, statement_for(k.kind, k.n, k.fault));
    END LOOP;
END $$;

-- enough of everything
SELECT count(*) AS statements, count(*) FILTER (WHERE is_fast) > 75 AS fast, count(*) FILTER (WHERE NOT is_fast) > 25 AS slow,
       count(*) FILTER (WHERE is_fast AND length(fast) = 5) > 15 AS fast_errors, count(DISTINCT fast) FILTER (WHERE length(fast) = 5) > 4 AS sqlstates
  FROM outcomes;
-- other outcomes
SELECT kind, left(statement, 200) AS statement, fast, slow, plain FROM outcomes
 WHERE fast IS DISTINCT FROM slow OR fast IS DISTINCT FROM plain;
-- other rows
CREATE FUNCTION rows_in(source text) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('SELECT md5(string_agg(t::text, E''\n'' ORDER BY t::text COLLATE "C")) FROM %I t', source) INTO result;
    RETURN result;
END $$;
SELECT kind, rows_in(kind || '_f') = rows_in(kind || '_p') AS fast, rows_in(kind || '_s') = rows_in(kind || '_p') AS slow
  FROM kinds ORDER BY kind COLLATE "C";

SET search_path = public, zbxhist_partitions;
DROP SCHEMA diff CASCADE;
SELECT zbxhist_internal.forget_dropped();
