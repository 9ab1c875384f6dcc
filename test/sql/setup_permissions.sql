-- Who may do what: the database's owner sets up, a reader reads, nobody else changes anything.
-- as after setup: no session is told about it
\a \t
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'zbxhist';
\set SHOW_CONTEXT never
SET TimeZone = 'UTC';
CREATE ROLE regress_zbxhist_dba;
CREATE ROLE regress_zbxhist_writer;
CREATE ROLE regress_zbxhist_reader;
CREATE ROLE regress_zbxhist_stranger;
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I OWNER TO regress_zbxhist_dba', current_database()); END $$;
CREATE SCHEMA zabbix AUTHORIZATION regress_zbxhist_dba;
GRANT USAGE ON SCHEMA zabbix TO PUBLIC;

-- the owner of the database, an ordinary role, does it all
SET ROLE regress_zbxhist_dba;
SET search_path = zabbix, zbxhist_partitions;
CREATE TABLE history (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, value double precision DEFAULT '0.0000' NOT NULL, ns integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid,clock,ns));
CREATE TABLE trends (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, num integer DEFAULT '0' NOT NULL, value_min double precision DEFAULT '0.0000' NOT NULL, value_avg double precision DEFAULT '0.0000' NOT NULL, value_max double precision DEFAULT '0.0000' NOT NULL, PRIMARY KEY (itemid,clock));
CREATE TABLE config (hk_history_mode integer, hk_history_global integer, hk_history text, hk_trends_mode integer, hk_trends_global integer, hk_trends text);
INSERT INTO config VALUES (1, 0, '31d', 1, 0, '365d');
GRANT INSERT, SELECT ON history TO regress_zbxhist_writer;
GRANT SELECT ON history, trends TO regress_zbxhist_reader;
INSERT INTO history SELECT 1, extract(epoch FROM now())::integer;
SELECT * FROM zbxhist.setup(configure_zabbix => true);
SELECT zbxhist.alter_parent('history', premake => 4);
CALL zbxhist.run_maintenance();
-- what of today is over is packed if an hour ends here
SELECT * FROM zbxhist.check() WHERE code <> 'partial_dump';
SELECT count(*) > 0 FROM zbxhist.maintenance_log;
SELECT DISTINCT k.relowner::regrole FROM zbxhist.partitions p JOIN pg_class k ON k.oid = p.partition;
CREATE TABLE history_bin (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, ns integer DEFAULT '0' NOT NULL, value bytea DEFAULT '' NOT NULL, PRIMARY KEY (itemid,clock,ns));
CALL zbxhist.run_maintenance();
CALL zbxhist.undo('history_bin');
SELECT count(*) FROM zbxhist.parent_config;

SELECT zbxhist.create_partition('history', '2020-01-05');

-- a writer needs what it needed before: INSERT on the parent
SET ROLE regress_zbxhist_writer;
INSERT INTO history VALUES (2, 1578182400), (2, 5);
INSERT INTO history SELECT 2, extract(epoch FROM now())::integer;
SELECT tableoid::regclass, itemid FROM history WHERE itemid = 2 AND clock < 1600000000 ORDER BY clock;
INSERT INTO trends (itemid) VALUES (1);

-- a reader reads, and looks at the views
SET ROLE regress_zbxhist_reader;
SELECT count(*) FROM history;
INSERT INTO history VALUES (3, 3);
SELECT parent, effective_retention, retention_source FROM zbxhist.parents;
SELECT count(*) > 3 FROM zbxhist.partitions;
SELECT parent, partitions > 1, last_error FROM zbxhist.status;
SELECT count(*) FROM zbxhist.progress;
SELECT count(*) > 0 FROM zbxhist.preview();
SELECT severity, code, object, message FROM zbxhist.check() WHERE code <> 'partial_dump';

