-- create_parent: what it refuses, and what a partition takes after its parent.
-- as after setup: no session is told about it
\a \t
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'zbxhist';
\set SHOW_CONTEXT never
SET TimeZone = 'UTC';
CREATE SCHEMA parents;
SET search_path = parents, public, zbxhist_partitions;

CREATE TABLE plain (itemid bigint NOT NULL, clock integer NOT NULL DEFAULT 0,
    value double precision NOT NULL DEFAULT 0, ns integer NOT NULL DEFAULT 0,
    PRIMARY KEY (itemid, clock, ns));

-- what is no plain table
CREATE VIEW a_view AS SELECT * FROM plain;
SELECT zbxhist.create_parent('a_view');
CREATE MATERIALIZED VIEW a_matview AS SELECT * FROM plain;
SELECT zbxhist.create_parent('a_matview');
CREATE TABLE native (LIKE plain) PARTITION BY RANGE (clock);
CREATE TABLE native_1 PARTITION OF native FOR VALUES FROM (0) TO (100);
SELECT zbxhist.create_parent('native');
SELECT zbxhist.create_parent('native_1');
CREATE FOREIGN DATA WRAPPER nothing;
CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing;
CREATE FOREIGN TABLE a_foreign (itemid bigint NOT NULL, clock integer NOT NULL) SERVER nowhere;
SELECT zbxhist.create_parent('a_foreign');
CREATE SEQUENCE a_sequence;
SELECT zbxhist.create_parent('a_sequence');
CREATE TEMP TABLE a_temp (LIKE plain);
SELECT zbxhist.create_parent('a_temp');
CREATE TYPE row_type AS (itemid bigint, clock integer);
CREATE TABLE typed OF row_type (itemid NOT NULL, clock NOT NULL);
SELECT zbxhist.create_parent('typed');
SELECT zbxhist.create_parent(NULL);
SELECT zbxhist.create_parent('no_such_table');
SELECT zbxhist.create_parent('1');
-- errors have no lines of context but those of the caller's own functions
CREATE FUNCTION own_function() RETURNS void LANGUAGE plpgsql AS $$ BEGIN PERFORM zbxhist.create_parent('parents.a_view'); END $$;
\set SHOW_CONTEXT always
SELECT zbxhist.create_parent('a_view');
CALL zbxhist.pack('plain', '2020-01-01');
BEGIN;
CALL zbxhist.undo('plain');
ROLLBACK;
SELECT own_function();
DO $$ BEGIN
    BEGIN
        PERFORM zbxhist.create_parent('parents.a_view');
    EXCEPTION WHEN wrong_object_type THEN
        RAISE NOTICE 'caught';
    END;
    RAISE EXCEPTION 'another one';
END $$;
\set SHOW_CONTEXT never
DROP FUNCTION own_function();

-- in somebody else's care
CREATE TABLE older (LIKE plain INCLUDING ALL);
CREATE TABLE older_1 (CHECK (clock < 1000)) INHERITS (older);
SELECT zbxhist.create_parent('older');
SELECT zbxhist.create_parent('older_1');
CREATE TABLE referred (LIKE plain INCLUDING ALL);
CREATE TABLE referring (itemid bigint, clock integer, ns integer,
    FOREIGN KEY (itemid, clock, ns) REFERENCES referred);
