-- setup: finds the tables of Zabbix and no others, in place, repeatable.
-- as after setup: no session is told about it
\a \t
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'zbxhist';
\set SHOW_CONTEXT never
SET TimeZone = 'UTC';
-- what other tests have dropped
DO $$ BEGIN PERFORM zbxhist_internal.forget_dropped(); END $$;
SELECT * FROM zbxhist.setup();
SELECT * FROM zbxhist.setup('no_such_schema');
SELECT code, hint FROM zbxhist.check();

-- one day for all of it
DO $$ BEGIN PERFORM pg_sleep(left_over + 1) FROM (SELECT 86400 - extract(epoch FROM now()) % 86400) AS day (left_over) WHERE left_over < 180; END $$;
-- somebody else's history
CREATE SCHEMA other;
CREATE TABLE other.history (id bigint, clock timestamptz, value text);
CREATE TABLE other.trends (id bigint);
CREATE VIEW public.history AS SELECT 1::bigint AS itemid, 1 AS clock, 1 AS ns, 1::float8 AS value;
SELECT * FROM zbxhist.setup();
SELECT * FROM zbxhist.setup('other');
SELECT * FROM zbxhist.setup('public');
SELECT * FROM zbxhist.setup('pg_catalog');
DROP VIEW public.history;

-- a Zabbix 6.0
CREATE SCHEMA zabbix;
SET search_path = zabbix, zbxhist_partitions;
CREATE TABLE history (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, value double precision DEFAULT '0.0000' NOT NULL, ns integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid,clock,ns));
CREATE TABLE history_uint (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, value numeric(20) DEFAULT '0' NOT NULL, ns integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid,clock,ns));
CREATE TABLE history_str (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, value varchar(255) DEFAULT '' NOT NULL, ns integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid,clock,ns));
CREATE TABLE history_text (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, value text DEFAULT '' NOT NULL, ns integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid,clock,ns));
CREATE TABLE history_log (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, timestamp integer DEFAULT '0' NOT NULL, source varchar(64) DEFAULT '' NOT NULL, severity integer DEFAULT '0' NOT NULL, value text DEFAULT '' NOT NULL, logeventid integer DEFAULT '0' NOT NULL, ns integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid,clock,ns));
CREATE TABLE trends (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, num integer DEFAULT '0' NOT NULL, value_min double precision DEFAULT '0.0000' NOT NULL, value_avg double precision DEFAULT '0.0000' NOT NULL, value_max double precision DEFAULT '0.0000' NOT NULL, PRIMARY KEY (itemid,clock));
CREATE TABLE trends_uint (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, num integer DEFAULT '0' NOT NULL, value_min numeric(20) DEFAULT '0' NOT NULL, value_avg numeric(20) DEFAULT '0' NOT NULL, value_max numeric(20) DEFAULT '0' NOT NULL, PRIMARY KEY (itemid,clock));
CREATE TABLE config (configid bigint PRIMARY KEY, hk_history_mode integer DEFAULT '1' NOT NULL, hk_history_global integer DEFAULT '0' NOT NULL, hk_history varchar(32) DEFAULT '90d' NOT NULL, hk_trends_mode integer DEFAULT '1' NOT NULL, hk_trends_global integer DEFAULT '0' NOT NULL, hk_trends varchar(32) DEFAULT '365d' NOT NULL);
INSERT INTO config (configid) VALUES (1);
INSERT INTO history SELECT i, extract(epoch FROM now())::integer - 86400 * i, i, i FROM generate_series(1, 5) i;

-- what it would do, and that it does nothing
SELECT * FROM zbxhist.setup(configure_zabbix => true, dry_run => true, history_interval => '1 day');
-- an interval that makes little of the retention
SELECT parent, detail FROM zbxhist.setup(history_interval => '400 days', history_retention => '1 hour', dry_run => true) LIMIT 1;
SELECT count(*) FROM pg_trigger WHERE tgname ~ 'zbxhist';
SELECT count(*) FROM pg_inherits i JOIN pg_class k ON k.oid = i.inhparent WHERE k.relnamespace = 'zabbix'::regnamespace;
SELECT count(*) FROM zbxhist.parent_config;
SELECT count(*) FROM zbxhist.managed_schema;
SELECT * FROM config;

-- and it does it
SELECT * FROM zbxhist.setup(history_interval => '1 day');
SELECT c.parent, c.partition_interval, c.premake, c.retention, count(*),
       bool_and(p.partition::text ~ '_p[0-9]{6,8}$') AS named
  FROM zbxhist.parent_config c, zbxhist.list_partitions(c.parent) p
 GROUP BY c.parent ORDER BY c.parent::text;
SELECT c.parent, count(*) FROM zbxhist.parent_config c JOIN pg_trigger t ON t.tgrelid = c.parent GROUP BY c.parent ORDER BY c.parent::text;
SELECT parent, effective_retention, retention_source FROM zbxhist.parents;
SELECT count(*), sum(value) FROM history;
SELECT * FROM config;
SELECT code, object FROM zbxhist.check();

