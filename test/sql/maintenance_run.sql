-- run_maintenance: premake, move, drop, expire, truncate; what goes wrong.
-- as after setup: no session is told about it
\a \t
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'zbxhist';
\set SHOW_CONTEXT never
SET TimeZone = 'UTC';
-- one day for all of it
DO $$ BEGIN PERFORM pg_sleep(left_over + 1) FROM (SELECT 86400 - extract(epoch FROM now()) % 86400) AS day (left_over) WHERE left_over < 180; END $$;
CREATE SCHEMA maint;
SET search_path = maint, public, zbxhist_partitions;

-- periods as Zabbix writes them
SELECT p, zbxhist_internal.parse_period(p)
  FROM unnest('{31d,1w,12h,90,3600s,5m,0,0d,007d," 1d ",1M,1y,-1d,1.5d,d,"","{$MACRO}",99999999999999999999d,1000000000w,999999999w,73201d,73200d}'::text[]) p;
SELECT zbxhist_internal.parse_period(NULL) IS NULL AS is_null;

CREATE FUNCTION today(days integer DEFAULT 0) RETURNS integer LANGUAGE sql STABLE AS
    $$ SELECT (floor(extract(epoch FROM now()) / 86400) * 86400)::integer + 86400 * days $$;
CREATE FUNCTION day(days integer) RETURNS date LANGUAGE sql STABLE AS
    $$ SELECT (to_timestamp(today(days)) AT TIME ZONE 'UTC')::date $$;
-- where the rows are, in days from today
CREATE FUNCTION places(parent regclass) RETURNS TABLE (days integer, in_parent boolean, count bigint) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format('SELECT (clock - today()) / 86400, tableoid = %s::oid, count(*) FROM %s WHERE clock >= today(-10) GROUP BY 1, 2 ORDER BY 1, 2', parent::oid, parent);
END $$;
-- what has been done since the last look
CREATE TEMP TABLE seen AS SELECT id FROM zbxhist.maintenance_log;
CREATE FUNCTION done(OUT parent regclass, OUT action text, OUT relation text, OUT rows bigint, OUT freed boolean, OUT sqlstate text, OUT message text)
RETURNS SETOF record LANGUAGE sql AS $$
    WITH new AS (INSERT INTO seen SELECT id FROM zbxhist.maintenance_log EXCEPT SELECT id FROM seen RETURNING id)
    SELECT l.parent, l.action,
           coalesce('day ' || ((regexp_match(l.relation, '_p(\d{8})'))[1]::date - day(0)), l.relation), l.rows, l.bytes > 0, l.sqlstate, l.message
      FROM zbxhist.maintenance_log l JOIN new USING (id) ORDER BY l.id $$;

CREATE TABLE h (itemid bigint NOT NULL, clock integer NOT NULL DEFAULT 0, value double precision NOT NULL DEFAULT 0,
    ns integer NOT NULL DEFAULT 0, PRIMARY KEY (itemid, clock, ns));
-- ten days of history, 30 items, an hour apart
INSERT INTO h SELECT i, c, i, 7 FROM generate_series(1, 30) i, generate_series(today(-9), today(0), 3600) c;
SELECT zbxhist.create_parent('h', premake => 1);
SELECT zbxhist.create_partition('h', day(-1)) IS NOT NULL AS yesterday;

-- not in a transaction block
BEGIN;
CALL zbxhist.run_maintenance();
ROLLBACK;

-- only what is within reach of a partition is moved; no retention, nothing dropped
SELECT table_name, action, from_time::date - day(0) AS from_day, to_time::date - day(0) AS to_day, rows FROM zbxhist.preview();
CALL zbxhist.run_maintenance();
SELECT * FROM places('h');
SELECT * FROM done();
CALL zbxhist.run_maintenance();
SELECT * FROM done();
SELECT * FROM zbxhist.preview();

-- more partitions ahead
SELECT zbxhist.alter_parent('h', premake => 3);
SELECT action, from_time::date - day(0) AS from_day, to_time::date - day(0) AS to_day FROM zbxhist.preview('h');
CALL zbxhist.run_maintenance('h');
SELECT * FROM done();

