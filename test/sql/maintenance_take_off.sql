-- Expired partitions are dropped or become independent tables, by maintenance and by hand.
\a \t
\set SHOW_CONTEXT never
SET client_min_messages = warning;
SET TimeZone = 'UTC';
-- today is one day for all of this, and yesterday over for a minute
DO $$ BEGIN
    IF extract(epoch FROM now())::integer % 86400 NOT BETWEEN 61 AND 86310 THEN
        PERFORM pg_sleep((86461 - extract(epoch FROM now())::integer % 86400) % 86400);
    END IF;
END $$;
CREATE SCHEMA taken;
CREATE SCHEMA archive;
CREATE SCHEMA "the Other";
SET search_path = taken, public, zbxhist_partitions;
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL DEFAULT 0, value double precision NOT NULL DEFAULT 0, ns integer NOT NULL DEFAULT 0, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE trends (itemid bigint NOT NULL, clock integer NOT NULL, num integer NOT NULL DEFAULT 0, PRIMARY KEY (itemid, clock));
SELECT zbxhist.create_parent('history', '6 hours', retention => '1000 days', pack_after => '6 hours', premake => 1),
       zbxhist.create_parent('trends', '1 month', retention => '10000 days', premake => 1);
SELECT extract(epoch FROM date_trunc('day', now()))::integer AS today \gset
CREATE FUNCTION ago(days integer) RETURNS date LANGUAGE sql AS $$ SELECT (now() AT TIME ZONE 'UTC')::date - days $$;
-- rows of the days 1 to 6 ago; the last day's in the table itself; half of the partitions of others
SELECT count(zbxhist_internal.create_range('history', c, c + 21600)) FROM generate_series(:today - 5 * 86400, :today - 86400 + 64800, 21600) c;
INSERT INTO history SELECT i % 5, :today - 6 * 86400 + i * 600, i, 0 FROM generate_series(0, 863) i;
CREATE TABLE plain (LIKE history INCLUDING ALL);
INSERT INTO plain SELECT * FROM history;
CALL zbxhist.pack('history', ago(5));
CALL zbxhist.pack('history', ago(4));
CALL zbxhist.pack('history', ago(3));
CALL zbxhist.compact('history', ago(3));
INSERT INTO history SELECT 9, :today - 4 * 86400 + i * 600, i, 0 FROM generate_series(0, 20) i;
INSERT INTO plain SELECT 9, :today - 4 * 86400 + i * 600, i, 0 FROM generate_series(0, 20) i;
-- all that there is, in whatever table, and what differs
CREATE FUNCTION differences(schemas text DEFAULT 'archive') RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    parts text := 'SELECT * FROM taken.history';
    result bigint;
BEGIN
    SELECT parts || coalesce(string_agg(format(' UNION ALL SELECT * FROM %s', k.oid::regclass), ''), '') INTO parts
      FROM pg_class k WHERE k.relkind = 'r' AND k.relnamespace::regnamespace::text = schemas;
    EXECUTE format('SELECT (SELECT count(*) FROM (TABLE taken.plain EXCEPT ALL (%1$s)) d) + (SELECT count(*) FROM ((%1$s) EXCEPT ALL TABLE taken.plain) d)', parts) INTO result;
    RETURN result;
END $$;
SELECT differences();
SELECT kind, count(*) FROM zbxhist.partitions WHERE parent = 'history'::regclass AND to_time <= date_trunc('day', now()) GROUP BY 1 ORDER BY 1;

-- the table of a packed day is not dropped unawares
\set VERBOSITY terse
SELECT min(day::text) AS day FROM zbxhist.packed_day WHERE parent = 'history'::regclass AND from_clock < :today - 4 * 86400 \gset
\set command 'DROP TABLE ' :day
:command;
DO $$ BEGIN EXECUTE format('DROP TABLE %s', (SELECT min(day::text) FROM zbxhist.packed_day WHERE parent = 'history'::regclass)); END $$;
SELECT differences();
SET zbxhist.allow_packed_drop = on;
SET client_min_messages = notice;
BEGIN;
:command;
-- it is told at once, and what is gone is written down
SELECT severity, code, object = 'taken.history' AS is_named, message ~ 'with 36 values of the time from .* 00:00:00 UTC to .* 06:00:00 UTC' AS says, hint FROM zbxhist.check() WHERE code = 'day_dropped';
SELECT zbxhist_internal.step_begin('history');
SELECT code FROM zbxhist.check() WHERE code IN ('day_dropped', 'lost_values');
SELECT rows, problem ~ '^its table, with the values from .*, has been dropped$' AS says FROM zbxhist.lost_values;
SELECT action, rows FROM zbxhist.maintenance_log WHERE action = 'lost';
ROLLBACK;
RESET zbxhist.allow_packed_drop;
SET client_min_messages = warning;

