-- Partitions of hours: made for some hours ahead, the rest of that day and days
-- beyond, which are replaced by hours in time, three at once; packed soon; all of a day in one line.
-- as after setup: no session is told about it
\a \t
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'zbxhist';
\set SHOW_CONTEXT never
SET TimeZone = 'UTC';
SET intervalstyle = postgres;
SET datestyle = 'ISO, YMD';
-- what maintenance takes for the present is set here
SELECT pg_get_functiondef('zbxhist_internal.current_clock()'::regprocedure) AS original \gset
CREATE OR REPLACE FUNCTION zbxhist_internal.current_clock() RETURNS bigint LANGUAGE sql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT current_setting('hours.present')::bigint $$;
-- the hours of a day stay (what they become: packed_compact)
SET zbxhist.maintenance_repack_limit = 0;
CREATE SCHEMA hours;
SET search_path = hours, zbxhist_partitions;
CREATE FUNCTION at(moment text) RETURNS void LANGUAGE sql AS $$
    SELECT set_config('hours.present', extract(epoch FROM moment::timestamptz)::bigint::text, false) $$;
CREATE FUNCTION clock(moment text) RETURNS integer LANGUAGE sql AS $$ SELECT extract(epoch FROM moment::timestamptz)::integer $$;
CREATE FUNCTION name_free(bigint) RETURNS text LANGUAGE sql AS $$ SELECT to_char(to_timestamp($1), 'MM-DD HH24:MI') $$;
-- one line for neighbours of one kind and length
CREATE FUNCTION shown(parent regclass) RETURNS TABLE (ranges bigint, length interval, from_time text, to_time text, packed boolean) LANGUAGE sql AS $$
    SELECT count(*), make_interval(secs => s.length), name_free(min(s.from_clock)), name_free(max(s.to_clock)), s.is_packed
      FROM (SELECT r.*, r.to_clock - r.from_clock AS length,
                   row_number() OVER (ORDER BY r.from_clock)
                   - row_number() OVER (PARTITION BY r.to_clock - r.from_clock, r.is_packed ORDER BY r.from_clock) AS run
              FROM zbxhist_internal.list_ranges(parent) r) s
     GROUP BY s.length, s.is_packed, s.run ORDER BY min(s.from_clock) $$;
CREATE TABLE history (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, value double precision DEFAULT '0.0000' NOT NULL, ns integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid,clock,ns));
CREATE TABLE trends (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, num integer DEFAULT '0' NOT NULL, value_min double precision DEFAULT '0.0000' NOT NULL, value_avg double precision DEFAULT '0.0000' NOT NULL, value_max double precision DEFAULT '0.0000' NOT NULL, PRIMARY KEY (itemid,clock));

-- the default, in the morning: what is over of today has a partition, too
SELECT at('2026-11-20 10:30');
SELECT parent, action, detail FROM zbxhist.setup('hours', '100 years', '100 years', dry_run => true) WHERE action = 'create_parent';
SELECT parent, action FROM zbxhist.setup('hours', '100 years', '100 years') WHERE action = 'create_parent';
SELECT * FROM shown('history');
SELECT * FROM shown('trends');
-- hours, and only these, are packed before VACUUM and ANALYZE would be worth their writes
SELECT DISTINCT p.to_clock - p.from_clock AS seconds, k.reloptions
  FROM zbxhist_internal.parent_list() c, unnest(c) AS u (parent), zbxhist.list_partitions(u.parent) p
  JOIN pg_class k ON k.oid = p.partition
 WHERE u.parent = 'history'::regclass ORDER BY 1;
SELECT table_name, action, partition FROM zbxhist.preview();
SELECT parent, partition_interval, premake, pack_after FROM zbxhist.parents;
SELECT schema_name, premake, pack_after, history_interval FROM zbxhist.managed_schema;
SELECT partition FROM zbxhist.list_partitions('history') ORDER BY from_clock LIMIT 3;

-- a statement's rows go to their hours, and a key is stored once
INSERT INTO history (itemid, clock) SELECT i, clock('2026-11-20 00:00') + h * 3600 + s
  FROM generate_series(1, 3) i, generate_series(0, 24) h, (VALUES (0), (3599)) v (s);