-- rows of the future and of replication wait in the parent until their partition is there
INSERT INTO h SELECT i, today(5) + 3600, i, 7 FROM generate_series(1, 30) i;
SET session_replication_role = replica;
INSERT INTO h SELECT i, today(2) + 3600, i, 7 FROM generate_series(1, 30) i;
RESET session_replication_role;
SELECT * FROM places('h') WHERE days > 0;
CALL zbxhist.run_maintenance('h');
SELECT * FROM done();
SELECT * FROM places('h') WHERE days > 0;

-- retention: few rows in the parent are deleted, all rows at once truncated
SET client_min_messages = warning;
SELECT zbxhist.alter_parent('h', retention => '7 days', accept_deletion => true);
SELECT floor(extract(epoch FROM now())) - 7 * 86400 AS expired \gset
RESET client_min_messages;
SELECT action, rows > 0 AS has_rows FROM zbxhist.preview('h');
CALL zbxhist.run_maintenance('h');
SELECT action, relation, rows > 0 AS has_rows, sqlstate, message FROM done();
SELECT min(clock) >= :expired AS within FROM h;

-- existing rows are moved when that is asked for, and then the parent is emptied
SELECT zbxhist.alter_parent('h', move_existing => true, premake => 6);
CALL zbxhist.run_maintenance('h');
SELECT action, relation, freed, sqlstate, message FROM done() WHERE relation IS DISTINCT FROM 'day -7';
SELECT count(*) FROM ONLY h;
SELECT pg_relation_size('h');

-- partitions past retention are dropped
SET client_min_messages = warning;
SELECT zbxhist.alter_parent('h', retention => '2 days', accept_deletion => true);
RESET client_min_messages;
SELECT action, from_time::date - day(0) AS from_day, to_time::date - day(0) AS to_day, bytes > 0 AS has_bytes FROM zbxhist.preview('h') WHERE from_time::date - day(0) <> -7;
CALL zbxhist.run_maintenance('h');
SELECT action, relation, freed, sqlstate, message FROM done() WHERE relation IS DISTINCT FROM 'day -7';
SELECT * FROM places('h');
SELECT * FROM zbxhist.preview('h');
SELECT * FROM zbxhist.check();

-- all in the parent is past retention: one TRUNCATE ONLY
CREATE TABLE big (itemid bigint NOT NULL, clock integer NOT NULL DEFAULT 0, value double precision NOT NULL DEFAULT 0,
    ns integer NOT NULL DEFAULT 0, PRIMARY KEY (itemid, clock, ns));
INSERT INTO big SELECT i, c, i, 7 FROM generate_series(1, 100) i, generate_series(1, 2000) c;
SELECT zbxhist_internal.own_pages('big') > 1000 AS is_walked;
SET client_min_messages = warning;
SELECT zbxhist.create_parent('big', premake => 0, retention => '1 day', accept_deletion => true);
RESET client_min_messages;
INSERT INTO big SELECT i, today(), i, 7 FROM generate_series(1, 100) i;
SELECT action, bytes > 0 AS has_bytes FROM zbxhist.preview('big');
CALL zbxhist.run_maintenance('big');
SELECT action, freed, sqlstate FROM done();
SELECT count(*), pg_relation_size('big') FROM big;
-- the walk from item to item finds what a scan finds
INSERT INTO big SELECT i, c, i, 7 FROM generate_series(-5000000000, 5000000000, 100000000) i, generate_series(1, 2000) c;
DELETE FROM big WHERE itemid > 0 AND clock >= 1990 OR itemid = -4900000000 AND clock > 10;
SELECT zbxhist_internal.has_own_rows('big', c), zbxhist_internal.waiting_clock('big', c, 5000, true) AS newest, zbxhist_internal.waiting_clock('big', 3, c, false) AS oldest,
       (SELECT max(clock) FROM ONLY big WHERE clock BETWEEN c AND 4999) AS scan_newest, (SELECT min(clock) FROM ONLY big WHERE clock BETWEEN 3 AND c - 1) AS scan_oldest
  FROM unnest('{-5,0,1,3,4,1989,1990,2000,2001,5001}'::bigint[]) c;
SELECT zbxhist_internal.has_own_rows('big', NULL);
SELECT zbxhist_internal.waiting_clock('big', 2001, 5000, true);
CREATE TABLE no_index AS SELECT * FROM big;
SELECT zbxhist_internal.count_own_rows('no_index', 0, 1000), zbxhist_internal.has_own_rows('no_index', 2001), zbxhist_internal.has_own_rows('no_index', 2000), zbxhist_internal.waiting_clock('no_index', 0, 1000, true);

