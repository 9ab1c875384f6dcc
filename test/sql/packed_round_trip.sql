-- Packing and unpacking gives the same rows, bit by bit, whatever their values are.
\a \t
\set VERBOSITY terse
SET zbxhist.allow_packed_drop = on;
SET client_min_messages = warning;
SET timezone = 'UTC';
SET extra_float_digits = 1;

CREATE SCHEMA packed_round_trip;
SET search_path = packed_round_trip, public, zbxhist_partitions;

-- pseudo-random bits
CREATE FUNCTION bits(i bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN ('x' || substr(md5(i::text), 1, 16))::bit(64)::bigint;
CREATE FUNCTION pick(i bigint, choices anyarray) RETURNS anyelement LANGUAGE sql IMMUTABLE
AS 'SELECT choices[1 + abs(bits(i) % cardinality(choices))::integer]';
-- any bits as a double or real: these functions return their argument
CREATE FUNCTION double_of(bigint) RETURNS float8 LANGUAGE internal IMMUTABLE STRICT AS 'int8up';
CREATE FUNCTION real_of(integer) RETURNS float4 LANGUAGE internal IMMUTABLE STRICT AS 'int4up';

CREATE FUNCTION make_day(source regclass, day text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TABLE %I (first_itemid bigint NOT NULL, first_clock integer NOT NULL,'
        ' last_itemid bigint NOT NULL, last_clock integer NOT NULL, nrows integer NOT NULL,'
        ' payload bytea NOT NULL %s, PRIMARY KEY (first_itemid, first_clock))'
        ' WITH (toast_tuple_target = 8160)', day,
        (SELECT string_agg(format(', %I %s', attname, format_type(atttypid, atttypmod)), '' ORDER BY attnum)
           FROM pg_attribute WHERE attrelid = source AND attnum > 0 AND NOT attisdropped));
    EXECUTE format('ALTER TABLE %I ALTER payload SET STORAGE EXTERNAL', day);
END
$$;

-- autovacuum may hold an older snapshot for a moment
CREATE PROCEDURE pack(source regclass, day text) LANGUAGE plpgsql AS $$
DECLARE
    result record;
BEGIN
    LOOP
        COMMIT;
        BEGIN
            PERFORM make_day(source, day);
            EXECUTE format('LOCK TABLE %s IN SHARE MODE', source);
            PERFORM zbxhist_internal.pack_rows(source, day::regclass);
            RETURN;
        EXCEPTION WHEN object_not_in_prerequisite_state THEN
            NULL;
        END;
        PERFORM pg_sleep(0.01);
    END LOOP;
END
$$;

-- rows that are not there exactly as often in both tables
CREATE FUNCTION differences(a regclass, b regclass) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    result bigint;
BEGIN
    EXECUTE format('SELECT count(*)'
        ' FROM (SELECT row_number() OVER (ORDER BY x USING OPERATOR(pg_catalog.*<)) AS n, x FROM %s x) a'
        ' FULL JOIN (SELECT row_number() OVER (ORDER BY x USING OPERATOR(pg_catalog.*<)) AS n, x FROM %s x) b'
        ' USING (n) WHERE (a.x OPERATOR(pg_catalog.*=) b.x) IS NOT TRUE', a, b) INTO result;
    RETURN result;
END
$$;

CREATE PROCEDURE round_trip(source regclass) LANGUAGE plpgsql AS $$
DECLARE
    nrows bigint;
    packed bigint;
    unpacked bigint;
    problems bigint;
    groups bigint;
    different bigint;
BEGIN
    EXECUTE 'CREATE TABLE back (LIKE ' || source || ' INCLUDING ALL)';
    CALL pack(source, 'day');
    EXECUTE 'SELECT count(*) FROM ' || source INTO nrows;
    SELECT sum(d.nrows), count(*) INTO packed, groups FROM day d;
    SELECT count(*) INTO problems FROM zbxhist_internal.verify_day('day');
    unpacked := zbxhist_internal.unpack_rows('day', 'back');
    different := differences(source, 'back');
    RAISE INFO '%: % rows, packed %, unpacked %, problems %, different %, left %',
        source, nrows, packed, unpacked, problems, different, (SELECT count(*) FROM day d WHERE d.nrows > 0);
    DROP TABLE day, back;
END
$$;

-- ---- doubles: every kind of bits, at every kind of place ----

CREATE TABLE doubles (itemid bigint NOT NULL, clock integer NOT NULL DEFAULT 0,
    value double precision NOT NULL DEFAULT 0, ns integer NOT NULL DEFAULT 0,
    PRIMARY KEY (itemid, clock, ns));
INSERT INTO doubles
SELECT pick(i, '{-9223372036854775808,-1,0,1,2,99,10001,9223372036854775807}'::bigint[]),
       CASE i % 4 WHEN 0 THEN pick(i + 1, '{-2147483648,-2147483647,-1,0,1,2147483646,2147483647}'::integer[])
                  ELSE 1795132800 + (i / 5)::integer END,
       double_of(CASE i % 7
           WHEN 0 THEN bits(i)
           WHEN 1 THEN pick(i, ARRAY[0, x'8000000000000000'::bigint, x'7FF0000000000000'::bigint,
               x'FFF0000000000000'::bigint, x'7FF8000000000000'::bigint, x'FFF8000000000000'::bigint,
               x'7FF8000000000001'::bigint, x'7FF0000000000001'::bigint, x'FFFFFFFFFFFFFFFF'::bigint,
               1, x'000FFFFFFFFFFFFF'::bigint, x'8000000000000001'::bigint, x'0010000000000000'::bigint,
               x'7FEFFFFFFFFFFFFF'::bigint, x'FFEFFFFFFFFFFFFF'::bigint])
           WHEN 2 THEN x'3FF0000000000000'::bigint + i % 3
           ELSE ('x' || encode(float8send(round((i % 1000) / 7.0, 4)::float8), 'hex'))::bit(64)::bigint END),
       CASE i % 3 WHEN 0 THEN (bits(i + 2) >> 33)::integer WHEN 1 THEN -i ELSE i END
FROM generate_series(1, 20000) i
ON CONFLICT DO NOTHING;
CALL round_trip('doubles');

-- an item of each kind alone, so that each codec has rows of its own
CREATE TABLE doubles_sorted (LIKE doubles INCLUDING ALL);
INSERT INTO doubles_sorted
SELECT k, 1795132800 + 60 * i,
       CASE k WHEN 1 THEN 'NaN' WHEN 2 THEN 'Infinity' WHEN 3 THEN '-Infinity' WHEN 4 THEN '-0'
              WHEN 5 THEN 4.9e-324 * i WHEN 6 THEN 1.7e308 - i * 1e300 WHEN 7 THEN i WHEN 8 THEN i / 10.0
              WHEN 9 THEN sqrt(i) WHEN 10 THEN 1e22 + i WHEN 11 THEN 0.1 + 0.2 WHEN 12 THEN -i / 1000.0
              WHEN 13 THEN double_of(bits(i)) WHEN 14 THEN 9007199254740993 + i
              ELSE double_of(x'7FF8000000000000'::bigint + i) END,
       CASE k % 2 WHEN 0 THEN 0 ELSE (bits(i) >> 34)::integer END
FROM generate_series(1, 500) i, generate_series(1, 15) k;
CALL round_trip('doubles_sorted');

-- ---- unsigned: what fits into 64 bits, and everything else ----

CREATE TABLE unsigned (itemid bigint NOT NULL, clock integer NOT NULL DEFAULT 0,
    value numeric NOT NULL DEFAULT 0, ns integer NOT NULL DEFAULT 0, PRIMARY KEY (itemid, clock, ns));
INSERT INTO unsigned
SELECT k, 1795132800 + i, v.value, i
FROM generate_series(1, 6) k,
     LATERAL (SELECT i, CASE
        WHEN k = 1 OR i % 10 > 0 THEN (bits(i)::numeric + 9223372036854775808) % (10::numeric ^ (1 + i % 20))::numeric(30,0)
        WHEN k = 2 THEN pick(i, '{0,1,9999,10000,99999999,100000000,18446744073709551615,18446744073709550000,
            9223372036854775808,10000000000000000000}'::numeric[])
        WHEN k = 3 THEN pick(i, '{-1,0.5,1.0,1.000,NaN,Infinity,-Infinity,18446744073709551616,1e40,-0.0001,
            123456789012345678901234567890.123456789}'::numeric[])
        WHEN k = 4 THEN 5::numeric
        WHEN k = 5 THEN i * 1000000007::numeric
        ELSE 18446744073709551615 - i END::numeric AS value
     FROM generate_series(1, 700) i) v;
CALL round_trip('unsigned');

-- ---- strings and logs ----

CREATE TABLE logs (itemid bigint NOT NULL, clock integer NOT NULL DEFAULT 0, timestamp integer NOT NULL DEFAULT 0,
    source varchar(64) NOT NULL DEFAULT '', severity integer NOT NULL DEFAULT 0, value text NOT NULL DEFAULT '',
    logeventid integer NOT NULL DEFAULT 0, ns integer NOT NULL DEFAULT 0, PRIMARY KEY (itemid, clock, ns));
INSERT INTO logs
SELECT 1 + i % 5, 1795132800 + i, i, pick(i, ARRAY['', 'kernel', 'Ünïcödé', '事件日志', repeat('x', 64)]),
       i % 7, CASE i % 6 WHEN 0 THEN '' WHEN 1 THEN repeat('ab', i % 3000) WHEN 2 THEN 'The same line'
           WHEN 3 THEN md5(i::text) WHEN 4 THEN repeat('日本語', i % 50) ELSE chr(1 + i % 1000) END,
       -i, bits(i)::bit(31)::integer
FROM generate_series(1, 3000) i;
-- a megabyte each: compressible, and not
INSERT INTO logs (itemid, clock, value)
SELECT 7, 1795132800, repeat('All work and no play ', 50000) UNION ALL
SELECT 7, 1795132801, (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 32768) i) UNION ALL
SELECT 7, 1795132802, '' UNION ALL
SELECT 8, 1795132801, (SELECT string_agg(chr(200 + (bits(i)::bit(9))::integer), '') FROM generate_series(1, 300000) i);
CALL round_trip('logs');

-- ---- any types, nulls, dropped columns, no key ----

CREATE DOMAIN percent AS numeric(5, 2);
CREATE TABLE odd (gone1 text, flag boolean, small smallint, single real, itemid bigint NOT NULL, letter "char",
    day date, at timestamptz, id uuid, label varchar(20), raw bytea, doc json, docb jsonb, gone2 integer,
    clock integer NOT NULL, span interval, share percent, big bigint,
    ns bigint, value text, fixed char(10));
INSERT INTO odd
SELECT 'x', i % 3 = 0, bits(i)::bit(15)::integer - 16384, real_of(bits(i)::bit(32)::integer), i % 4,
       chr((1 + i % 126)::integer)::"char", date '2026-11-20' + i, timestamptz '2026-11-20' + i * interval '1 us',
       md5(i::text)::uuid, 'n' || i % 9, decode(repeat('00', i % 300), 'hex') || int8send(bits(i)),
       format('{"a": %s,  "a":1}', i)::json, format('{"b": [%s, null]}', i)::jsonb,
       1, 1795132800 + i / 3, i * interval '1 month 3 s',
       (i % 999) / 3.0, bits(i), bits(-i),
       pick(i, '{a,"",NULL}'::text[]), 'f' || i
FROM generate_series(1, 1000) i;
UPDATE odd SET flag = NULL, small = NULL, id = NULL, raw = NULL WHERE itemid = 2;
UPDATE odd SET share = 'NaN', single = NULL, label = NULL, ns = NULL, doc = NULL WHERE clock % 2 = 0;
ALTER TABLE odd DROP COLUMN gone1, DROP COLUMN gone2;
ALTER TABLE odd ADD COLUMN late integer DEFAULT 42;
INSERT INTO odd SELECT * FROM odd WHERE itemid = 3;
VACUUM odd;
CALL round_trip('odd');

-- ---- trends, as Zabbix has them, no ns ----

CREATE TABLE trends (itemid bigint NOT NULL, clock integer NOT NULL DEFAULT 0, num integer NOT NULL DEFAULT 0,
    value_min double precision NOT NULL DEFAULT 0, value_avg double precision NOT NULL DEFAULT 0,
    value_max double precision NOT NULL DEFAULT 0, PRIMARY KEY (itemid, clock));
INSERT INTO trends SELECT k, 3600 * i, 60, i - 1, i / 3.0, i FROM generate_series(1, 720) i, generate_series(1, 10) k;
CALL round_trip('trends');

-- ---- more than memory, and more than a segment ----

CREATE TABLE many (itemid bigint NOT NULL, clock integer NOT NULL, ns integer NOT NULL, value double precision NOT NULL);
INSERT INTO many SELECT bits(i) % 50, 1795132800 + (bits(i + 1) % 43200)::integer, 0, i / 10.0 FROM generate_series(1, 40000) i;
INSERT INTO many SELECT 7, 5, i, i FROM generate_series(1, 65535) i;
INSERT INTO many SELECT 8, i, 0, 1 FROM generate_series(1, 20000) i;
SET maintenance_work_mem = '1MB';
CALL round_trip('many');
RESET maintenance_work_mem;

-- ---- nothing at all ----

CREATE TABLE nothing (LIKE doubles INCLUDING ALL);
CALL round_trip('nothing');
INSERT INTO nothing SELECT * FROM doubles;
DELETE FROM nothing;
CALL round_trip('nothing');

-- ---- what cannot be packed ----

INSERT INTO many VALUES (7, 5, 0, 0);
CALL pack('many', 'day');
CREATE TYPE mood AS ENUM ('good');
CREATE TABLE enums (itemid bigint NOT NULL, clock integer NOT NULL, value mood);
CALL pack('enums', 'day');
CREATE TABLE enum_arrays (itemid bigint NOT NULL, clock integer NOT NULL, value mood[]);
CALL pack('enum_arrays', 'day');
CREATE TABLE arrays (itemid bigint NOT NULL, clock integer NOT NULL, value integer[]);
CALL pack('arrays', 'day');
CREATE TABLE ranges (itemid bigint NOT NULL, clock integer NOT NULL, value int4range);
CALL pack('ranges', 'day');
CREATE TABLE multiranges (itemid bigint NOT NULL, clock integer NOT NULL, value nummultirange);
CALL pack('multiranges', 'day');
CREATE TABLE addresses (itemid bigint NOT NULL, clock integer NOT NULL, value inet);
CALL pack('addresses', 'day');
CREATE TABLE composites (itemid bigint NOT NULL, clock integer NOT NULL, value many);
CALL pack('composites', 'day');
CREATE TABLE oids (itemid bigint NOT NULL, clock integer NOT NULL, value regclass);
CALL pack('oids', 'day');
CREATE TABLE generated (itemid bigint NOT NULL, clock integer NOT NULL, value bigint GENERATED ALWAYS AS (itemid + 1) STORED);
CALL pack('generated', 'day');
CREATE TABLE nullable (itemid bigint, clock integer NOT NULL);
CALL pack('nullable', 'day');
CREATE TABLE narrow (itemid integer NOT NULL, clock integer NOT NULL);
CALL pack('narrow', 'day');
CREATE TABLE reserved (itemid bigint NOT NULL, clock integer NOT NULL, payload text);
SELECT make_day('many', 'day');
SELECT zbxhist_internal.pack_rows('reserved', 'day');
-- not made in this transaction, not a day, not the same columns
SELECT zbxhist_internal.pack_rows('many', 'day');
SELECT zbxhist_internal.pack_rows('many', 'doubles');
BEGIN;
SELECT make_day('many', 'other_day');
SELECT zbxhist_internal.pack_rows('trends', 'other_day');
ROLLBACK;
BEGIN;
SELECT make_day('many', 'other_day');
SAVEPOINT s;
SELECT zbxhist_internal.pack_rows('many', 'other_day');
ROLLBACK;

-- rows that not everybody sees alike
BEGIN;
INSERT INTO nothing VALUES (1, 1, 1, 1);
SELECT make_day('nothing', 'other_day');
SELECT zbxhist_internal.pack_rows('nothing', 'other_day');
ROLLBACK;

-- only the owner
CREATE ROLE regress_packed_other;
GRANT USAGE ON SCHEMA packed_round_trip TO regress_packed_other;
SET ROLE regress_packed_other;
SELECT zbxhist_internal.pack_rows('packed_round_trip.many', 'packed_round_trip.day');
SELECT zbxhist_internal.unpack_rows('packed_round_trip.day', 'packed_round_trip.many');
SELECT zbxhist_internal.verify_day('packed_round_trip.day');
SELECT zbxhist_internal.merge_rows('packed_round_trip.many', 'packed_round_trip.day', 0, 1, 1);
RESET ROLE;
DO $$ BEGIN EXECUTE format('GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA zbxhist, zbxhist_internal TO regress_packed_other'); END $$;
SET ROLE regress_packed_other;
SELECT zbxhist_internal.pack_rows('packed_round_trip.many', 'packed_round_trip.day');
SELECT zbxhist_internal.unpack_rows('packed_round_trip.day', 'packed_round_trip.many');
SELECT * FROM zbxhist_internal.verify_day('packed_round_trip.day');
SELECT zbxhist_internal.merge_rows('packed_round_trip.many', 'packed_round_trip.day', 0, 1, 1);
RESET ROLE;
DROP OWNED BY regress_packed_other;
DROP ROLE regress_packed_other;

DROP SCHEMA packed_round_trip CASCADE;
