-- setup deletes nothing that is kept now unless somebody agrees to it, and takes its arguments
-- seriously, also for tables that it manages already. as after setup: no session is told about it
\a \t
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'zbxhist';
\set SHOW_CONTEXT never
SET TimeZone = 'UTC';
CREATE SCHEMA zabbix;
SET search_path = zabbix, zbxhist_partitions;
CREATE TABLE history (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, value double precision DEFAULT '0.0000' NOT NULL, ns integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid,clock,ns));
CREATE TABLE history_log (LIKE history INCLUDING ALL);
CREATE TABLE trends (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, num integer DEFAULT '0' NOT NULL, value_min double precision DEFAULT '0.0000' NOT NULL, value_avg double precision DEFAULT '0.0000' NOT NULL, value_max double precision DEFAULT '0.0000' NOT NULL, PRIMARY KEY (itemid,clock));
CREATE TABLE config (configid bigint PRIMARY KEY, hk_history_mode integer DEFAULT '1' NOT NULL, hk_history_global integer DEFAULT '0' NOT NULL, hk_history varchar(32) DEFAULT '31d' NOT NULL, hk_trends_mode integer DEFAULT '1' NOT NULL, hk_trends_global integer DEFAULT '0' NOT NULL, hk_trends varchar(32) DEFAULT '365d' NOT NULL);
INSERT INTO config (configid) VALUES (1);
CREATE TABLE hosts (hostid bigint PRIMARY KEY, host varchar(128) NOT NULL, status integer NOT NULL);
CREATE TABLE items (itemid bigint PRIMARY KEY, hostid bigint NOT NULL, name varchar(255) NOT NULL, flags integer NOT NULL, value_type integer NOT NULL, history varchar(255) NOT NULL, trends varchar(255) NOT NULL);
INSERT INTO hosts VALUES (1, 'web', 0), (2, 'off', 1), (3, 'a template', 3);
INSERT INTO history SELECT 1, extract(epoch FROM now())::integer - 86400 * i - 60 FROM generate_series(0, 89) i;
INSERT INTO trends SELECT 1, extract(epoch FROM now())::integer - 86400 * i - 60 FROM generate_series(0, 700) i;
ANALYZE history, trends;
CREATE VIEW policies AS SELECT parent, premake, retention, pack_after, move_existing FROM zbxhist.parent_config c JOIN pg_class k ON k.oid = c.parent WHERE k.relnamespace = 'zabbix'::regnamespace ORDER BY k.relname;
CREATE FUNCTION found(action text, detail text) RETURNS text LANGUAGE sql AS $$
    SELECT regexp_replace(regexp_replace(detail, '\d{4}-\d\d-\d\d', 'DAY', 'g'), '\d+ (bytes|kB)', 'SIZE', 'g') WHERE action NOT IN ('create_parent', 'preload') $$;
