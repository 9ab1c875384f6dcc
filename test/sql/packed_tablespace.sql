-- packed_tablespace and packed_tablespace_after: packed days on other disks, from the start or
-- from some age on, moved by maintenance or by hand.
\a \t
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'zbxhist';
SET TimeZone = 'UTC';
\set SHOW_CONTEXT never
SET client_min_messages = warning;
-- one day for all of it
DO $$ BEGIN PERFORM pg_sleep(left_over + 1) FROM (SELECT 86400 - extract(epoch FROM now()) % 86400) AS day (left_over) WHERE left_over < 180; END $$;
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE "Regress zbxhist cold" LOCATION '';
CREATE TABLESPACE regress_zbxhist_warm LOCATION '';
CREATE ROLE "regress zbxhist Owner";
CREATE SCHEMA slow AUTHORIZATION "regress zbxhist Owner";
SET search_path = slow, public, zbxhist_partitions;
CREATE TABLE history (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, value double precision DEFAULT '0.0000' NOT NULL, ns integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid,clock,ns));
ALTER TABLE history OWNER TO "regress zbxhist Owner";
CREATE TABLE plain (LIKE history);
SELECT zbxhist.create_parent('history', '1 day', '30 days', premake => 0);
CREATE FUNCTION ago(days integer) RETURNS date LANGUAGE sql STABLE AS $$ SELECT (now() AT TIME ZONE 'UTC')::date - days $$;
SELECT floor(extract(epoch FROM now()) / 86400)::integer * 86400 AS today \gset
SELECT count(zbxhist.create_partition('history', ago(d))) FROM unnest('{9,8,3,2}'::integer[]) d;
INSERT INTO plain
SELECT i, :today - d * 86400 + s * 60, i * s / 8.0, hashint4(i * s) & 268435455
  FROM generate_series(1, 8) i, unnest('{9,8,3,2}'::integer[]) d, generate_series(0, 1439) s;
INSERT INTO history SELECT * FROM plain;
CREATE VIEW difference AS
    (SELECT 'lost', * FROM plain EXCEPT ALL SELECT 'lost', * FROM history)
    UNION ALL
    (SELECT 'new', * FROM history EXCEPT ALL SELECT 'new', * FROM plain);
-- the day, and each of its files: table, key, values that are long
CREATE VIEW places AS
SELECT to_char(now(), 'J')::integer - to_char(p.from_time, 'J')::integer AS ago, p.kind, p.tablespace,
       (SELECT count(DISTINCT k.reltablespace) FROM pg_class d, pg_class k
         WHERE d.oid = p.partition AND (k.oid IN (d.oid, d.reltoastrelid) OR k.oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = d.oid))) AS places,
       k.relowner::regrole
  FROM zbxhist.partitions p JOIN pg_class k ON k.oid = p.partition
 WHERE p.parent = 'history'::regclass AND p.state <> 'current' ORDER BY 1 DESC, 2;
CREATE VIEW preview AS
SELECT action, partition ~ '^zbxhist_packed.history_p\d+$' AS is_day, to_char(now(), 'J')::integer - to_char(from_time, 'J')::integer AS ago, bytes > 0 AS bytes
  FROM zbxhist.preview('slow.history') WHERE action IN ('repack', 'set_tablespace') ORDER BY ago DESC;
CREATE VIEW log AS
SELECT action, relation ~ '^zbxhist_packed.history_p\d+$' AS is_day, rows, regexp_replace(message, '\d+ [kM]B', 'N', 'g') AS message
  FROM zbxhist.maintenance_log WHERE parent = 'history'::regclass AND action IN ('pack', 'repack') AND message NOT LIKE 'postponed: %' ORDER BY id;
-- what is in the way goes by itself
CREATE PROCEDURE run(enough integer) LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. 100 LOOP
        CALL zbxhist.run_maintenance('slow.history');
        EXIT WHEN (SELECT count(*) FROM slow.log WHERE message ~ 'in tablespace') >= enough;
        UPDATE zbxhist.packed_day SET repacked_at = NULL WHERE parent = 'slow.history'::regclass;
        PERFORM pg_sleep(0.1);
    END LOOP;
END
$$;
CALL zbxhist.pack('history', ago(9));

-- only one that is there, in which the owner may have tables
SELECT zbxhist.alter_parent('history', packed_tablespace => 'Regress zbxhist cold');
SELECT zbxhist.alter_parent('history', packed_tablespace => 'nowhere');
SELECT zbxhist.alter_parent('history', packed_tablespace => 'pg_global');
SELECT zbxhist.alter_parent('history', packed_tablespace_after => '7 days');
SELECT zbxhist.alter_parent('history', packed_tablespace => '', packed_tablespace_after => '7 days');
SELECT zbxhist.alter_parent('history', packed_tablespace => 'pg_default', packed_tablespace_after => '-1 day');
GRANT CREATE ON TABLESPACE "Regress zbxhist cold", regress_zbxhist_warm TO "regress zbxhist Owner";
SELECT packed_tablespace, packed_tablespace_after FROM zbxhist.parents WHERE parent = 'history'::regclass;
TABLE preview;