-- again: the housekeeper, nothing else; and once more
SELECT * FROM zbxhist.setup(configure_zabbix => true);
SELECT * FROM config;
SELECT * FROM zbxhist.setup(configure_zabbix => true);
SELECT parent, effective_retention, retention_source FROM zbxhist.parents;
SELECT * FROM zbxhist.check();

-- an upgrade to 7.0 brings a table: maintenance takes it up, with the options
SELECT count(*) FROM zbxhist.setup(history_retention => '30 days', premake => 2);
CREATE TABLE history_bin (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, ns integer DEFAULT '0' NOT NULL, value bytea DEFAULT '' NOT NULL, PRIMARY KEY (itemid,clock,ns));
SELECT code, object, message, hint FROM zbxhist.check();
SELECT table_name, action FROM zbxhist.preview() WHERE action = 'take_up';
CALL zbxhist.run_maintenance();
SELECT parent, partition_interval, premake, retention FROM zbxhist.parent_config WHERE parent = 'history_bin'::regclass;
SELECT action, parent, sqlstate, message FROM zbxhist.maintenance_log WHERE parent = 'history_bin'::regclass;
SELECT count(*) FROM pg_trigger WHERE tgrelid = 'history_bin'::regclass;
SELECT * FROM zbxhist.check();

-- one that cannot be taken up is reported, and the others go on
CREATE TABLE history_json (itemid bigint NOT NULL, clock bigint NOT NULL, ns integer NOT NULL, value json);
CALL zbxhist.run_maintenance();
SELECT severity, code, object, message, hint FROM zbxhist.check();
SELECT * FROM zbxhist.setup();
DROP TABLE history_json;
CREATE TABLE history_json (itemid bigint NOT NULL, clock integer NOT NULL, ns integer NOT NULL, value jsonb, PRIMARY KEY (itemid,clock,ns));
SELECT parent, action FROM zbxhist.setup(dry_run => true) WHERE action <> 'unchanged';
SELECT parent, action FROM zbxhist.setup('zabbix') WHERE action <> 'unchanged';
SELECT * FROM zbxhist.check();

-- undone tables stay plain until setup is called again
CALL zbxhist.undo('history_json');
CALL zbxhist.run_maintenance();
SELECT count(*) FROM zbxhist.parent_config WHERE parent = 'history_json'::regclass;
SELECT * FROM zbxhist.check();
SELECT parent, action FROM zbxhist.setup() WHERE action <> 'unchanged';

-- 7.4: settings instead of config
CREATE TABLE settings (name varchar(255) PRIMARY KEY, type integer NOT NULL, value_str text DEFAULT '' NOT NULL, value_int integer DEFAULT '0' NOT NULL);
INSERT INTO settings VALUES ('hk_history_mode', 2, '', 1), ('hk_history_global', 2, '', 0), ('hk_history', 1, '14d', 0),
    ('hk_trends_mode', 2, '', 1), ('hk_trends_global', 2, '', 1), ('hk_trends', 1, '52w', 0);
DROP TABLE config;
SELECT zbxhist.alter_parent('history', follow_zabbix => true);
SELECT parent, effective_retention, retention_source FROM zbxhist.parents WHERE parent IN ('history'::regclass, 'trends'::regclass);
SELECT code, object FROM zbxhist.check();
SELECT detail FROM zbxhist.setup(configure_zabbix => true, dry_run => true) WHERE action = 'configure_zabbix';
SELECT detail FROM zbxhist.setup(configure_zabbix => true) WHERE action = 'configure_zabbix';
SELECT name, value_str, value_int FROM settings ORDER BY name;
SELECT parent, effective_retention, retention_source FROM zbxhist.parents WHERE parent IN ('history'::regclass, 'trends'::regclass);
SELECT code, object, message FROM zbxhist.check();
DROP TABLE settings;
SELECT detail FROM zbxhist.setup(configure_zabbix => true) WHERE action = 'configure_zabbix';

-- nothing half done: a table that cannot be managed stops the whole of setup
CREATE SCHEMA second;
CREATE TABLE second.history (LIKE zabbix.history INCLUDING ALL);
CREATE TABLE second.trends (LIKE zabbix.trends) PARTITION BY RANGE (clock);
SELECT * FROM zbxhist.setup('second');
SELECT * FROM zbxhist.setup('second', dry_run => true);
SELECT count(*) FROM zbxhist.parent_config WHERE parent = 'second.history'::regclass;
SELECT * FROM zbxhist.setup('second', history_retention => '0');
SELECT * FROM zbxhist.setup('second', premake => -1);

SET client_min_messages = warning;
DROP SCHEMA zabbix, other, second CASCADE;
CALL zbxhist.run_maintenance();
SELECT count(*) FROM zbxhist.parent_config;
SELECT count(*) FROM zbxhist.parent_state;
TRUNCATE zbxhist.maintenance_log, zbxhist.managed_schema;
ALTER DATABASE :"DBNAME" RESET session_preload_libraries;