CREATE FUNCTION attempt(command text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE message text; detail text; hint text;
BEGIN
    EXECUTE command;
    RETURN NEXT 'done';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN QUERY SELECT found('error', u) FROM unnest(ARRAY[SQLSTATE || ' ' || message] || string_to_array(detail, E'\n') || hint) u;
END $$;

-- rows of 90 and 701 days, kept for ever; the override would delete most
SELECT parent, action, found(action, detail) FROM zbxhist.setup(configure_zabbix => true, dry_run => true);
SELECT attempt('SELECT * FROM zbxhist.setup(''zabbix'', premake => 2, pack_after => ''2 days'', configure_zabbix => true)');
SELECT * FROM config;
SELECT count(*) FROM policies;
SELECT count(*) FROM zbxhist.managed_schema;

-- without the override nothing is lost; then the same question again
SELECT parent, action, found(action, detail) FROM zbxhist.setup('zabbix', premake => 2, pack_after => '2 days', history_interval => '1 day');
CALL zbxhist.run_maintenance();
SELECT attempt('SELECT * FROM zbxhist.setup(configure_zabbix => true)');
CALL zbxhist.run_maintenance();
SELECT count(*) FROM history;

-- items: prototypes, "0" and shorter ones are not cut
DELETE FROM history WHERE clock < extract(epoch FROM now()) - 31 * 86400;
DELETE FROM trends WHERE clock < extract(epoch FROM now()) - 365 * 86400;
INSERT INTO items VALUES (1, 3, 'of a template', 0, 0, '31d', '365d'), (2, 1, 'a prototype', 2, 0, '900d', '900d'),
    (3, 1, 'text', 0, 4, '31d', '900d'), (4, 1, 'none', 0, 0, '0', '0'), (5, 1, 'short', 4, 0, '31d', '8760h');
SELECT parent, action, found(action, detail) FROM zbxhist.setup(configure_zabbix => true, dry_run => true);
INSERT INTO items VALUES (6, 1, 'CPU load', 0, 0, '90d', '365d'), (7, 2, 'of a host switched off', 4, 0, '2764800', '365d'), (8, 1, 'another', 0, 2, '90d', '0'),
    (9, 1, 'with a macro', 0, 0, '{$KEEP}', '1095d'), (10, 1, repeat('long ', 50), 0, 2, '1y', '0');
SELECT parent, action, found(action, detail) FROM zbxhist.setup(configure_zabbix => true, dry_run => true);
SELECT attempt('SELECT * FROM zbxhist.setup(configure_zabbix => true)');
-- whoever does not know what items keep is asked as well, and nobody's view is read
ALTER TABLE items RENAME TO true_items;
CREATE VIEW items AS SELECT itemid, hostid, name, flags, value_type, history, (1 / 0)::text AS trends FROM true_items;
SELECT attempt('SELECT * FROM zbxhist.setup(configure_zabbix => true)');
DROP VIEW items;
-- what its owner has put into the plan of a query is run as he
CREATE ROLE regress_zbxhist_zabbix;
GRANT CREATE, USAGE ON SCHEMA zabbix TO regress_zbxhist_zabbix;
CREATE FUNCTION evil(integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE TABLE items (LIKE true_items INCLUDING ALL);
CREATE INDEX ON items (itemid) WHERE evil(1);
CREATE OR REPLACE FUNCTION evil(integer) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE EXCEPTION 'code run by %', current_user; END $$;
ALTER TABLE history OWNER TO regress_zbxhist_zabbix;
ALTER TABLE items OWNER TO regress_zbxhist_zabbix;
ALTER TABLE hosts OWNER TO regress_zbxhist_zabbix;
SELECT attempt('SELECT * FROM zbxhist_internal.longer_items(''zabbix'', ''history'', ''31 days'')');
DROP TABLE items;
SELECT zbxhist_internal.longer_items('zabbix', 'history', '31 days');
REASSIGN OWNED BY regress_zbxhist_zabbix TO CURRENT_USER;
DROP OWNED BY regress_zbxhist_zabbix;
DROP ROLE regress_zbxhist_zabbix;
DELETE FROM true_items WHERE itemid > 5;
ALTER TABLE true_items RENAME TO items;
SELECT attempt('SELECT * FROM zbxhist.setup(configure_zabbix => true)');
SELECT hk_history_global, hk_trends_global FROM config;
INSERT INTO history SELECT 1, extract(epoch FROM now())::integer - 86400 * i - 60 FROM generate_series(31, 39) i;
UPDATE config SET hk_history_global = 0;
SELECT parent, action, found(action, detail) FROM zbxhist.setup(configure_zabbix => true, accept_deletion => true);
CALL zbxhist.run_maintenance();
SELECT count(*) FROM history;

-- a table that is new, and an override that nobody acts on so far
CREATE TABLE history_str (LIKE history INCLUDING ALL);
INSERT INTO history_str SELECT 1, extract(epoch FROM now())::integer - 86400 * i - 60 FROM generate_series(0, 39) i;
SELECT attempt('SELECT * FROM zbxhist.setup()');
UPDATE config SET hk_history_mode = 1;
SELECT parent, action, found(action, detail) FROM zbxhist.setup(dry_run => true);
SELECT attempt('SELECT * FROM zbxhist.setup()');

-- on managed tables: what is given, nothing else
SELECT parent, action FROM zbxhist.setup('zabbix', history_retention => '20 days', dry_run => true);
SELECT * FROM policies;
SELECT parent, action, found(action, detail) FROM zbxhist.setup('zabbix', history_retention => '20 days', premake => 5, accept_deletion => true);
SELECT parent, action, found(action, detail) FROM zbxhist.setup('zabbix', trends_retention => '2 years', premake => 1, pack_after => '3 days', move_existing => true);
SELECT parent, action, found(action, detail) FROM zbxhist.setup('zabbix', never_pack => true);
SELECT parent, action, found(action, detail) FROM zbxhist.setup('zabbix');
SELECT * FROM policies;
SELECT * FROM zbxhist.managed_schema;
CREATE TABLE history_text (LIKE history INCLUDING ALL);
CALL zbxhist.run_maintenance();
SELECT * FROM policies WHERE parent = 'history_text'::regclass;

-- arguments make sense, whether there is a table for them or not
SELECT * FROM zbxhist.setup('zabbix', history_retention => '-1 day');
SELECT * FROM zbxhist.setup('zabbix', trends_retention => '0');
SELECT * FROM zbxhist.setup('zabbix', trends_retention => '201 years');
SELECT * FROM zbxhist.setup('zabbix', premake => 100000);
SELECT * FROM zbxhist.setup('zabbix', premake => -1);
SELECT * FROM zbxhist.setup('zabbix', pack_after => '-1 day');
SELECT * FROM zbxhist.setup('zabbix', pack_after => '100000 years');
SELECT * FROM zbxhist.setup('zabbix', pack_after => '1 day', never_pack => true);
SELECT * FROM zbxhist.setup('zabbix', dry_run => NULL);
SELECT * FROM zbxhist.setup('zabbix', configure_zabbix => NULL);
SELECT * FROM zbxhist.managed_schema;

-- who changes a policy, or takes up a table by itself, is told
CREATE TABLE own (LIKE history INCLUDING ALL);
INSERT INTO own SELECT 1, extract(epoch FROM now())::integer - 86400 * i - 60 FROM generate_series(0, 39) i;
SELECT zbxhist_internal.describe_deletion('own', '10 days') ~ '^about 30 rows, \d+ (bytes|kB), the oldest of \d{4}-\d\d-\d\d$';
SELECT zbxhist_internal.describe_deletion('own', '50 days');
SELECT zbxhist.create_parent('own', retention => '50 days');
SELECT zbxhist.create_partition('own', (now() AT TIME ZONE 'UTC')::date - i) IS NOT NULL FROM generate_series(30, 31) i;
SELECT zbxhist_internal.describe_deletion('own', '10 days') ~ '^about 30 rows, 2 whole partitions, \d+ kB, the oldest of \d{4}-\d\d-\d\d$';
-- a large table is not read but estimated
CREATE UNLOGGED TABLE large (itemid bigint NOT NULL, clock integer NOT NULL, filler text NOT NULL, PRIMARY KEY (itemid, clock));
ALTER TABLE large ALTER filler SET STORAGE PLAIN, ALTER clock SET STATISTICS 500;
INSERT INTO large SELECT 1, 1000000 + i, repeat('x', 7000) FROM generate_series(1, 10400) i;
SELECT pg_stat_force_next_flush() \gset
ANALYZE large;
SELECT rows / zbxhist_internal.probable_rows('large')::numeric BETWEEN 0.48 AND 0.52, oldest FROM zbxhist_internal.rows_before('large', 1005200);
SELECT * FROM zbxhist_internal.rows_before('large', 1000001);

-- who goes is told what Zabbix does not do
UPDATE config SET hk_history_mode = 0;
CALL zbxhist.undo('history_str');
CALL zbxhist.undo('own');
UPDATE config SET hk_history_mode = 1;
CALL zbxhist.undo('history_log');

SET client_min_messages = warning;
DROP SCHEMA zabbix CASCADE;
CALL zbxhist.run_maintenance();
TRUNCATE zbxhist.maintenance_log, zbxhist.managed_schema;
ALTER DATABASE :"DBNAME" RESET session_preload_libraries;