-- old ones are moved, by maintenance: those whose day is over by as much
SELECT zbxhist.alter_parent('history', packed_tablespace => 'Regress zbxhist cold', packed_tablespace_after => '7 days');
SELECT packed_tablespace, packed_tablespace_after FROM zbxhist.parents WHERE parent = 'history'::regclass;
-- what is packed only now goes there at once, if it is old
CALL zbxhist.pack('history', ago(8));
CALL zbxhist.pack('history', ago(3));
TABLE places;
TABLE preview;
CALL run(1);
TABLE preview;
TABLE places;
TABLE log;
TABLE difference;
-- and is left alone from then on
UPDATE zbxhist.packed_day SET repacked_at = NULL WHERE parent = 'history'::regclass;
CALL zbxhist.run_maintenance('history');
SELECT count(*) FROM log;

-- late values and changes are stored there, and it is written anew there
INSERT INTO history VALUES (1, :today - 9 * 86400, 7, 1), (9, :today - 9 * 86400 + 5, 7, 1);
INSERT INTO plain VALUES (1, :today - 9 * 86400, 7, 1), (9, :today - 9 * 86400 + 5, 7, 1);
UPDATE history SET value = 8 WHERE itemid = 2 AND clock < :today - 8 * 86400 - 86000;
UPDATE plain SET value = 8 WHERE itemid = 2 AND clock < :today - 8 * 86400 - 86000;
CALL zbxhist.run_maintenance('history');
CALL zbxhist.repack('history', ago(9));
TABLE difference;
SELECT * FROM places WHERE ago = 9;

-- by hand, at any age: all new ones, too
SELECT zbxhist.alter_parent('history', packed_tablespace => 'regress_zbxhist_warm', packed_tablespace_after => '0');
UPDATE zbxhist.packed_day SET repacked_at = NULL WHERE parent = 'history'::regclass;
TABLE preview;
CALL zbxhist.repack('history', ago(9));
CALL zbxhist.repack('history', ago(3));
CALL zbxhist.pack('history', ago(2));
TABLE places;
TABLE difference;

-- ordinary partitions are where the table is
CALL zbxhist.unpack('history', ago(9));
CALL zbxhist.detach_day('history', ago(8), 'slow');
SELECT zbxhist_internal.tablespace_of(inhrelid) FROM pg_inherits WHERE inhparent = 'history'::regclass GROUP BY 1;
SELECT zbxhist_internal.tablespace_of(oid) FROM pg_class WHERE relname ~ '^history_p' AND relnamespace = 'slow'::regnamespace GROUP BY 1;
DELETE FROM plain WHERE clock >= :today - 8 * 86400 AND clock < :today - 7 * 86400;
TABLE difference;

-- without the privilege, or the tablespace, packing goes on where the table is
REVOKE CREATE ON TABLESPACE regress_zbxhist_warm FROM "regress zbxhist Owner";
SELECT severity, code, message, hint FROM zbxhist.check() WHERE code = 'packed_tablespace';
CALL zbxhist.pack('history', ago(9));
CALL zbxhist.repack('history', ago(3));
TABLE places;
TABLE difference;
ALTER TABLESPACE regress_zbxhist_warm RENAME TO regress_zbxhist_gone;
SELECT severity, code, message, hint FROM zbxhist.check() WHERE code = 'packed_tablespace';
CALL zbxhist.repack('history', ago(9));
ALTER TABLESPACE regress_zbxhist_gone RENAME TO regress_zbxhist_warm;
GRANT CREATE ON TABLESPACE regress_zbxhist_warm TO "regress zbxhist Owner";
SELECT severity, code, message, hint FROM zbxhist.check() WHERE code = 'packed_tablespace';

-- parts of a day have the age of the day
SELECT zbxhist.alter_parent('history', packed_tablespace_after => '5 days');
SELECT hour, zbxhist_internal.due_tablespace('history', :today + hour * 3600) FROM unnest('{-168,-145,-144,-143,-120,-119}'::integer[]) hour;

-- an empty name: new ones are where the table is, the others stay
SELECT zbxhist.alter_parent('history', packed_tablespace => '');
SELECT packed_tablespace, packed_tablespace_after FROM zbxhist.parents WHERE parent = 'history'::regclass;
UPDATE zbxhist.packed_day SET repacked_at = NULL WHERE parent = 'history'::regclass;
TABLE preview;
CALL zbxhist.repack('history', ago(3));
TABLE places;
-- that of the database needs no privilege, and brings all back
SELECT zbxhist.alter_parent('history', packed_tablespace => 'pg_default');
CALL zbxhist.repack('history', ago(3));
CALL zbxhist.repack('history', ago(2));
TABLE places;
TABLE difference;

-- undo: all is where the table is
CALL zbxhist.undo('history');
TABLE difference;
SELECT count(*) FROM pg_class WHERE reltablespace IN (SELECT oid FROM pg_tablespace WHERE spcname IN ('regress_zbxhist_warm', 'Regress zbxhist cold'));

SET client_min_messages = error;
DROP SCHEMA slow CASCADE;
DROP TABLESPACE regress_zbxhist_warm;
DROP TABLESPACE "Regress zbxhist cold";
DROP OWNED BY "regress zbxhist Owner" CASCADE;
DROP ROLE "regress zbxhist Owner";
ALTER DATABASE :"DBNAME" RESET session_preload_libraries;
