--
-- Runs turned on and off, by setup and alter_parent, on tables that are managed.
--
LOAD 'zbxhist';
SET client_min_messages = error;
\set SHOW_CONTEXT never
CREATE SCHEMA zabbix;
SET search_path = zabbix;
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE history_str (itemid bigint NOT NULL, clock integer NOT NULL, value varchar(255) NOT NULL, ns integer NOT NULL);
CREATE TABLE trends (itemid bigint NOT NULL, clock integer NOT NULL, num integer NOT NULL, value_min double precision NOT NULL, value_avg double precision NOT NULL, value_max double precision NOT NULL, PRIMARY KEY (itemid, clock));
-- places for whole hours to come, of which kind
CREATE VIEW hours AS
SELECT p.parent, p.kind, count(*) > 1 AS many
  FROM zbxhist.partitions p
 WHERE p.from_time > now() AND p.to_clock - p.from_clock = 3600
 GROUP BY p.parent, p.kind;
CREATE FUNCTION attempt(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE message text; hint text;
BEGIN
    EXECUTE command;
    RETURN 'done';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(' | ', message, nullif(hint, ''));
END $$;

-- what does not go together is refused before anything is done
SELECT attempt('SELECT * FROM zbxhist.setup(ingest => ''tree'')');
SELECT attempt('SELECT * FROM zbxhist.setup(ingest => ''runs'', never_pack => true)');
SELECT attempt('SELECT * FROM zbxhist.setup(ingest => ''runs'', history_interval => ''1 day'')');
SELECT count(*) FROM zbxhist.parents;

-- set up with runs: what cannot have them has partitions, and is told
SELECT parent, action, substring(detail, 'new hours as runs|not as runs.*') AS detail
  FROM zbxhist.setup(history_retention => '100 years', trends_retention => '100 years', ingest => 'runs', dry_run => true) WHERE action = 'create_parent';
SELECT count(*) FROM zbxhist.parents;
SELECT count(*) FROM zbxhist.setup(history_retention => '100 years', trends_retention => '100 years', ingest => 'runs');
SELECT parent, ingest FROM zbxhist.parents;
SELECT history_interval, ingest FROM zbxhist.managed_schema;
CALL zbxhist.run_maintenance();
SELECT * FROM hours ORDER BY 1, 2;
SELECT count(*) FROM zbxhist.preview() WHERE action = 'replace';

-- a table that appears later has what the others have
CREATE TABLE history_uint (itemid bigint NOT NULL, clock integer NOT NULL, value numeric(20) NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CALL zbxhist.run_maintenance();
SELECT parent, ingest FROM zbxhist.parents WHERE parent = 'history_uint'::regclass;

-- a setup that says nothing of it leaves it
SELECT parent, action FROM zbxhist.setup(premake => 2) WHERE action <> 'unchanged' AND parent IS NOT NULL;
SELECT parent, ingest FROM zbxhist.parents;
SELECT attempt('SELECT * FROM zbxhist.setup(never_pack => true)');
SELECT attempt('SELECT zbxhist.alter_parent(''history'', partition_interval => ''1 day'')');
SELECT attempt('SELECT * FROM zbxhist.setup(history_interval => ''1 day'')');

-- off: empty hours to come are partitions; those that have rows stay
INSERT INTO history SELECT 1, p.from_clock, 1, 1
  FROM zbxhist.partitions p WHERE parent = 'history'::regclass AND kind = 'runs' AND state = 'future' ORDER BY from_clock OFFSET 1 LIMIT 1;
SELECT zbxhist.alter_parent('history', ingest => 'heap');
SELECT * FROM hours WHERE parent = 'history'::regclass ORDER BY 1, 2;
CALL zbxhist.run_maintenance('history');
SELECT * FROM hours WHERE parent = 'history'::regclass ORDER BY 1, 2;
SELECT count(*) FROM zbxhist.packed_day d LEFT JOIN pg_class k ON k.oid = d.day WHERE k.oid IS NULL;
SELECT count(*) FROM zbxhist.preview('history') WHERE action = 'replace';
SELECT action, count(*) > 1 AS many, min(message) ~ 'in its place' AS detail FROM zbxhist.maintenance_log WHERE action = 'replace' GROUP BY action;
SELECT count(*) FROM history;
SELECT count(*) FROM zbxhist.setup(ingest => 'heap');
SELECT parent, ingest FROM zbxhist.parents;

-- and on
SELECT parent, action, substring(detail, 'new hours as runs.*; before|not as runs.*') AS detail
  FROM zbxhist.setup(ingest => 'runs') WHERE action <> 'preload';
SELECT sum(CASE WHEN partition ~ '^\d+ partitions of' THEN substring(partition, '^\d+')::integer ELSE 1 END) > 1 AS many
  FROM zbxhist.preview('history') WHERE action = 'replace';
CALL zbxhist.run_maintenance();
SELECT * FROM hours ORDER BY 1, 2;
SELECT count(*) FROM history;
INSERT INTO history SELECT i, p.from_clock + i, 1, 1
  FROM zbxhist.partitions p, generate_series(1, 9) i WHERE parent = 'history'::regclass AND kind = 'runs' AND state = 'future';
SELECT count(*) FROM ONLY history;
SELECT code, severity, object, message, hint FROM zbxhist.check() WHERE code NOT IN ('not_preloaded', 'partial_dump') ORDER BY 1, 2;

-- what is done to the table keeps its values from runs: hours to come are partitions, and check() tells
ALTER TABLE history_uint ADD CONSTRAINT positive CHECK (value >= 0);
SELECT code, severity, object, message, hint FROM zbxhist.check() WHERE code NOT IN ('not_preloaded', 'partial_dump') ORDER BY 1, 2;
CALL zbxhist.run_maintenance();
SELECT * FROM hours WHERE parent = 'history_uint'::regclass ORDER BY 1, 2;
SELECT attempt('SELECT zbxhist.alter_parent(''history_uint'', premake => 3)');
SELECT attempt('SELECT zbxhist.alter_parent(''history_uint'', ingest => ''heap'')');
SELECT attempt('SELECT zbxhist.alter_parent(''history_uint'', ingest => ''runs'')');
ALTER TABLE history_uint DROP CONSTRAINT positive;
SELECT attempt('SELECT zbxhist.alter_parent(''history_uint'', ingest => ''runs'')');
CREATE FUNCTION nop() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
CREATE TRIGGER mine AFTER INSERT ON history_uint FOR EACH ROW EXECUTE FUNCTION nop();
SELECT zbxhist_internal.why_no_runs('history_uint');
DROP TRIGGER mine ON history_uint;
CREATE TRIGGER mine AFTER UPDATE ON history_uint FOR EACH ROW EXECUTE FUNCTION nop();
SELECT zbxhist_internal.why_no_runs('history_uint');
ALTER TABLE history_uint DROP CONSTRAINT history_uint_pkey;
SELECT zbxhist_internal.why_no_runs('history_uint');
ALTER TABLE history_uint ADD UNIQUE (itemid, clock, ns);
SELECT zbxhist_internal.why_no_runs('history_uint');
CREATE TABLE loose (itemid bigint NOT NULL, clock integer NOT NULL, value numeric(20) NOT NULL, ns integer, UNIQUE (itemid, clock, ns));
SELECT zbxhist_internal.why_no_runs('loose');
CREATE TABLE other (id bigint UNIQUE);
ALTER TABLE loose ALTER ns SET NOT NULL, ADD FOREIGN KEY (itemid) REFERENCES other (id);
SELECT zbxhist_internal.why_no_runs('loose');

RESET search_path;
SET zbxhist.allow_packed_drop = on;
DROP SCHEMA zabbix CASCADE;
SELECT zbxhist_internal.forget_dropped();
TRUNCATE zbxhist.maintenance_log, zbxhist.managed_schema;
RESET session_preload_libraries;