SELECT zbxhist.create_parent('referred');
SELECT zbxhist.create_parent('referring');
CREATE TABLE triggered (LIKE plain INCLUDING ALL);
CREATE TRIGGER later AFTER UPDATE ON triggered FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();
SELECT zbxhist.create_parent('triggered');
CREATE SCHEMA _timescaledb_catalog;
CREATE TABLE _timescaledb_catalog.hypertable (schema_name name, table_name name);
INSERT INTO _timescaledb_catalog.hypertable VALUES ('parents', 'plain');
CREATE TABLE _timescaledb_catalog.part_config (parent_table text);
INSERT INTO _timescaledb_catalog.part_config VALUES ('parents.older'), ('parents.plain');
-- not if they are nobody's; no such extension is here, so another takes its name
SELECT zbxhist_internal.verify_not_in_other_care('plain');
BEGIN;
ALTER EXTENSION plpgsql ADD TABLE _timescaledb_catalog.hypertable;
UPDATE pg_extension SET extname = 'timescaledb' WHERE extname = 'plpgsql';
SAVEPOINT refused;
SELECT zbxhist.create_parent('plain');
ROLLBACK TO refused;
-- the same names as Zabbix's
ALTER TABLE plain RENAME TO history;
ALTER TABLE older RENAME TO trends;
INSERT INTO _timescaledb_catalog.hypertable VALUES ('parents', 'history'), ('parents', 'trends');
SELECT object, message, hint FROM zbxhist.check() WHERE code = 'hypertable';
CREATE EXTENSION zbxhist_migrate;
SELECT object, message, hint FROM zbxhist.check() WHERE code = 'hypertable';
SELECT zbxhist.create_parent('history');
ROLLBACK;
BEGIN;
ALTER EXTENSION plpgsql ADD TABLE _timescaledb_catalog.part_config;
UPDATE pg_extension SET extname = 'pg_partman' WHERE extname = 'plpgsql';
SELECT zbxhist.create_parent('plain');
ROLLBACK;
DROP SCHEMA _timescaledb_catalog CASCADE;

-- columns
CREATE TABLE no_clock (itemid bigint NOT NULL);
SELECT zbxhist.create_parent('no_clock');
CREATE TABLE no_itemid (clock integer NOT NULL);
SELECT zbxhist.create_parent('no_itemid');
CREATE TABLE long_clock (itemid bigint NOT NULL, clock bigint NOT NULL);
SELECT zbxhist.create_parent('long_clock');
CREATE TABLE short_itemid (itemid integer NOT NULL, clock integer NOT NULL);
SELECT zbxhist.create_parent('short_itemid');
CREATE TABLE null_clock (itemid bigint NOT NULL, clock integer);
SELECT zbxhist.create_parent('null_clock');
CREATE TABLE made_clock (itemid bigint NOT NULL, clock integer NOT NULL GENERATED ALWAYS AS (5) STORED);
SELECT zbxhist.create_parent('made_clock');
CREATE TABLE dropped_clock (itemid bigint NOT NULL, clock integer NOT NULL);
ALTER TABLE dropped_clock DROP COLUMN clock;
SELECT zbxhist.create_parent('dropped_clock');
CREATE TABLE own_check (itemid bigint NOT NULL, clock integer NOT NULL, CONSTRAINT zbxhist_clock CHECK (clock > 0));
SELECT zbxhist.create_parent('own_check');

-- the policy
SELECT zbxhist.create_parent('plain', '0');
SELECT zbxhist.create_parent('plain', '-1 day');
SELECT zbxhist.create_parent('plain', NULL);
SELECT zbxhist.create_parent('plain', retention => '0');
SELECT zbxhist.create_parent('plain', retention => '-1 day');
SELECT zbxhist.create_parent('plain', retention => '1000 years');
SELECT zbxhist.create_parent('plain', premake => -1);
SELECT zbxhist.create_parent('plain', premake => NULL);
SELECT zbxhist.create_parent('plain', premake => 1001);
SELECT zbxhist.create_parent('plain', pack_after => '-1 day');
SELECT zbxhist.create_parent('plain', move_existing => NULL);
SELECT count(*) FROM zbxhist.parent_config WHERE parent = 'plain'::regclass;
SELECT count(*) FROM pg_inherits i JOIN pg_class k ON k.oid = i.inhparent WHERE k.relname = 'plain';

-- it is done once
SELECT zbxhist.create_parent('plain', '1 day', '30 days', 1);
SELECT zbxhist.create_parent('plain');
SELECT partition_interval, retention, premake, pack_after, move_existing, routing
  FROM zbxhist.parent_config WHERE parent = 'plain'::regclass;
SELECT tgname, tgenabled, tgtype FROM pg_trigger WHERE tgrelid = 'plain'::regclass ORDER BY tgname;
SELECT count(*) FROM zbxhist.list_partitions('plain');
-- and not to a partition
SELECT zbxhist.create_partition('plain', '2020-01-05');
SELECT zbxhist.create_parent('plain_p20200105');
DROP TABLE plain_p20200105;