SELECT tableoid::regclass, count(*), min(clock) % 3600, max(clock) % 3600 FROM history GROUP BY 1 ORDER BY min(clock);
INSERT INTO history (itemid, clock) VALUES (1, clock('2026-11-20 13:59:59'));
SELECT count(*), count(DISTINCT tableoid) FROM history WHERE itemid = 2 AND clock BETWEEN clock('2026-11-20 11:00') AND clock('2026-11-20 12:30');
DELETE FROM history WHERE clock >= clock('2026-11-21 00:00');
TRUNCATE history_p20261121;

-- until the evening tomorrow is a day; then it gets its first hours, if nothing was ever stored in it
SELECT at('2026-11-20 19:59:59');
SELECT table_name, action, partition FROM zbxhist.preview('history') WHERE action IN ('create', 'split');
SELECT at('2026-11-20 20:00');
SELECT table_name, action, partition, from_time, to_time FROM zbxhist.preview('history') WHERE action IN ('create', 'split');
TRUNCATE history_p20261121;
CREATE VIEW of_the_future AS SELECT * FROM history_p20261121;
SELECT action, partition FROM zbxhist.preview('history') WHERE action = 'split';
DROP VIEW of_the_future;
SELECT table_name, action, partition, from_time, to_time FROM zbxhist.preview('history') ORDER BY action, from_time;
CALL zbxhist.run_maintenance('history');
SELECT * FROM shown('history');
SELECT action, relation, sqlstate, message FROM zbxhist.maintenance_log WHERE parent = 'history'::regclass AND action IN ('split', 'premake') ORDER BY id;
-- a row that comes for a day to come
SELECT at('2026-11-21 11:00');
INSERT INTO history (itemid, clock) VALUES (1, clock('2026-11-22 05:00'));
SELECT at('2026-11-21 23:00');
CALL zbxhist.run_maintenance('history');
SELECT * FROM shown('history') WHERE to_time > '11-21';
SELECT action, count(*) AS times, count(sqlstate) AS in_vain, sum(rows) AS rows FROM zbxhist.maintenance_log WHERE parent = 'history'::regclass GROUP BY 1 ORDER BY action;

-- maintenance stands still: a day's partition serves, and then the table itself
SELECT at('2026-11-24 20:20');
INSERT INTO history (itemid, clock) SELECT 1, clock('2026-11-22 00:00') + h * 3600 FROM generate_series(0, 80) h WHERE h <> 5;
SELECT tableoid::regclass, count(*) FROM history WHERE clock >= clock('2026-11-22 00:00') GROUP BY 1 ORDER BY 1;
SELECT table_name, action, partition FROM zbxhist.preview('history');
CALL zbxhist.run_maintenance('history');
SELECT * FROM shown('history');
SELECT tableoid::regclass, count(*) FROM history GROUP BY 1 ORDER BY 1;
SELECT count(*), sum(clock) FROM history;

-- by hand: all of a day
CALL zbxhist.unpack('history', '2026-11-20');
SELECT count(*) FROM zbxhist_internal.ranges_of_day('history', '2026-11-20') WHERE NOT is_packed;
CALL zbxhist.unpack('history', '2026-11-20');
CALL zbxhist.pack('history', '2026-11-20');
CALL zbxhist.pack('history', '2026-11-20');
CALL zbxhist.repack('history', '2026-11-20');
SELECT count(*), bool_and(is_packed) FROM zbxhist_internal.ranges_of_day('history', '2026-11-20');
CALL zbxhist.pack('history', '2026-11-25');
CALL zbxhist.pack('history', '2030-11-25');
SELECT count(*), sum(clock) FROM history;
-- for a backfill a day is made in one
SELECT zbxhist.create_partition('history', '2026-11-10');
SELECT zbxhist.create_partition('history', '2026-11-20');
SELECT count(*) FROM zbxhist.partitions_by_day WHERE parent = 'history'::regclass;
SELECT from_time, to_time, packed, rows FROM zbxhist.partitions_by_day WHERE parent = 'history'::regclass ORDER BY from_time LIMIT 3;

-- a retention that ends within a day keeps what is younger
SET client_min_messages = warning;
SELECT zbxhist.alter_parent('history', retention => '4 days 8 hours', accept_deletion => true);
RESET client_min_messages;
SELECT partitions, rows, name_free(oldest) FROM zbxhist_internal.deletion('history', '4 days 8 hours');
SELECT action, partition, from_time, to_time FROM zbxhist.preview('history') WHERE action = 'drop';
CALL zbxhist.run_maintenance('history');
SELECT name_free(min(clock)) FROM history;
SELECT zbxhist.alter_parent('history', retention => '100 years');

