-- Packed days on another server: the policy, moving there and back, who may read
-- them, changes, late values, and what check() says.
\a \t
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'zbxhist';
SET TimeZone = 'UTC';
\set SHOW_CONTEXT never
SET client_min_messages = warning;
-- one day for all of it
DO $$ BEGIN PERFORM pg_sleep(left_over + 1) FROM (SELECT 86400 - extract(epoch FROM now()) % 86400) AS day (left_over) WHERE left_over < 180; END $$;
SELECT current_database() AS here \gset
CREATE DATABASE regress_zbxhist_cold;
\c regress_zbxhist_cold
\getenv srcdir PG_ABS_SRCDIR
\set file :srcdir '/../dist/archive/archive.sql'
\set ECHO none
\i :file
\set ECHO all
\c :here
SET TimeZone = 'UTC';
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE EXTENSION postgres_fdw;
CREATE ROLE "regress zbxhist Owner";
CREATE ROLE regress_zbxhist_reader;
CREATE SCHEMA arch AUTHORIZATION "regress zbxhist Owner";
GRANT USAGE ON SCHEMA arch TO regress_zbxhist_reader;
SET search_path = arch, public, zbxhist_partitions;
CREATE TABLE history (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, value double precision DEFAULT '0.0000' NOT NULL, ns integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid,clock,ns));
ALTER TABLE history OWNER TO "regress zbxhist Owner";
GRANT SELECT ON history TO regress_zbxhist_reader;
CREATE TABLE plain (LIKE history);
SELECT zbxhist.create_parent('history', '1 day', '30 days', premake => 0);
CREATE FUNCTION ago(days integer) RETURNS date LANGUAGE sql STABLE AS $$ SELECT (now() AT TIME ZONE 'UTC')::date - days $$;
SELECT floor(extract(epoch FROM now()) / 86400)::integer * 86400 AS today \gset
SELECT count(zbxhist.create_partition('history', ago(d))) FROM unnest('{9,8,3}'::integer[]) d;
INSERT INTO plain
SELECT i, :today - d * 86400 + s * 60, i * s / 8.0, hashint4(i * s) & 268435455
  FROM generate_series(1, 20) i, unnest('{9,8,3}'::integer[]) d, generate_series(0, 1439) s;
INSERT INTO history SELECT * FROM plain;
CREATE VIEW difference AS
    (SELECT 'lost', * FROM plain EXCEPT ALL SELECT 'lost', * FROM history)
    UNION ALL (SELECT 'new', * FROM history EXCEPT ALL SELECT 'new', * FROM plain);
CREATE VIEW places AS
SELECT to_char(now(), 'J')::integer - to_char(from_time, 'J')::integer AS ago, kind, state, rows, bytes < 100000 AS is_small
  FROM zbxhist.partitions WHERE parent = 'history'::regclass AND state <> 'current' ORDER BY 1 DESC;
CALL zbxhist.pack('history', ago(9));
CALL zbxhist.pack('history', ago(8));
CALL zbxhist.pack('history', ago(3));

-- only a server of postgres_fdw that the owner may use
CALL zbxhist.archive('history', ago(9));
SELECT zbxhist.alter_parent('history', archive_server => 'nowhere');
SELECT zbxhist.alter_parent('history', archive_server => 'zbxhist');
SELECT zbxhist.alter_parent('history', archive_after => '7 days');
DO $$
BEGIN
    EXECUTE format('CREATE SERVER "Cold one" FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host %L, port %L, dbname %L, connect_timeout ''10'')',
                   split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), 'regress_zbxhist_cold');
END $$;
SELECT zbxhist.alter_parent('history', archive_server => 'Cold one');
GRANT USAGE ON FOREIGN SERVER "Cold one" TO "regress zbxhist Owner";
SELECT zbxhist.alter_parent('history', archive_server => 'Cold one');
DO $$ BEGIN EXECUTE format('CREATE USER MAPPING FOR "regress zbxhist Owner" SERVER "Cold one" OPTIONS (user %L, password_required %L)', current_user, 'false'); END $$;
SELECT zbxhist.alter_parent('history', archive_server => 'Cold one', archive_after => '-1 day');
SELECT zbxhist.alter_parent('history', archive_server => 'Cold one', archive_after => '7 days');
SELECT archive_server, archive_after FROM zbxhist.parents WHERE parent = 'history'::regclass;
SELECT action, partition ~ 'history_p' AS is_day, rows FROM zbxhist.preview('history') WHERE action = 'archive';