-- unmanaged tables
SELECT zbxhist.create_partition('older', '2020-01-05');
SELECT zbxhist.alter_parent('older', retention => '1 day');
CALL zbxhist.run_maintenance('older');
CALL zbxhist.undo('older');
SELECT * FROM zbxhist.preview('older');

-- a partition takes after its parent
CREATE ROLE regress_zbxhist_owner;
CREATE ROLE regress_zbxhist_reader;
CREATE ROLE "regress zbxhist ""writer""";
GRANT USAGE, CREATE ON SCHEMA parents TO regress_zbxhist_owner;
SET allow_in_place_tablespaces = true;
CREATE TABLESPACE regress_zbxhist_space LOCATION '';
CREATE TABLESPACE regress_zbxhist_index LOCATION '';
GRANT CREATE ON TABLESPACE regress_zbxhist_space, regress_zbxhist_index TO regress_zbxhist_owner;
CREATE FUNCTION nop() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN coalesce(new, old); END';
CREATE TABLE "full ON x (y)" (
    gone integer,
    itemid bigint NOT NULL,
    clock integer NOT NULL DEFAULT 0,
    value text NOT NULL DEFAULT '',
    ns integer NOT NULL DEFAULT 0,
    half integer GENERATED ALWAYS AS (clock / 2) STORED,
    CONSTRAINT "my key" PRIMARY KEY (itemid, clock, ns) WITH (fillfactor = 80),
    CONSTRAINT "ns ON range" CHECK (ns BETWEEN 0 AND 999999999),
    UNIQUE (itemid, clock, ns, half) DEFERRABLE INITIALLY DEFERRED
) WITH (fillfactor = 90, autovacuum_enabled = false, toast.autovacuum_vacuum_threshold = 77)
  TABLESPACE regress_zbxhist_space;
ALTER TABLE "full ON x (y)" DROP COLUMN gone;
CREATE INDEX "ix ON" ON "full ON x (y)" (clock DESC, lower(value)) TABLESPACE regress_zbxhist_index WHERE ns > 5;
CREATE UNIQUE INDEX ON "full ON x (y)" USING btree (ns, clock, itemid) INCLUDE (value) WITH (fillfactor = 55);
CREATE INDEX ON "full ON x (y)" USING brin (clock) WITH (pages_per_range = 16);
ALTER TABLE "full ON x (y)" ALTER value SET STORAGE external;
ALTER TABLE "full ON x (y)" REPLICA IDENTITY USING INDEX "my key";
ALTER TABLE "full ON x (y)" OWNER TO regress_zbxhist_owner;
GRANT SELECT ON "full ON x (y)" TO regress_zbxhist_reader, PUBLIC;
GRANT INSERT, UPDATE ON "full ON x (y)" TO "regress zbxhist ""writer""" WITH GRANT OPTION;
GRANT UPDATE (value) ON "full ON x (y)" TO regress_zbxhist_reader;
ALTER DEFAULT PRIVILEGES IN SCHEMA parents GRANT DELETE ON TABLES TO regress_zbxhist_reader;
CREATE TRIGGER c_before_insert BEFORE INSERT ON "full ON x (y)" FOR EACH ROW EXECUTE FUNCTION nop();
CREATE TRIGGER d_statement AFTER INSERT ON "full ON x (y)" FOR EACH STATEMENT EXECUTE FUNCTION nop();
SELECT zbxhist.create_parent('"full ON x (y)"', premake => 0);
SET default_tablespace = regress_zbxhist_index;
SELECT zbxhist.create_partition('"full ON x (y)"', '2020-01-05');
RESET default_tablespace;
-- versions differ in how they print which table it inherits from
BEGIN;
ALTER TABLE "full ON x (y)_p20200105" NO INHERIT "full ON x (y)";
\t off
\d "full ON x (y)_p20200105"
\t on
ROLLBACK;
SELECT k.relowner::regrole, k.reloptions, t.reloptions AS toast_options, s.spcname,
       zbxhist_internal.describe_grants(k.oid) = zbxhist_internal.describe_grants('"full ON x (y)"') AS same_grants,
       NOT EXISTS (SELECT FROM zbxhist_internal.missing_indexes('"full ON x (y)"', k.oid) UNION ALL SELECT FROM zbxhist_internal.missing_indexes(k.oid, '"full ON x (y)"')) AS same_indexes
  FROM pg_class k
  JOIN pg_class t ON t.oid = k.reltoastrelid
  JOIN pg_tablespace s ON s.oid = k.reltablespace
 WHERE k.oid = '"full ON x (y)_p20200105"'::regclass;
