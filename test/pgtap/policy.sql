-- The SQLSTATE of every error of policy, and what a transaction that fails leaves.
\set ON_ERROR_STOP 1
BEGIN;
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS zbxhist;
SELECT no_plan();
CREATE SCHEMA tap;
SET LOCAL search_path = tap, public;
CREATE TABLE plain (itemid bigint NOT NULL, clock integer NOT NULL DEFAULT 0, value double precision NOT NULL DEFAULT 0,
    ns integer NOT NULL DEFAULT 0, PRIMARY KEY (itemid, clock, ns));

-- wrong objects
CREATE VIEW a_view AS SELECT * FROM plain;
SELECT throws_ok($$SELECT zbxhist.create_parent('a_view')$$, '42809', NULL, 'a view');
CREATE TABLE native (LIKE plain) PARTITION BY RANGE (clock);
SELECT throws_ok($$SELECT zbxhist.create_parent('native')$$, '42809', NULL, 'natively partitioned');
CREATE TABLE child () INHERITS (plain);
SELECT throws_ok($$SELECT zbxhist.create_parent('child')$$, '42809', NULL, 'a child');
SELECT throws_ok($$SELECT zbxhist.create_parent('plain')$$, '42809', NULL, 'with foreign children');
DROP TABLE child;
CREATE TEMP TABLE temporary (LIKE plain);
SELECT throws_ok($$SELECT zbxhist.create_parent('temporary')$$, '0A000', NULL, 'temporary');
SELECT throws_ok($$SELECT zbxhist.create_parent(NULL)$$, '22004', NULL, 'NULL');
SELECT throws_ok($$SELECT zbxhist.create_parent('missing')$$, '42P01', NULL, 'missing');
SELECT throws_ok($$SELECT zbxhist.create_parent('1'::regclass)$$, '42P01', NULL, 'a number');
CREATE TABLE no_clock (itemid bigint NOT NULL);
SELECT throws_ok($$SELECT zbxhist.create_parent('no_clock')$$, '42703', NULL, 'without clock');
CREATE TABLE long_clock (itemid bigint NOT NULL, clock bigint NOT NULL);
SELECT throws_ok($$SELECT zbxhist.create_parent('long_clock')$$, '42804', NULL, 'clock of another type');
CREATE TABLE null_clock (itemid bigint NOT NULL, clock integer);
SELECT throws_ok($$SELECT zbxhist.create_parent('null_clock')$$, '42804', NULL, 'clock can be null');
CREATE TABLE referred (LIKE plain INCLUDING ALL);
CREATE TABLE referring (a bigint, b integer, c integer, FOREIGN KEY (a, b, c) REFERENCES referred);
SELECT throws_ok($$SELECT zbxhist.create_parent('referred')$$, '0A000', NULL, 'a foreign key refers to it');

-- policies
SELECT throws_ok(format($$SELECT zbxhist.create_parent('plain', %s)$$, a), '22023', NULL, a)
  FROM unnest(ARRAY['partition_interval => ''0''', 'partition_interval => ''-1 day''', 'partition_interval => ''1 month 1 day''',
                    'partition_interval => ''1 second''', 'partition_interval => NULL', 'retention => ''0''', 'retention => ''-1 hour''',
                    'premake => -1', 'premake => NULL', 'pack_after => ''0''']) a;
SELECT throws_ok($$SELECT zbxhist.create_parent('plain', move_existing => NULL)$$, '22004', NULL, 'move_existing => NULL');

-- unmanaged tables
SELECT throws_ok($$SELECT zbxhist.alter_parent('plain', premake => 2)$$, '42P17', NULL, 'alter_parent of an unmanaged table');
SELECT throws_ok($$SELECT zbxhist.create_partition('plain', '2020-01-05')$$, '42P17', NULL, 'create_partition of an unmanaged table');
SELECT throws_ok($$SELECT * FROM zbxhist.preview('plain')$$, '42P17', NULL, 'preview of an unmanaged table');
SELECT throws_ok($$SELECT zbxhist_internal.require_parent('plain')$$, '42P17', NULL, 'run_maintenance and undo of an unmanaged table');

-- setup
SELECT throws_ok($$SELECT * FROM zbxhist.setup('tap_missing')$$, '3F000', NULL, 'no such schema');
CREATE SCHEMA tap_empty;
SELECT throws_ok($$SELECT * FROM zbxhist.setup('tap_empty')$$, '42P01', NULL, 'nothing of Zabbix in the schema');

