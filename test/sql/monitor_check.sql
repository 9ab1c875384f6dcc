-- check and the views: each finding, and that its hint mends it.
-- as after setup: no session is told about it
\a \t
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'zbxhist';
\set SHOW_CONTEXT never
-- what earlier tests have dropped
SELECT zbxhist_internal.forget_dropped();
SET TimeZone = 'UTC';
-- one day for all of it
DO $$ BEGIN PERFORM pg_sleep(left_over + 1) FROM (SELECT 86400 - extract(epoch FROM now()) % 86400) AS day (left_over) WHERE left_over < 180; END $$;
CREATE SCHEMA checks;
SET search_path = checks, public, zbxhist_partitions;
CREATE ROLE regress_zbxhist_someone;
CREATE FUNCTION nop() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN coalesce(new, old); END';
CREATE FUNCTION found() RETURNS TABLE (severity text, code text, object text, message text, hint text) LANGUAGE sql AS $$
    SELECT severity, code, regexp_replace(object, '\d{8}', 'DATE', 'g'), replace(regexp_replace(message, '\d{4}-\d\d-\d\d.* UTC', 'TIME'), current_user, 'OWNER'), replace(regexp_replace(hint, '_p\d{8}', '_pDATE', 'g'), current_user, 'OWNER') FROM zbxhist.check() $$;
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL DEFAULT 0, value double precision NOT NULL DEFAULT 0,
    ns integer NOT NULL DEFAULT 0, PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history', premake => 1, retention => '30 days');
SELECT partition AS today, partition || '_pkey' AS today_pkey FROM zbxhist.list_partitions('history') ORDER BY from_clock LIMIT 1 \gset
SELECT partition AS tomorrow, partition || '_pkey' AS tomorrow_pkey FROM zbxhist.list_partitions('history') ORDER BY from_clock DESC LIMIT 1 \gset
SELECT * FROM found();

-- partitions
DROP TABLE :tomorrow, :today;
SELECT * FROM found();
CALL zbxhist.run_maintenance('checks.history');
CREATE TABLE astray (CHECK (clock > 5)) INHERITS (history);
SELECT * FROM found();
ALTER TABLE astray NO INHERIT history;
CREATE TABLE copy (CONSTRAINT zbxhist_clock CHECK (clock >= 1578182400 AND clock < 1578182600)) INHERITS (history);
ALTER TABLE copy ADD PRIMARY KEY (itemid, clock, ns);
CREATE TABLE copy2 (LIKE copy INCLUDING ALL) INHERITS (history);
SELECT * FROM found();
DROP TABLE copy, copy2;

-- owner, privileges, indexes
ALTER TABLE :today OWNER TO regress_zbxhist_someone;
GRANT SELECT ON history TO regress_zbxhist_someone;
CREATE INDEX ON history (value);
ALTER TABLE :tomorrow DROP CONSTRAINT :tomorrow_pkey;
SELECT * FROM found();
CALL zbxhist.run_maintenance();
-- a key is made in a partition that is empty, and left to the administrator in one with rows
ALTER TABLE :today DROP CONSTRAINT :today_pkey;
INSERT INTO :today VALUES (1, extract(epoch FROM now()));
CALL zbxhist.run_maintenance();
SELECT * FROM found();
ALTER TABLE :today ADD PRIMARY KEY (itemid, clock, ns);
TRUNCATE :today;
-- privileges that somebody has on a partition alone, and those of columns
GRANT SELECT (value) ON history TO regress_zbxhist_someone WITH GRANT OPTION;
GRANT UPDATE (ns), INSERT ON :today TO regress_zbxhist_someone;
GRANT DELETE ON :tomorrow TO PUBLIC;
CALL zbxhist.run_maintenance();
SELECT bool_and(zbxhist_internal.describe_grants(partition) = zbxhist_internal.describe_grants('history')) FROM zbxhist.list_partitions('history');
SELECT has_table_privilege('regress_zbxhist_someone', :'today', 'INSERT'), has_column_privilege('regress_zbxhist_someone', :'today', 'value', 'SELECT WITH GRANT OPTION');
REVOKE ALL ON history FROM regress_zbxhist_someone;
CALL zbxhist.run_maintenance();
SELECT zbxhist_internal.describe_grants(:'today');
-- triggers, rules, row security
DROP TRIGGER zzz_zbxhist_route ON history;
ALTER TABLE history DISABLE TRIGGER zzz_zbxhist_replica;
ALTER TABLE history ENABLE ALWAYS TRIGGER "00_zbxhist_flush";
SELECT * FROM found();
CALL zbxhist.run_maintenance();
ALTER TABLE history ENABLE REPLICA TRIGGER zzz_zbxhist_replica;
ALTER TABLE history ENABLE TRIGGER "00_zbxhist_flush";
SELECT * FROM found();
CREATE TRIGGER zzzz_late BEFORE INSERT ON history FOR EACH ROW EXECUTE FUNCTION nop();
CREATE TRIGGER a_early BEFORE INSERT ON history FOR EACH ROW EXECUTE FUNCTION nop();
CREATE TRIGGER transition AFTER INSERT ON history REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION nop();
CREATE RULE nothing AS ON DELETE TO history DO ALSO NOTHING;
ALTER TABLE history ENABLE ROW LEVEL SECURITY;
SELECT * FROM found();
DROP TRIGGER zzzz_late ON history;
DROP TRIGGER transition ON history;
DROP RULE nothing ON history;
ALTER TABLE history DISABLE ROW LEVEL SECURITY;
SELECT * FROM found();