SELECT k.relname, k.reloptions, s.spcname, x.indisreplident
  FROM pg_index x
  JOIN pg_class k ON k.oid = x.indexrelid
  LEFT JOIN pg_tablespace s ON s.oid = k.reltablespace
 WHERE x.indrelid = '"full ON x (y)_p20200105"'::regclass
 ORDER BY k.relname COLLATE "C";
SELECT g.grantee::regrole::text, g.privilege_type, g.is_grantable
  FROM pg_class k, aclexplode(k.relacl) g
 WHERE k.oid = '"full ON x (y)_p20200105"'::regclass AND g.grantee NOT IN (0, k.relowner) ORDER BY 1, 2;
SELECT a.attname, a.attstorage, a.attacl IS NOT NULL AS has_acl
  FROM pg_attribute a
 WHERE a.attrelid = '"full ON x (y)_p20200105"'::regclass AND a.attname IN ('value', 'itemid') ORDER BY 1;
SELECT * FROM zbxhist.check() WHERE object LIKE '%full%' AND code NOT IN ('no_retention');

-- without a primary key, as upgraded from before Zabbix 6.0; unlogged; replica identity full
CREATE UNLOGGED TABLE legacy (itemid bigint NOT NULL, clock integer NOT NULL DEFAULT 0,
    value numeric(16,4) NOT NULL DEFAULT 0, ns integer NOT NULL DEFAULT 0);
CREATE INDEX history_1 ON legacy (itemid, clock);
ALTER TABLE legacy REPLICA IDENTITY FULL;
SELECT zbxhist.create_parent('legacy', premake => 0);
SELECT zbxhist.create_partition('legacy', '2020-01-05');
BEGIN;
ALTER TABLE legacy_p20200105 NO INHERIT legacy;
\t off
\d legacy_p20200105
\t on
ROLLBACK;
SELECT relpersistence, relreplident FROM pg_class WHERE relname = 'legacy_p20200105';
INSERT INTO legacy (itemid, clock) VALUES (1, 1578182400), (1, 1578182400);
SELECT tableoid::regclass, * FROM legacy;

-- not under a lock that somebody else holds for long
SELECT zbxhist_internal.short_lock_timeout();
SET zbxhist.maintenance_lock_timeout = '1s';
SELECT zbxhist_internal.short_lock_timeout(), zbxhist_internal.patient_lock_timeout();
RESET zbxhist.maintenance_lock_timeout;

-- DROP EXTENSION leaves the rows, and CREATE EXTENSION finds them again
SELECT count(*) FROM plain;
INSERT INTO plain SELECT 1, extract(epoch FROM now())::integer;
SET client_min_messages = warning;
DROP EXTENSION zbxhist;
DROP EXTENSION zbxhist CASCADE;
INSERT INTO plain SELECT 2, extract(epoch FROM now())::integer;
SELECT itemid, tableoid::regclass = 'plain'::regclass AS in_parent FROM plain ORDER BY 1;
CREATE EXTENSION zbxhist;
SELECT zbxhist.create_parent('plain', premake => 1, retention => '30 days');
INSERT INTO plain SELECT 3, extract(epoch FROM now())::integer;
CALL zbxhist.run_maintenance('plain');
SELECT itemid, tableoid::regclass = 'plain'::regclass AS in_parent FROM plain ORDER BY 1;
SELECT * FROM zbxhist.check();

DROP SCHEMA parents CASCADE;
DROP SERVER nowhere CASCADE;
DROP FOREIGN DATA WRAPPER nothing;
DROP TABLESPACE regress_zbxhist_space;
DROP TABLESPACE regress_zbxhist_index;
DROP OWNED BY regress_zbxhist_owner;
DROP ROLE regress_zbxhist_owner, regress_zbxhist_reader, "regress zbxhist ""writer""";
CALL zbxhist.run_maintenance();
TRUNCATE zbxhist.maintenance_log;
ALTER DATABASE :"DBNAME" RESET session_preload_libraries;