-- TimescaleDB and pg_partman; the table is believed only as one of the extension
CREATE SCHEMA IF NOT EXISTS _timescaledb_catalog;
CREATE TABLE IF NOT EXISTS _timescaledb_catalog.hypertable (schema_name name, table_name name);
INSERT INTO _timescaledb_catalog.hypertable (schema_name, table_name) VALUES ('tap', 'plain');
SELECT lives_ok($$SELECT zbxhist_internal.verify_not_in_other_care('plain')$$, 'a table with the name of a catalog');
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'timescaledb') THEN
        ALTER EXTENSION plpgsql ADD TABLE _timescaledb_catalog.hypertable;
        UPDATE pg_extension SET extname = 'timescaledb' WHERE extname = 'plpgsql';
    END IF;
END
$$;
SELECT throws_ok($$SELECT zbxhist.create_parent('plain')$$, '42809', 'cannot manage tap.plain: it is a TimescaleDB hypertable', 'a hypertable');
UPDATE pg_extension SET extname = 'plpgsql' WHERE extname = 'timescaledb' AND EXISTS (
    SELECT FROM pg_depend d WHERE d.refobjid = pg_extension.oid AND d.objid = 'plpgsql_call_handler'::regproc);
DELETE FROM _timescaledb_catalog.hypertable WHERE table_name = 'plain';
CREATE FUNCTION tap.with_partman() RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_partman') THEN
        RETURN QUERY SELECT skip('pg_partman is not installed', 1);
        RETURN;
    END IF;
    CREATE SCHEMA "part man";
    CREATE EXTENSION pg_partman SCHEMA "part man";
    CREATE TABLE tap.cared_for (LIKE tap.plain INCLUDING ALL);
    ALTER TABLE "part man".part_config DISABLE TRIGGER ALL;
    INSERT INTO "part man".part_config (parent_table, control, partition_interval, partition_type, template_table)
    SELECT 'tap.cared_for', 'clock', '1 day', CASE WHEN extversion ~ '^4' THEN 'native' ELSE 'range' END, 'tap.plain'
      FROM pg_extension WHERE extname = 'pg_partman';
    RETURN NEXT throws_ok($q$SELECT zbxhist.create_parent('tap.cared_for')$q$, '55000',
                          'cannot manage tap.cared_for: it is managed by pg_partman', 'in the care of pg_partman');
END $$;
SELECT tap.with_partman();

-- it works, is done once, and can be altered
SELECT lives_ok($$SELECT zbxhist.create_parent('plain', premake => 2)$$, 'create_parent');
SELECT throws_ok($$SELECT zbxhist.create_parent('plain')$$, '42710', NULL, 'create_parent twice');
SELECT is((SELECT count(*)::integer FROM zbxhist.list_partitions('plain')), 3, 'today and two ahead');
SELECT throws_ok($$SELECT zbxhist.alter_parent('plain', retention => '1 day', follow_zabbix => true)$$, '22023', NULL, 'contradiction');
SELECT throws_ok(format($$SELECT zbxhist.alter_parent('plain', %s)$$, a), '22023', NULL, a)
  FROM unnest(ARRAY['max_age => ''1 hour''', 'max_age => ''-1 day''', 'max_ahead => ''1 minute''', 'max_ahead => ''300 years''',
                    'out_of_range => ''move''', 'any_clock => true, max_age => ''2 days''']) a;
SELECT throws_ok($$SELECT zbxhist.create_partition('plain', '2040-01-01')$$, '22008', NULL, 'a day beyond the clock');
SELECT throws_ok($$CALL zbxhist.run_maintenance()$$, '25001', NULL, 'run_maintenance in a transaction block');
SELECT throws_ok($$CALL zbxhist.pack('plain', '2020-01-05')$$, '25001', NULL, 'pack in a transaction block');
SELECT throws_ok($$CALL zbxhist.unpack('plain', '2020-01-05')$$, '25001', NULL, 'unpack in a transaction block');
SELECT throws_ok($$CALL zbxhist.undo('plain')$$, '25001', NULL, 'undo in a transaction block');
SELECT is(zbxhist.create_partition('plain', '2020-01-05')::text, 'zbxhist_partitions.plain_p20200105', 'create_partition');
SELECT is(zbxhist.create_partition('plain', '2020-01-05')::text, 'zbxhist_partitions.plain_p20200105', 'create_partition again');
SELECT is((SELECT b.from_clock FROM zbxhist.partition_bounds('zbxhist_partitions.plain_p20200105') b), 1578182400::bigint, 'its bounds');
SELECT ok(NOT EXISTS (SELECT FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'zbxhist'
                       WHERE d.objid = 'zbxhist_partitions.plain_p20200105'::regclass AND d.deptype = 'e'), 'a partition is no member of the extension');