-- without a primary key
CREATE TABLE legacy (itemid bigint NOT NULL, clock integer NOT NULL DEFAULT 0, value double precision NOT NULL DEFAULT 0, ns integer NOT NULL DEFAULT 0);
CREATE INDEX legacy_1 ON legacy (itemid, clock);
INSERT INTO legacy SELECT i, today(d), 1, 1 FROM generate_series(1, 10) i, generate_series(-3, 0) d, generate_series(1, 2);
SET client_min_messages = warning;
SELECT zbxhist.create_parent('legacy', premake => 0, retention => '3 days', move_existing => true, accept_deletion => true);
RESET client_min_messages;
CALL zbxhist.run_maintenance('legacy');
SELECT action, relation, sqlstate FROM done();
SELECT * FROM places('legacy');

-- what is moved is packed at once, so that no more than a day is there twice
CREATE TABLE heavy (LIKE h INCLUDING ALL);
INSERT INTO heavy SELECT i, today(d) + i, i, 0 FROM generate_series(1, 50) i, generate_series(-6, -3) d;
SET client_min_messages = warning;
SELECT zbxhist.create_parent('heavy', premake => 0, retention => '30 days', pack_after => '1 day', move_existing => true);
RESET client_min_messages;
SELECT rows_moved, rows_left, time_left FROM zbxhist_internal.rows_left('heavy');
CALL zbxhist.run_maintenance('heavy');
SELECT action, relation, rows, sqlstate FROM done();
SELECT count(*), sum(value), count(*) FILTER (WHERE tableoid NOT IN (SELECT packed_table FROM zbxhist.parent_state)) AS elsewhere FROM heavy;
SELECT rows_moved, rows_left FROM zbxhist_internal.rows_left('heavy');
-- rows come to a day that is half moved, with its share told by rows
CREATE TABLE halves (LIKE h INCLUDING ALL);
INSERT INTO halves SELECT 1, today(-3) + i % 80000, i, i FROM generate_series(1, 8000) i;
INSERT INTO halves SELECT 1000000, today(-3) + i, i, 0 FROM generate_series(1, 2000) i;
SELECT zbxhist.create_parent('halves', premake => 0, pack_after => NULL, move_existing => true);
SELECT zbxhist_internal.run_step('halves', 'extend');
SELECT relation AS halves_day FROM zbxhist.parent_state WHERE parent = 'halves'::regclass \gset
SELECT zbxhist_internal.run_step('halves', 'move', :'halves_day');
SELECT action, rows, percent, rows_left, time_left > '0' AS is_estimated FROM zbxhist.progress ORDER BY parent;
CALL zbxhist.run_maintenance('halves');
SELECT count(*) FROM ONLY halves;
SELECT zbxhist_internal.run_step('halves', 'undo_begin');
-- what the moves have counted comes before what ANALYZE counts
SELECT pg_stat_force_next_flush() \gset
ANALYZE :halves_day;
SELECT zbxhist_internal.run_step('halves', 'undo_move', :'halves_day');
SELECT action, rows, percent, rows_left, time_left > '0' AS is_estimated FROM zbxhist.progress ORDER BY parent;
CALL zbxhist.undo('halves');
SELECT count(*) FROM ONLY halves;
SET client_min_messages = warning;
SET zbxhist.allow_packed_drop = on;
DROP TABLE heavy, halves CASCADE;
RESET zbxhist.allow_packed_drop;
RESET client_min_messages;
SELECT FROM done();


-- a duplicate that differs stays where it is, and is reported
CREATE TABLE twins (LIKE h INCLUDING ALL);
INSERT INTO twins VALUES (1, today(), 1, 0), (1, today(), 1, 1), (2, today(), 1, 0);
SELECT zbxhist.create_parent('twins', premake => 0, retention => '1 day', accept_deletion => true);
SELECT zbxhist.create_partition('twins', day(0)) AS today_partition \gset
INSERT INTO :today_partition VALUES (1, today(), 1, 0), (1, today(), 2, 1);
CALL zbxhist.run_maintenance('twins');
SELECT action, rows, sqlstate FROM done();
SELECT tableoid::regclass = 'twins'::regclass AS in_parent, itemid, value, ns FROM twins ORDER BY 2, 4, 1;
SELECT severity, code, object, regexp_replace(message, '\d{4}-.* UTC', '...') AS message, hint FROM zbxhist.check() WHERE object = 'maint.twins';
DELETE FROM ONLY twins WHERE ns = 1;
CALL zbxhist.run_maintenance('twins');
SELECT * FROM zbxhist.check() WHERE object = 'maint.twins';