-- by hand: what cannot be taken off
\set VERBOSITY sqlstate
CALL zbxhist.drop_day('plain', ago(3));
CALL zbxhist.drop_day('history', NULL);
CALL zbxhist.drop_day('history', ago(0));
CALL zbxhist.drop_day('history', ago(-1));
CALL zbxhist.drop_day('history', ago(100));
CALL zbxhist.detach_day('history', ago(6), 'archive');
CALL zbxhist.detach_day('history', ago(5), 'nowhere');
CALL zbxhist.detach_day('history', ago(5), 'zbxhist_packed');
BEGIN;
CALL zbxhist.drop_day('history', ago(5));
ROLLBACK;
\set VERBOSITY terse
SELECT differences();
-- packed hours with late values, which wait or not; a day; partitions that were never packed
CALL zbxhist.detach_day('history', ago(4), 'archive');
CALL zbxhist.detach_day('history', ago(3), 'archive');
CALL zbxhist.detach_day('history', ago(2), 'archive');
SELECT differences();
SELECT k.relname ~ '^history_p\d{8}(_\d{4})?$' AS named, count(*),
       bool_and(EXISTS (SELECT FROM pg_constraint c WHERE c.conrelid = k.oid AND c.conname = 'zbxhist_clock')) AS bounded
  FROM pg_class k WHERE k.relnamespace = 'archive'::regnamespace AND k.relkind = 'r' GROUP BY 1;
-- names that are taken there get a number; without a schema they stay where they are
SELECT zbxhist.create_partition('history', ago(3)) IS NOT NULL;
INSERT INTO history VALUES (77, :today - 3 * 86400 + 5, 1, 0);
INSERT INTO plain VALUES (77, :today - 3 * 86400 + 5, 1, 0);
CALL zbxhist.detach_day('history', ago(3), 'archive');
SELECT differences();
SELECT count(*) FROM pg_class WHERE relnamespace = 'archive'::regnamespace AND relname ~ '^history_p\d{8}(_pkey)?_1$';
-- also where there is no room for it, in bytes; before maintenance was ever run
SELECT repeat(chr(228), 26) || 'h' AS long \gset
SELECT :'long' || '_p20200101' AS day \gset
CREATE TABLE :"long" (LIKE plain INCLUDING ALL);
CREATE TABLE archive.:"day" (LIKE plain INCLUDING ALL);
SELECT zbxhist.create_parent(quote_ident(:'long')::regclass, '1 day', premake => 0);
SELECT zbxhist.create_partition(quote_ident(:'long')::regclass, '2020-01-01')::text = quote_ident(:'day') AS named;
CALL zbxhist.detach_day(quote_ident(:'long')::regclass, '2020-01-01', 'archive');
SELECT count(DISTINCT relname), max(octet_length(relname)) <= 63 AS fit FROM pg_class
 WHERE relnamespace = 'archive'::regnamespace AND relkind = 'r' AND relname LIKE repeat(chr(228), 24) || '%';
DROP TABLE :"long" CASCADE;
-- dropped: packed, and what is in the table itself
CALL zbxhist.drop_day('history', ago(5));
CALL zbxhist.drop_day('history', ago(6));
DELETE FROM plain WHERE clock < :today - 4 * 86400;
SELECT differences();
-- a month is more than a day
SELECT zbxhist_internal.create_range('trends', extract(epoch FROM timestamp '2020-02-01')::integer, extract(epoch FROM timestamp '2020-03-01')::integer);
INSERT INTO trends SELECT i, extract(epoch FROM timestamp '2020-02-01')::integer + i * 86400 FROM generate_series(0, 28) i;
SELECT pg_stat_force_next_flush() \gset
ANALYZE trends_p202002;
\set VERBOSITY default
CALL zbxhist.drop_day('trends', '2020-02-01');
\set VERBOSITY terse
SELECT count(*) FROM trends;
SET client_min_messages = notice;
CALL zbxhist.drop_day('trends', '2020-02-15', accept_deletion => true);
SET client_min_messages = warning;
SELECT count(*) FROM trends;