-- a stranger gets nowhere
SET ROLE regress_zbxhist_stranger;
SELECT count(*) FROM history;
SELECT parent, rows_waiting >= 0 FROM zbxhist.status;
SELECT count(*) >= 0 FROM zbxhist.check();
SELECT * FROM zbxhist.setup();
SELECT zbxhist.create_parent('zabbix.history');
SELECT zbxhist.alter_parent('zabbix.history', retention => '1 day');
SELECT zbxhist.create_partition('zabbix.history', '2020-01-06');
CALL zbxhist.run_maintenance();
CALL zbxhist.undo('zabbix.history');
SELECT zbxhist.route();
SELECT zbxhist_internal.invalidate('zabbix.history');
SELECT zbxhist_internal.move_rows('zabbix.history', 'zbxhist_partitions.history_p20200105', 0, 1, NULL, 1);
SELECT zbxhist_internal.run_step('zabbix.history', 'drop', 'zbxhist_partitions.history_p20200105');
SELECT zbxhist_internal.step_drop('zabbix.history', 'zbxhist_partitions.history_p20200105');
SELECT zbxhist_internal.attach_triggers('{zabbix.history}');
SELECT zbxhist_internal.delete_expired('zabbix.history', 2000000000, NULL, 1);
UPDATE zbxhist.parent_config SET retention = '1 second';
DELETE FROM zbxhist.parent_config;
INSERT INTO zbxhist.parent_config DEFAULT VALUES;
UPDATE zbxhist.managed_schema SET excluded = '{history}';
DELETE FROM zbxhist.parent_state;
SELECT * FROM zbxhist.maintenance_log;
CREATE TABLE zbxhist.mine ();

-- the owner of the database who does not own the tables
RESET ROLE;
CREATE TABLE public.not_mine (LIKE zabbix.history INCLUDING ALL);
ALTER TABLE public.not_mine OWNER TO regress_zbxhist_stranger;
SET ROLE regress_zbxhist_dba;
SELECT zbxhist.create_parent('public.not_mine');
RESET ROLE;
SELECT zbxhist.create_parent('public.not_mine', retention => '1 day');
SET ROLE regress_zbxhist_dba;
SELECT zbxhist.alter_parent('public.not_mine', retention => '10 days');
SELECT zbxhist.create_partition('public.not_mine', '2020-01-06');
CALL zbxhist.run_maintenance('public.not_mine');
CALL zbxhist.undo('public.not_mine');
-- all others are maintained
SET client_min_messages = error;
CALL zbxhist.run_maintenance();
RESET client_min_messages;
SELECT s.parent, s.last_error FROM zbxhist.status s WHERE s.last_error IS NOT NULL;
SELECT s.parent FROM zbxhist.status s WHERE s.last_success = s.last_run ORDER BY s.parent::text;

-- settings of somebody who owns no managed table are none of Zabbix's
RESET ROLE;
SELECT retention_source FROM zbxhist.parents WHERE parent = 'zabbix.trends'::regclass;
ALTER TABLE zabbix.config OWNER TO regress_zbxhist_stranger;
SELECT retention_source FROM zbxhist.parents WHERE parent = 'zabbix.trends'::regclass;
SELECT * FROM zbxhist_internal.zabbix_setting('zabbix', 'hk_trends');
SELECT severity, object, message FROM zbxhist.check() WHERE code = 'no_retention' AND object ~ 'zabbix.trends';
ALTER TABLE zabbix.config OWNER TO regress_zbxhist_dba;

-- a superuser sets up somebody else's tables: the partitions are theirs
RESET ROLE;
CREATE TABLE zabbix.theirs (LIKE zabbix.history INCLUDING ALL);
ALTER TABLE zabbix.theirs OWNER TO regress_zbxhist_writer;
SELECT zbxhist.create_parent('zabbix.theirs', premake => 0);
SELECT k.relowner::regrole FROM zbxhist.partitions p JOIN pg_class k ON k.oid = p.partition WHERE p.parent = 'zabbix.theirs'::regclass;

SET client_min_messages = warning;
DROP SCHEMA zabbix CASCADE;
DROP TABLE public.not_mine CASCADE;
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I OWNER TO CURRENT_USER', current_database()); END $$;
DROP OWNED BY regress_zbxhist_dba, regress_zbxhist_writer, regress_zbxhist_reader, regress_zbxhist_stranger;
DROP ROLE regress_zbxhist_dba, regress_zbxhist_writer, regress_zbxhist_reader, regress_zbxhist_stranger;
CALL zbxhist.run_maintenance();
TRUNCATE zbxhist.maintenance_log, zbxhist.managed_schema;
ALTER DATABASE :"DBNAME" RESET session_preload_libraries;