-- late values: in the table itself until they are merged
INSERT INTO history (itemid, clock) SELECT 7, clock('2026-11-20 13:00') + h * 3600 FROM generate_series(0, 9) h;
INSERT INTO history (itemid, clock) VALUES (7, clock('2026-11-20 13:00'));
SELECT tableoid::regclass, count(*) FROM history WHERE itemid = 7 GROUP BY 1;
SELECT table_name, action, partition, rows FROM zbxhist.preview('history') WHERE action = 'merge';
CALL zbxhist.run_maintenance('history');
SELECT tableoid::regclass, count(*) FROM history WHERE itemid = 7 GROUP BY 1;

-- another owner: all that the table has becomes theirs in one run
CREATE ROLE regress_zbxhist_hours;
GRANT CREATE ON SCHEMA hours TO regress_zbxhist_hours;
ALTER TABLE history OWNER TO regress_zbxhist_hours;
SELECT count(*) > 10 AS many FROM zbxhist_internal.foreign_children('history');
CALL zbxhist.run_maintenance('history');
SELECT count(*) FROM zbxhist_internal.foreign_children('history');
ALTER TABLE history OWNER TO CURRENT_USER;
CALL zbxhist.run_maintenance('history');
SELECT DISTINCT sqlstate, message FROM zbxhist.maintenance_log WHERE parent = 'history'::regclass AND action = 'owner';
DROP OWNED BY regress_zbxhist_hours;
DROP ROLE regress_zbxhist_hours;