SELECT has_trigger('tap', 'plain', t, 'trigger ' || t) FROM unnest('{zzz_zbxhist_route,00_zbxhist_flush}'::name[]) t;
SELECT trigger_is('tap', 'plain', 'zzz_zbxhist_route', 'zbxhist', 'route');
SELECT col_is_pk('zbxhist_partitions', 'plain_p20200105', ARRAY['itemid', 'clock', 'ns'], 'the key of its parent');

-- partitions of hours: whole ones, no two for a moment, and none missing
CREATE FUNCTION tap.of_length(i interval) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    present CONSTANT bigint := zbxhist_internal.current_clock();
BEGIN
    PERFORM zbxhist.alter_parent('tap.plain', partition_interval => i);
    PERFORM zbxhist_internal.step_premake('tap.plain') FROM generate_series(1, 100);
    RETURN NEXT is((SELECT count(*)::integer FROM zbxhist.list_partitions('tap.plain') p
                     WHERE p.from_clock % extract(epoch FROM i) <> 0 AND p.from_clock > present), 0, 'partitions begin at multiples of ' || i);
    RETURN NEXT is((SELECT count(*)::integer FROM zbxhist.list_partitions('tap.plain') a JOIN zbxhist.list_partitions('tap.plain') b
                        ON a.from_clock < b.to_clock AND b.from_clock < a.to_clock AND a.partition <> b.partition), 0, 'no overlap after ' || i);
    RETURN NEXT is((SELECT count(*)::integer FROM zbxhist_internal.missing_ranges('tap.plain', present, present / 86400 * 86400 + 3 * 86400)), 0,
                   'no gap after ' || i);
END $$;
SELECT tap.of_length(i::interval) FROM unnest('{1 day,1 hour,15 minutes,12 hours}'::text[]) i;
SELECT is(zbxhist_internal.span_seconds(i::interval), s::bigint, format('partitions of %s', i))
  FROM (VALUES ('1 minute', 1440), ('7 minutes', NULL), ('5 minutes', 7200), ('1 hour', 86400), ('7 hours', NULL), ('12 hours', 86400), ('1 day', NULL), ('1 month', NULL)) v (i, s);

-- not the owner
CREATE ROLE tap_stranger;
GRANT USAGE ON SCHEMA tap TO tap_stranger;
CREATE TABLE another (LIKE plain INCLUDING ALL);
GRANT EXECUTE ON FUNCTION zbxhist.create_parent, zbxhist.alter_parent, zbxhist_internal.adopt TO tap_stranger;
SET LOCAL ROLE tap_stranger;
SELECT throws_ok($$SELECT zbxhist.create_parent('another')$$, '42501', NULL, 'create_parent of another''s table');
SELECT throws_ok($$SELECT zbxhist.alter_parent('plain')$$, '42501', NULL, 'alter_parent of another''s table');
SELECT throws_ok($$SELECT zbxhist.undo_me()$$, '42883', NULL, 'no such function');
SELECT throws_ok($$CALL zbxhist.undo('plain')$$, '42501', NULL, 'undo of another''s table');
RESET ROLE;

-- setup is all or nothing
CREATE SCHEMA tap_half;
CREATE TABLE tap_half.history (LIKE tap.plain INCLUDING ALL);
CREATE TABLE tap_half.history_str (itemid bigint NOT NULL, clock bigint NOT NULL, ns integer, value text);
SELECT throws_ok($$SELECT * FROM zbxhist.setup('tap_half')$$, '42804', NULL, 'setup of one good and one bad table');
SELECT is((SELECT count(*)::integer FROM zbxhist.parent_config), 1, 'has managed neither');

SELECT * FROM finish();
ROLLBACK;