-- maintenance moves what is old enough; their tables stay, with all but the values
CALL zbxhist.run_maintenance('history');
TABLE places;
TABLE difference;
SELECT action, rows, message ~ '^\d+ groups, \d+ kB on server "Cold one"$' AS told FROM zbxhist.maintenance_log WHERE action ~ 'archive' AND parent = 'history'::regclass;
SELECT server, state, copied > 0 AS copied, bytes > 100000 AS bytes, left_at FROM zbxhist.archive_copy WHERE parent = 'history'::regclass;
CREATE FUNCTION explain(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
        IF line ~ 'Archived|Days' THEN RETURN NEXT trim(regexp_replace(line, 'Bytes: \d+', 'Bytes: N')); END IF;
    END LOOP;
END $$;
SELECT explain(format('SELECT * FROM history WHERE itemid = 1 AND clock < %s', :today - 8 * 86400));
SELECT explain(format('SELECT itemid, max(value) FROM history WHERE clock < %s GROUP BY itemid', :today - 7 * 86400));
SELECT explain(format('SELECT * FROM history WHERE itemid = 1 AND clock >= %s', :today - 4 * 86400));
-- directories are here: groups are fetched where a segment is not as a whole in it, or its rows are asked for
SELECT explain(format('SELECT avg(value), count(*) FROM history WHERE itemid = 1 AND clock < %s', :today - 8 * 86400 - 30000));
SELECT explain(format('SELECT clock / 3600, avg(value) FROM history WHERE itemid = 1 AND clock < %s GROUP BY 1', :today - 8 * 86400));
SELECT explain(format('SELECT * FROM history WHERE itemid = 1 AND clock < %s ORDER BY clock DESC LIMIT 1', :today - 8 * 86400));
SELECT count(*) FROM (SELECT itemid, count(*), min(value), max(value), sum(value), avg(value) FROM history GROUP BY 1
                      EXCEPT SELECT itemid, count(*), min(value), max(value), sum(value), avg(value) FROM plain GROUP BY 1) d;
SELECT count(*) FROM (SELECT itemid, clock / 3600, count(*), min(value), max(value) FROM history WHERE clock > :today - 9 * 86400 + 1000 GROUP BY 1, 2
                      EXCEPT SELECT itemid, clock / 3600, count(*), min(value), max(value) FROM plain WHERE clock > :today - 9 * 86400 + 1000 GROUP BY 1, 2) d;

-- whoever may read the table may read what of it is elsewhere, and nothing else there
SET ROLE regress_zbxhist_reader;
SELECT count(*), sum(value) FROM history WHERE clock < :today - 7 * 86400;
SELECT count(*) FROM zbxhist.range(NULL::history, 3, :today - 9 * 86400, :today - 8 * 86400);
SELECT clock = :today - 8 * 86400 + 1439 * 60 AS newest FROM zbxhist.last_values(NULL::history, '{2}', 1) l WHERE clock < :today - 7 * 86400
UNION ALL SELECT clock = :today - 3 * 86400 + 1439 * 60 FROM zbxhist.last_values(NULL::history, '{2}', 1) l;
SELECT count(*) FROM zbxhist_packed."Cold one_groups";
CALL zbxhist.unarchive('history', ago(9));
RESET ROLE;
PREPARE of_item AS SELECT count(*), max(clock) - :today FROM history WHERE itemid = $1 AND clock < :today - 7 * 86400;
EXECUTE of_item(5);
SET plan_cache_mode = force_generic_plan;
EXECUTE of_item(5);
EXECUTE of_item(99);
RESET plan_cache_mode;

-- they can be changed; what is changed is stored here
UPDATE history SET value = -1 WHERE itemid = 4 AND clock = :today - 9 * 86400 + 600;
UPDATE plain SET value = -1 WHERE itemid = 4 AND clock = :today - 9 * 86400 + 600;
DELETE FROM history WHERE itemid = 6 AND clock < :today - 8 * 86400;
DELETE FROM plain WHERE itemid = 6 AND clock < :today - 8 * 86400;
BEGIN;
DELETE FROM history WHERE itemid = 7;
SELECT count(*) FROM history WHERE itemid = 7;
ROLLBACK;
SELECT zbxhist.delete_item(8) > 0 AS deleted;
DELETE FROM plain WHERE itemid = 8;
TABLE difference;
-- late values are merged by maintenance; whether the key is there already nobody asks before
INSERT INTO history VALUES (1, :today - 9 * 86400 + 7, 1, 1), (2, :today - 8 * 86400, 2, 7);
INSERT INTO plain VALUES (1, :today - 9 * 86400 + 7, 1, 1), (2, :today - 8 * 86400, 2, 7);
INSERT INTO history SELECT * FROM plain WHERE itemid = 15 AND clock = :today - 8 * 86400 + 60;
CALL zbxhist.run_maintenance('history');
SELECT count(*) FROM ONLY history;
TABLE difference;
TABLE places;
SELECT count(*) FROM zbxhist.verify('history');

-- back, and left alone from then on
CALL zbxhist.unarchive('history', ago(9));
CALL zbxhist.unarchive('history', ago(9));
CALL zbxhist.run_maintenance('history');
TABLE places;
TABLE difference;
-- by hand at any age
CALL zbxhist.archive('history', ago(3));
CALL zbxhist.archive('history', ago(9));
TABLE places;
TABLE difference;

-- another owner, and a foreign table that is gone: maintenance makes another
CREATE ROLE regress_zbxhist_heir;
GRANT ALL ON SCHEMA arch TO regress_zbxhist_heir;
ALTER TABLE history OWNER TO regress_zbxhist_heir;
CALL zbxhist.run_maintenance('history');
-- as a dump leaves it whose foreign table was gone
BEGIN;
DELETE FROM zbxhist.archive_copy;
SELECT severity, code, message, hint FROM zbxhist.check() WHERE code ~ 'archive';
ROLLBACK;
SELECT severity, code, message, hint FROM zbxhist.check() WHERE code ~ 'archive';
GRANT USAGE ON FOREIGN SERVER "Cold one" TO regress_zbxhist_heir;
DO $$ BEGIN EXECUTE format('CREATE USER MAPPING FOR regress_zbxhist_heir SERVER "Cold one" OPTIONS (user %L, password_required %L)', current_user, 'false'); END $$;
SELECT severity, code, message, hint FROM zbxhist.check() WHERE code ~ 'archive';
CALL zbxhist.run_maintenance('history');
SELECT severity, code, message, hint FROM zbxhist.check() WHERE code ~ 'archive';
TABLE difference;
SELECT DISTINCT groups FROM zbxhist.archive_copy WHERE day IS NOT NULL \gset
DROP FOREIGN TABLE :groups;
SELECT severity, code, message, hint FROM zbxhist.check() WHERE code ~ 'archive';
DO $$ BEGIN PERFORM FROM history WHERE itemid = 1; EXCEPTION WHEN undefined_table THEN RAISE WARNING '%', regexp_replace(sqlerrm, '_p\d+', '_pN'); END $$;
CALL zbxhist.run_maintenance('history');
TABLE difference;
SELECT severity, code, message, hint FROM zbxhist.check() WHERE code ~ 'archive';

-- the server gets another name
ALTER SERVER "Cold one" RENAME TO "Colder";
CALL zbxhist.run_maintenance('history');
SELECT severity, code, message, hint FROM zbxhist.check() WHERE code ~ 'archive';
TABLE difference;
SELECT DISTINCT server FROM zbxhist.archive_copy;
ALTER SERVER "Colder" RENAME TO "Cold one";
CALL zbxhist.run_maintenance('history');

-- an empty name: no more; what is there stays there
SELECT zbxhist.alter_parent('history', archive_server => '');
SELECT archive_server, archive_after FROM zbxhist.parents WHERE parent = 'history'::regclass;
CALL zbxhist.archive('history', ago(8));
TABLE difference;

-- undo: all is here
CALL zbxhist.undo('history');
TABLE difference;
SELECT count(*) FROM zbxhist.archive_copy;
SELECT count(*) FROM pg_foreign_table t JOIN pg_foreign_server s ON s.oid = t.ftserver AND s.srvname = 'Cold one';

SET client_min_messages = error;
DROP SCHEMA arch CASCADE;
DROP EXTENSION postgres_fdw CASCADE;
DROP OWNED BY "regress zbxhist Owner", regress_zbxhist_heir, regress_zbxhist_reader CASCADE;
DROP ROLE "regress zbxhist Owner", regress_zbxhist_heir, regress_zbxhist_reader;
ALTER DATABASE :"DBNAME" RESET session_preload_libraries;
DROP DATABASE regress_zbxhist_cold WITH (FORCE);