-- one table's trouble does not stop the others
CREATE TABLE a_trouble (LIKE h INCLUDING ALL);
SELECT zbxhist.create_parent('a_trouble', premake => 0, retention => '1 day', accept_deletion => true);
SELECT zbxhist.create_partition('a_trouble', day(-4)) AS old_partition \gset
CREATE VIEW in_the_way AS SELECT * FROM :old_partition;
SELECT zbxhist.create_partition('h', day(-4)) IS NOT NULL AS created;
SELECT zbxhist.create_partition('a_trouble', day(-5)) IS NOT NULL AS created;
SET client_min_messages = error;
CALL zbxhist.run_maintenance();
RESET client_min_messages;
SELECT parent, action, relation, sqlstate, regexp_replace(message, '\d{8}', '...') AS message FROM done() WHERE action = 'drop';
SELECT last_success IS NOT NULL AS success, regexp_replace(last_error, '\d{8}', '...') AS last_error FROM zbxhist.status WHERE parent = 'a_trouble'::regclass;
SELECT severity, code, regexp_replace(object, '\d{8}', '...') AS object, regexp_replace(message, '\d{8}', '...', 'g') AS message FROM zbxhist.check() WHERE object ~ '^maint.a_trouble';
DROP VIEW in_the_way;
CALL zbxhist.run_maintenance();
SELECT parent, action, relation, sqlstate FROM done() WHERE action = 'drop';
SELECT * FROM zbxhist.check() WHERE object ~ '^maint.a_trouble';

-- nor does what fails before the step has begun
SELECT pg_get_functiondef('zbxhist_internal.tool_triggers'::regproc) AS tool_triggers \gset
CREATE OR REPLACE FUNCTION zbxhist_internal.tool_triggers(relation regclass) RETURNS SETOF pg_trigger LANGUAGE plpgsql AS
    $$ BEGIN IF relation::text ~ 'a_trouble_p' THEN RAISE out_of_memory; END IF; END $$;
SET zbxhist.enable_routing = off;
INSERT INTO a_trouble VALUES (1, today());
RESET zbxhist.enable_routing;
SELECT zbxhist.create_partition('a_trouble', day(0)) IS NOT NULL AS created;
SET client_min_messages = error;
CALL zbxhist.run_maintenance();
RESET client_min_messages;
SELECT parent, action, sqlstate, message FROM done() WHERE sqlstate IS NOT NULL;
SELECT count(*) AS not_ended FROM zbxhist.parent_state WHERE begun_pid IS NOT NULL;
:tool_triggers;
CALL zbxhist.run_maintenance();
SELECT FROM done();
SELECT count(*) FROM ONLY a_trouble;
SELECT * FROM zbxhist.check() WHERE object ~ '^maint.a_trouble';

-- the log is bounded
INSERT INTO zbxhist.maintenance_log (started_at, action, duration) VALUES (now() - interval '31 days', 'old', '0');
CALL zbxhist.run_maintenance('h');
SELECT count(*) FROM zbxhist.maintenance_log WHERE action = 'old';
SELECT count(*) FROM zbxhist.progress;

-- isolation level and search_path of the session do not matter
SET default_transaction_isolation = serializable;
SET search_path = '';
CALL zbxhist.run_maintenance();
SELECT current_setting('search_path');
RESET default_transaction_isolation;
SET search_path = maint, public, zbxhist_partitions;

SET client_min_messages = warning;
DROP SCHEMA maint CASCADE;
CALL zbxhist.run_maintenance();
SELECT count(*) FROM zbxhist.parent_config;
TRUNCATE zbxhist.maintenance_log;
ALTER DATABASE :"DBNAME" RESET session_preload_libraries;

-- a procedure leaves the search_path as it was
DO $$
DECLARE
    path text := current_setting('search_path');
BEGIN
    CALL zbxhist.run_maintenance();
    ASSERT current_setting('search_path') = path, 'search_path was changed';
END $$;