-- retention that detaches
\set VERBOSITY default
SELECT zbxhist.alter_parent('history', retention_action => 'keep');
SELECT zbxhist.alter_parent('history', retention_schema => 'archive');
SELECT zbxhist.alter_parent('history', retention_action => 'drop', retention_schema => 'archive');
SELECT zbxhist.alter_parent('history', retention_action => 'detach', retention_schema => 'pg_catalog');
CREATE ROLE regress_zbxhist_keeper;
GRANT USAGE, CREATE ON SCHEMA taken TO regress_zbxhist_keeper;
BEGIN;
ALTER TABLE history OWNER TO regress_zbxhist_keeper;
SELECT zbxhist.alter_parent('history', retention_action => 'detach', retention_schema => 'archive');
ROLLBACK;
DROP OWNED BY regress_zbxhist_keeper;
DROP ROLE regress_zbxhist_keeper;
\set VERBOSITY terse
CALL zbxhist.pack('history', ago(1));
INSERT INTO history VALUES (5, :today - 9 * 86400, 5, 0);
INSERT INTO plain VALUES (5, :today - 9 * 86400, 5, 0);
CREATE TABLE "the Other".history_p1 ();
SELECT zbxhist.alter_parent('history', retention => '1 minute', retention_action => 'detach', retention_schema => 'the Other');
SELECT retention_action, retention_schema FROM zbxhist.parents WHERE parent = 'history'::regclass;
SELECT action, partition IS NOT NULL AS has_name, rows FROM zbxhist.preview('history') WHERE action IN ('drop', 'detach', 'delete', 'truncate') AND to_time <= date_trunc('day', now());
SELECT (zbxhist_internal.deletion('history', '1 minute')).*;
DROP TABLE "the Other".history_p1;
ALTER SCHEMA "the Other" RENAME TO other;
SELECT severity, message, replace(hint, quote_ident(current_user), 'OWNER') AS hint FROM zbxhist.check() WHERE code = 'retention_schema';
ALTER SCHEMA other RENAME TO "the Other";
CALL zbxhist.run_maintenance('history');
-- the row that has no partition stays, also at the next run
CALL zbxhist.run_maintenance('history');
SELECT count(*) FROM history WHERE clock < :today;
SELECT count(*) FROM zbxhist.check() WHERE severity = 'error' AND object ~ 'history';
CREATE FUNCTION archived() RETURNS TABLE (rows bigint) LANGUAGE plpgsql AS $$
DECLARE relation regclass; found bigint;
BEGIN
    rows := 0;
    FOR relation IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace IN ('archive'::regnamespace, '"the Other"'::regnamespace) LOOP
        EXECUTE format('SELECT count(*) FROM %s', relation) INTO found;
        rows := rows + found;
    END LOOP;
    RETURN NEXT;
END $$;
SELECT a.rows + (SELECT count(*) FROM history) = (SELECT count(*) FROM plain) AS nothing_is_lost FROM archived() a;
-- with move_existing, rows without a partition get one, and go, too
SELECT zbxhist.alter_parent('history', move_existing => true);
CALL zbxhist.run_maintenance('history');
CALL zbxhist.run_maintenance('history');
SELECT count(*) FROM history WHERE clock < :today;
SELECT a.rows + (SELECT count(*) FROM history) = (SELECT count(*) FROM plain) AS nothing_is_lost FROM archived() a;
-- undo takes back what is its own
CALL zbxhist.undo('history');
SELECT a.rows + (SELECT count(*) FROM history) = (SELECT count(*) FROM plain) AS nothing_is_lost FROM archived() a;
SET zbxhist.allow_packed_drop = on;
DROP SCHEMA taken, archive, "the Other" CASCADE;
CALL zbxhist.run_maintenance();