-- partitions of somebody whom the one who maintains may not act for are left alone, and check says so
CREATE ROLE regress_zbxhist_hours;
CREATE ROLE regress_zbxhist_other;
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I OWNER TO regress_zbxhist_hours', current_database()); END $$;
GRANT ALL ON SCHEMA hours TO regress_zbxhist_hours, regress_zbxhist_other;
SET ROLE regress_zbxhist_hours;
SELECT at('2026-12-01 01:30');
CREATE TABLE kept (itemid bigint NOT NULL, clock integer NOT NULL, value double precision, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('kept', '1 hour', retention => '1 day', pack_after => '1 hour');
RESET ROLE;
ALTER TABLE kept_p20261202 OWNER TO regress_zbxhist_other;
ALTER TABLE kept_p20261201_0200 OWNER TO regress_zbxhist_other;
SET ROLE regress_zbxhist_hours;
SELECT at('2026-12-01 20:30');
CALL zbxhist.run_maintenance('kept');
SELECT * FROM shown('kept');
SELECT action, relation, sqlstate FROM zbxhist.maintenance_log WHERE parent = 'kept'::regclass AND sqlstate IS NOT NULL;
SELECT severity, code, object, hint FROM zbxhist.check() WHERE object ~ 'kept';
SELECT at('2026-12-02 03:30');
CALL zbxhist.run_maintenance('kept');
SELECT * FROM shown('kept') LIMIT 3;
SELECT action, relation, sqlstate FROM zbxhist.maintenance_log WHERE parent = 'kept'::regclass AND sqlstate IS NOT NULL;
RESET ROLE;
ALTER TABLE zbxhist_partitions.kept_p20261202 OWNER TO regress_zbxhist_hours;
ALTER TABLE zbxhist_partitions.kept_p20261201_0200 OWNER TO regress_zbxhist_hours;
SET ROLE regress_zbxhist_hours;
CALL zbxhist.run_maintenance('kept');
SELECT * FROM shown('kept') LIMIT 2;
SELECT severity, code, object FROM zbxhist.check() WHERE object ~ 'kept';
RESET ROLE;
SET zbxhist.allow_packed_drop = on;
SET client_min_messages = warning;
DROP TABLE kept CASCADE;
RESET client_min_messages;
RESET zbxhist.allow_packed_drop;
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I OWNER TO CURRENT_USER', current_database()); END $$;
DROP OWNED BY regress_zbxhist_hours, regress_zbxhist_other;
DROP ROLE regress_zbxhist_hours, regress_zbxhist_other;
SELECT at('2026-11-24 20:20');

-- all is well: a note on dumps, and nothing else
SELECT severity, code, object, message FROM zbxhist.check();
-- hundreds of a kind are a line for check
CREATE INDEX ON history (value);
UPDATE zbxhist.parent_state SET last_run = now() - interval '2 days' WHERE parent = 'history'::regclass;
SELECT severity, code, object, message, hint FROM zbxhist.check() WHERE code = 'indexes';
DROP INDEX history_value_idx;
INSERT INTO zbxhist.step_problem SELECT 'history', s.step, partition::text, now() - interval '2 days', now(), s.state, format('%s of %s', s.step, partition)
  FROM zbxhist.list_partitions('history'), (VALUES ('drop', 'XX000'), ('align', '55P03')) s (step, state);
SELECT severity, code, object, message FROM zbxhist.check() WHERE code IN ('step_failed', 'waits_for_lock');
DELETE FROM zbxhist.step_problem;

-- other lengths
CREATE TABLE other (LIKE history INCLUDING ALL);
SELECT i, make_interval(secs => zbxhist_internal.span_seconds(i::interval)), name_free(zbxhist_internal.fine_until(i::interval))
  FROM unnest('{1 minute,5 minutes,15 minutes,30 minutes,32 minutes,1 hour,90 minutes,2 hours,8 hours,12 hours,7 hours,1 day,24 hours,7 days,1 month}'::text[]) i;
SELECT zbxhist.create_parent('other', '15 minutes', premake => 1);
CALL zbxhist.run_maintenance('other');
SELECT * FROM shown('other');
SELECT at('2026-11-24 22:00');
CALL zbxhist.run_maintenance('other');
SELECT * FROM shown('other');
SELECT partition FROM zbxhist.list_partitions('other') ORDER BY from_clock DESC LIMIT 4;
CALL zbxhist.undo('other');
SELECT zbxhist.create_parent('other', '1 day', premake => 2, pack_after => '1 day');
SELECT zbxhist.alter_parent('other', partition_interval => '1 hour');
CALL zbxhist.run_maintenance('other');
SELECT * FROM shown('other');
SELECT zbxhist.alter_parent('other', partition_interval => '1 day');
CALL zbxhist.run_maintenance('other');
SELECT * FROM shown('other');
CALL zbxhist.undo('other');
SELECT zbxhist.create_parent('other', '8 hours', premake => 2);
SELECT * FROM shown('other');
CALL zbxhist.undo('other');
SELECT zbxhist.create_parent('other', '1 day', premake => 2);
SELECT zbxhist.alter_parent('other', partition_interval => '1 minute');
CALL zbxhist.run_maintenance('other');
SELECT * FROM shown('other');
CALL zbxhist.undo('other');

-- days go over to hours by setup(), if it says so
SELECT parent, action FROM zbxhist.setup('hours', history_interval => '1 day') WHERE action <> 'preload';
SELECT parent, partition_interval, pack_after FROM zbxhist.parents;
SELECT parent, action FROM zbxhist.setup('hours') WHERE action <> 'preload';
CREATE TABLE history_str (LIKE history INCLUDING ALL);
CALL zbxhist.run_maintenance('trends');
SELECT policy.partition_interval FROM zbxhist.managed_schema m, zbxhist_internal.new_policy('history_str', false, m) policy;
SELECT detail FROM zbxhist.setup('hours', history_interval => '1 hour', dry_run => true) WHERE parent = 'history'::regclass;
SELECT parent, action FROM zbxhist.setup('hours', history_interval => '1 hour') WHERE action <> 'preload';
SELECT parent, partition_interval, pack_after FROM zbxhist.parents;
SELECT premake, pack_after, history_interval FROM zbxhist.managed_schema;
SELECT zbxhist.alter_parent('history', partition_interval => '1 day', pack_after => '2 hours');
SELECT parent, action FROM zbxhist.setup('hours') WHERE action <> 'preload';
SELECT parent, action, detail FROM zbxhist.setup('hours', pack_after => '2 hours', history_interval => '30 minutes', dry_run => true) WHERE action <> 'preload';
SELECT * FROM zbxhist.setup('hours', history_interval => '90 seconds');
SELECT * FROM zbxhist.setup('hours', history_interval => '0');

-- what the table is set to is kept
ALTER TABLE history SET (autovacuum_analyze_threshold = 7);
SELECT zbxhist_internal.create_range('history', clock('2026-10-01 05:00'), clock('2026-10-01 06:00'));
SELECT reloptions FROM pg_class WHERE oid = 'history_p20261001_0500'::regclass;

SET client_min_messages = warning;
SET zbxhist.allow_packed_drop = on;
DROP SCHEMA hours CASCADE;
:original;
CALL zbxhist.run_maintenance();
TRUNCATE zbxhist.maintenance_log, zbxhist.managed_schema;
ALTER DATABASE :"DBNAME" RESET session_preload_libraries;
