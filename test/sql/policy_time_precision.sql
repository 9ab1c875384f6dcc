-- time_precision: nanoseconds of packed values are rounded a week later.  The policy is off by
-- default and must be confirmed; order and keys are kept.
\a \t
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'zbxhist';
SET TimeZone = 'UTC';
\set SHOW_CONTEXT never
-- one day for all of it
DO $$ BEGIN PERFORM pg_sleep(left_over + 1) FROM (SELECT 86400 - extract(epoch FROM now()) % 86400) AS day (left_over) WHERE left_over < 180; END $$;
CREATE SCHEMA rounding;
SET search_path = rounding, public, zbxhist_partitions;
CREATE TABLE history (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, value double precision DEFAULT '0.0000' NOT NULL, ns integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid,clock,ns));
CREATE TABLE plain (LIKE history INCLUDING ALL);
CREATE TABLE trends (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, num integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid,clock));
SELECT zbxhist.create_parent('history', '1 day', '30 days', premake => 0), zbxhist.create_parent('trends', '1 month', '1 year', premake => 0);
CREATE FUNCTION ago(days integer) RETURNS date LANGUAGE sql STABLE AS $$ SELECT (now() AT TIME ZONE 'UTC')::date - days $$;
SELECT floor(extract(epoch FROM now()) / 86400)::integer * 86400 AS today \gset
SELECT count(zbxhist.create_partition('history', ago(d))) FROM unnest('{9,8,3}'::integer[]) d;
-- items 1 to 4 have a time of their own a row, 5 to 8 share theirs, 9 has many in a second
INSERT INTO plain
SELECT i, :today - d * 86400 + s * 60, i * s, ('x' || left(md5(CASE WHEN i < 5 THEN i ELSE 0 END || ' ' || s), 8))::bit(32)::bigint % 1000000000
  FROM generate_series(1, 8) i, unnest('{9,8,3}'::integer[]) d, generate_series(0, 1439) s;
INSERT INTO plain SELECT 9, :today - 9 * 86400 + s, ns, ns FROM unnest('{0,1,2,999999,1000000,1000001,5999999,999999998,999999999}'::integer[]) ns, generate_series(5, 6) s;
INSERT INTO history SELECT * FROM plain;
CALL zbxhist.pack('history', ago(9));
CALL zbxhist.pack('history', ago(8));
CALL zbxhist.pack('history', ago(3));

-- what has been rounded is as it was but for less than the unit, row after row
CREATE VIEW compared AS
SELECT (:today - p.clock / 86400 * 86400) / 86400 AS ago, count(*), count(h.itemid) AS stored, count(*) FILTER (WHERE h.ns = p.ns) = count(*) AS exact,
       bool_and(h.clock = p.clock AND h.value = p.value AND h.ns BETWEEN p.ns - 999999 AND p.ns) AS near,
       bool_and(h.itemid = 9 OR h.ns % 1000 = 0) AS us, bool_and(h.itemid = 9 OR h.ns % 1000000 = 0) AS ms
  FROM (SELECT *, row_number() OVER (PARTITION BY itemid ORDER BY clock, ns) AS place FROM plain) p
  LEFT JOIN (SELECT *, row_number() OVER (PARTITION BY itemid ORDER BY clock, ns) AS place FROM history) h USING (itemid, place)
 GROUP BY 1;
CREATE VIEW due AS SELECT to_char(to_timestamp(d.from_clock), 'J')::integer - to_char(now(), 'J')::integer AS day FROM zbxhist_internal.wasteful_days('history') w JOIN zbxhist.packed_day d ON d.day = w.day;

-- off, and not without a word of consent
SELECT time_precision, time_precision_after FROM zbxhist.parents WHERE parent = 'history'::regclass;
SELECT zbxhist.alter_parent('history', time_precision => '1 ms');
SELECT zbxhist.alter_parent('history', time_precision => '2 ms', accept_rounding => true);
-- what has no key has no order to be kept
CREATE TABLE keyless (LIKE history);
SELECT zbxhist.create_parent('keyless', pack_after => '1 day', premake => 0);
SELECT zbxhist.alter_parent('keyless', time_precision => '1 us', accept_rounding => true);
CALL zbxhist.undo('keyless');
DROP TABLE keyless;
SELECT zbxhist.alter_parent('history', time_precision => '1 ms', time_precision_after => '1 hour', accept_rounding => true);
SELECT zbxhist.alter_parent('trends', time_precision => '1 ms', accept_rounding => true);
CALL zbxhist.repack('history', ago(9));
TABLE compared ORDER BY ago;
TABLE due;