-- rows in the parent
SET session_replication_role = replica;
INSERT INTO history SELECT i, extract(epoch FROM now())::integer FROM generate_series(1, 3) i;
INSERT INTO history VALUES (1, 1);
RESET session_replication_role;
SELECT * FROM found();
SELECT rows_waiting, rows_waiting_exact FROM zbxhist.status;
CALL zbxhist.run_maintenance();
SELECT * FROM found();

-- maintenance
UPDATE zbxhist.parent_state SET last_run = now() - interval '2 days';
SELECT * FROM found();
UPDATE zbxhist.parent_state SET last_run = now();
DELETE FROM zbxhist.parent_state;
UPDATE zbxhist.parent_config SET created_at = now() - interval '2 days';
SELECT * FROM found();
CALL zbxhist.run_maintenance();
SELECT * FROM found();

-- Zabbix's settings
CREATE TABLE config (hk_history_mode integer, hk_history_global integer, hk_history text);
INSERT INTO config VALUES (1, 1, '7d');
SELECT * FROM found();
SELECT zbxhist.alter_parent('history', follow_zabbix => true);
UPDATE config SET hk_history = '0', hk_history_mode = 0;
SELECT * FROM found();
UPDATE config SET hk_history = 'long';
SELECT * FROM found();
UPDATE config SET hk_history = '7d', hk_history_global = 0;
SELECT * FROM found();
DELETE FROM config;
SELECT * FROM found();
INSERT INTO config VALUES (0, 1, '1w');
SELECT * FROM found();
DROP TABLE config;
SELECT * FROM found();
SELECT zbxhist.alter_parent('history', retention => '30 days');

-- a table dropped
CREATE TABLE other (LIKE history INCLUDING ALL);
SELECT zbxhist.create_parent('other', retention => '1 day');
CALL zbxhist.run_maintenance('other');
SET client_min_messages = warning;
DROP TABLE other CASCADE;
RESET client_min_messages;
SELECT * FROM found();
SELECT count(*) FROM zbxhist.status;
SELECT count(*) FROM zbxhist.parents;
SELECT count(DISTINCT parent) FROM zbxhist.partitions;
CALL zbxhist.run_maintenance();
SELECT * FROM found();

-- the views
SELECT zbxhist.create_partition('history', (now() AT TIME ZONE 'UTC')::date - 1) AS yesterday \gset
INSERT INTO history SELECT i, extract(epoch FROM now())::integer FROM generate_series(1001, 2000) i;
-- what is not reported yet, ANALYZE would count twice
SELECT pg_stat_force_next_flush() \gset
ANALYZE :today, :tomorrow, :yesterday;
SELECT parent, kind, to_clock - from_clock AS seconds, to_time - from_time AS time, state, rows, bytes > 0 AS has_bytes, bytes_per_value BETWEEN 40 AND 300 AS per_value FROM zbxhist.partitions;
SELECT parent, partitions, partitions_ahead, covered_until - date_trunc('day', now()) AS covered, rows_waiting, last_run = last_success AS success, last_error,
       next_drop - date_trunc('day', now()) AS next_drop FROM zbxhist.status;
SELECT parent, partition_interval, premake, retention, effective_retention, retention_source, pack_after, move_existing, routing FROM zbxhist.parents;

-- what is asked is answered in parallel mode as well
SELECT set_config(name, 'on', false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SELECT count(*) FROM zbxhist.check() WHERE code = 'unfit';
SELECT count(*) FROM zbxhist.preview() WHERE action = 'unpack';
SELECT jsonb_array_length(zbxhist.metrics() -> 'tables');
SELECT count(*), sum(s.partitions) > 0 AS partitions FROM zbxhist.status s;
SELECT set_config(name, reset_val, false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');

SET client_min_messages = warning;
DROP SCHEMA checks CASCADE;
DROP ROLE regress_zbxhist_someone;
CALL zbxhist.run_maintenance();
TRUNCATE zbxhist.maintenance_log;
ALTER DATABASE :"DBNAME" RESET session_preload_libraries;