-- on: days that are a week old, by maintenance as by hand
SELECT zbxhist.alter_parent('history', time_precision => '1 us', accept_rounding => true);
SELECT time_precision, time_precision_after FROM zbxhist.parents WHERE parent = 'history'::regclass;
UPDATE zbxhist.packed_day SET repacked_at = NULL WHERE parent = 'history'::regclass;
SELECT day FROM due ORDER BY day;
SELECT sum(packed_bytes) AS before FROM zbxhist.packed_day WHERE parent = 'history'::regclass \gset
CALL zbxhist.repack('history', ago(9));
TABLE compared ORDER BY ago;
-- coarser is asked for again, and so is younger
SELECT zbxhist.alter_parent('history', time_precision => '1 ms');
SELECT zbxhist.alter_parent('history', time_precision_after => '2 days');
SELECT zbxhist.alter_parent('history', premake => 1);
SELECT zbxhist.alter_parent('rounding.history', time_precision => '1 ms', time_precision_after => '7 days', accept_rounding => true);
UPDATE zbxhist.packed_day SET repacked_at = NULL WHERE parent = 'history'::regclass;
SELECT day FROM due ORDER BY day;
CALL zbxhist.repack('history', ago(9));
CALL zbxhist.repack('history', ago(8));
CALL zbxhist.repack('history', ago(3));
TABLE compared ORDER BY ago;
TABLE due;
SELECT to_char(to_timestamp(from_clock), 'J')::integer - to_char(now(), 'J')::integer AS day, time_precision FROM zbxhist.packed_day WHERE parent = 'history'::regclass ORDER BY 1;
SELECT sum(packed_bytes) < :before AS less FROM zbxhist.packed_day WHERE parent = 'history'::regclass;
-- within a second and unit they follow one another
SELECT clock - (:today - 9 * 86400) AS second, array_agg(ns ORDER BY ns) FROM history WHERE itemid = 9 GROUP BY 1 ORDER BY 1;
SELECT count(DISTINCT (clock, ns)) = count(*) / 4 AS shared FROM history WHERE itemid BETWEEN 5 AND 8 AND clock < :today - 7 * 86400;
-- keys are what they have become
DO $$ BEGIN INSERT INTO history SELECT itemid, clock, 0, ns FROM history WHERE itemid = 1 ORDER BY clock LIMIT 1; EXCEPTION WHEN unique_violation THEN RAISE NOTICE 'it is there'; END $$;
-- to the second
SELECT zbxhist.alter_parent('history', time_precision => '1 s', accept_rounding => true);
CALL zbxhist.repack('history', ago(8));
SELECT max(ns), count(DISTINCT (itemid, clock)) FROM history WHERE clock >= :today - 8 * 86400 AND clock < :today - 7 * 86400;
-- off again: what is rounded stays so
SELECT zbxhist.alter_parent('history', time_precision => '1 ns');
CALL zbxhist.repack('history', ago(3));
TABLE compared ORDER BY ago;
-- without a key no more are rounded
SELECT zbxhist.alter_parent('history', time_precision => '1 s', accept_rounding => true);
UPDATE zbxhist.packed_day SET repacked_at = NULL WHERE parent = 'history'::regclass;
SELECT count(*) > 0 AS is_due FROM due;
ALTER TABLE history DROP CONSTRAINT history_pkey;
SELECT count(*) > 0 AS is_due FROM due;
CALL zbxhist.repack('history', ago(9));
TABLE compared ORDER BY ago;

SET zbxhist.allow_packed_drop = on;
SET client_min_messages = warning;
DROP SCHEMA rounding CASCADE;
ALTER DATABASE :"DBNAME" RESET session_preload_libraries;
