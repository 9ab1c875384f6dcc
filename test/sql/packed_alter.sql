-- ALTER TABLE of a parent with packed days: the resulting rows, or why they cannot be known.
\a \t
LOAD 'zbxhist';
SET zbxhist.allow_packed_drop = on;
SET client_min_messages = warning;
CREATE TABLE history (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, value numeric(16,4) DEFAULT '0.0000' NOT NULL, ns integer DEFAULT '0' NOT NULL,
    PRIMARY KEY (itemid, clock, ns));
CREATE TABLE history_str (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, value varchar(255) DEFAULT '' NOT NULL, ns integer DEFAULT '0' NOT NULL,
    PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history'), zbxhist.create_parent('history_str');
SELECT zbxhist.create_partition('history', '1970-01-02'), zbxhist.create_partition('history_str', '1970-01-02');
INSERT INTO history SELECT i, c, i + c / 7.0, 0 FROM generate_series(1, 3) i, generate_series(86400, 172799, 21600) c;
INSERT INTO history_str SELECT itemid, clock, 'value ' || value FROM history;
CREATE TABLE kept AS TABLE history;
CREATE TABLE kept_str AS TABLE history_str;
CALL zbxhist.pack('history', '1970-01-02');
CALL zbxhist.pack('history_str', '1970-01-02');

-- Zabbix 6.0 to 7.0: numbers become doubles
BEGIN;
ALTER TABLE history ALTER value TYPE double precision, ALTER value SET DEFAULT '0.0000';
SELECT pg_typeof(h.value), count(*), bool_and(h.value = k.value::double precision) AS same FROM history h JOIN kept k USING (itemid, clock, ns) GROUP BY 1;
SELECT * FROM zbxhist.range(NULL::history, 2, 0, 100000);
SELECT count, min, max, first_clock FROM zbxhist.statistics('history', 2, 0, 200000);
DELETE FROM history WHERE itemid = 1;
SELECT itemid, count(*) FROM history GROUP BY 1 ORDER BY 1;
ROLLBACK;
-- longer and shorter strings, other types
BEGIN;
ALTER TABLE history_str ALTER value TYPE varchar(2048);
SELECT count(*), bool_and(h.value = k.value) AS same FROM history_str h JOIN kept_str k USING (itemid, clock, ns);
ALTER TABLE history_str ALTER value TYPE text;
SELECT count(*), bool_and(h.value = k.value) AS same FROM history_str h JOIN kept_str k USING (itemid, clock, ns);
ALTER TABLE history_str ALTER value TYPE varchar(5);
SELECT count(*) FROM history_str;
SELECT max(length(value)) FROM history_str;
ROLLBACK;
BEGIN;
ALTER TABLE history_str ALTER value TYPE bytea USING value::bytea;
ROLLBACK;
-- new columns: with a default, without, NOT NULL, with one that differs from row to row
BEGIN;
ALTER TABLE history ADD COLUMN extra integer DEFAULT 5, ADD COLUMN more text;
SELECT extra, more, count(*), count(more) FROM history GROUP BY 1, 2;
SELECT * FROM zbxhist.nearest(NULL::history, 2, 86400);
INSERT INTO history VALUES (9, 86400, 1, 1, 6, 'x');
SELECT extra, more, count(*) FROM history GROUP BY 1, 2 ORDER BY 1;
DELETE FROM history WHERE itemid = 3 AND extra = 5 AND clock < 100000;
SELECT count(*) FROM history WHERE itemid = 3;
UPDATE history SET value = 7 WHERE itemid = 2;
ROLLBACK;
BEGIN;
ALTER TABLE history ADD COLUMN extra integer NOT NULL DEFAULT 5;
SELECT extra, count(*) FROM history GROUP BY 1;
ALTER TABLE history ALTER extra SET DEFAULT 6;
SELECT extra, count(*) FROM history GROUP BY 1;
ROLLBACK;
-- a value of its own for each older row: packed ones have no place for it
ALTER TABLE history ADD COLUMN extra double precision NOT NULL DEFAULT random();
ALTER TABLE history ADD COLUMN extra numeric GENERATED ALWAYS AS (value * 2) STORED;
BEGIN;
ALTER TABLE history ADD COLUMN extra double precision;
SELECT count(extra), count(*) FROM history;
ALTER TABLE history ALTER extra SET DEFAULT random();
ROLLBACK;
-- ... unless it is said what they have
BEGIN;
ALTER TABLE history ADD COLUMN extra double precision NOT NULL DEFAULT 0.5;
ALTER TABLE history ALTER extra SET DEFAULT random();
SELECT extra, count(*) FROM history GROUP BY 1;
ROLLBACK;
BEGIN;
ALTER TABLE history ADD COLUMN extra double precision;
ALTER FOREIGN TABLE history_packed ALTER extra OPTIONS (missing '0.25');
ALTER TABLE history ALTER extra SET DEFAULT random();
SELECT extra, count(*) FROM history GROUP BY 1;
ROLLBACK;
-- a column that is packed may have any
BEGIN;
ALTER TABLE history ALTER value SET DEFAULT random();
SELECT count(value) FROM history;
ROLLBACK;
-- the value of ADD COLUMN is forgotten when the table is rewritten, but has been noted
BEGIN;
SET LOCAL datestyle = 'SQL, DMY';
ALTER TABLE history ADD COLUMN extra integer NOT NULL DEFAULT 5, ADD COLUMN moment date DEFAULT DATE '2026-02-01';
SET LOCAL datestyle = 'ISO, MDY';
ALTER TABLE history ALTER value TYPE double precision;
SELECT extra, moment, count(*) FROM history GROUP BY 1, 2;
SELECT * FROM zbxhist.range(NULL::history, 2, 0, 100000);
ROLLBACK;
-- ... by maintenance, if it was not at once
BEGIN;
ALTER EVENT TRIGGER zbxhist_after_change DISABLE;
ALTER TABLE history ADD COLUMN extra integer DEFAULT 5;
ALTER TABLE history ALTER value TYPE double precision;
SAVEPOINT s;
SELECT count(extra) FROM history;
ROLLBACK TO s;
SELECT * FROM zbxhist.range(NULL::history, 2, 0, 100000);
ROLLBACK TO s;
ALTER FOREIGN TABLE history_packed ALTER COLUMN extra OPTIONS (ADD missing '5');
SELECT extra, count(*) FROM history GROUP BY 1;
SELECT * FROM zbxhist.range(NULL::history, 2, 0, 100000);
ROLLBACK TO s;
ALTER FOREIGN TABLE history_packed ALTER extra DROP DEFAULT;
SELECT extra, count(*) FROM history GROUP BY 1;
SELECT * FROM zbxhist.range(NULL::history, 2, 0, 100000);
ROLLBACK;
BEGIN;
ALTER EVENT TRIGGER zbxhist_after_change DISABLE;
ALTER TABLE history ADD COLUMN extra integer NOT NULL DEFAULT 5;
SELECT zbxhist_internal.step_attach('history');
ALTER TABLE history ALTER value TYPE double precision;
SELECT * FROM history WHERE itemid = 2 AND clock < 100000;
SELECT * FROM zbxhist.range(NULL::history, 2, 0, 100000);
ROLLBACK;
-- a column that was dropped and added again is another one
BEGIN;
ALTER TABLE history DROP COLUMN value;
ALTER TABLE history ADD COLUMN value numeric(16,4) NOT NULL DEFAULT 7;
SELECT value, count(*) FROM history GROUP BY 1;
SELECT * FROM zbxhist.range(NULL::history, 2, 0, 100000);
SAVEPOINT s;
UPDATE history SET value = 8 WHERE itemid = 2;
ROLLBACK TO s;
SELECT zbxhist_internal.merge_rows('history', 'zbxhist_packed.history_p19700102', 86400, 172800, 10);
ROLLBACK;
-- so is the last one, which has no other after it, and then that of days packed since
CREATE TABLE history_text (itemid bigint NOT NULL, clock integer NOT NULL, ns integer NOT NULL, value double precision NOT NULL,
    PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history_text', retention => '100 years');
SELECT zbxhist.create_partition('history_text', '1970-01-02'), zbxhist.create_partition('history_text', '1970-01-03');
INSERT INTO history_text SELECT itemid, clock, ns, value FROM kept UNION ALL SELECT itemid, clock + 86400, ns, value FROM kept;
CALL zbxhist.pack('history_text', '1970-01-02');
SELECT attname, attfdwoptions FROM pg_attribute WHERE attrelid = 'history_text_packed'::regclass AND attnum > 0 ORDER BY attnum;
BEGIN;
ALTER TABLE history_text DROP COLUMN value;
ALTER TABLE history_text ADD COLUMN value double precision;
SAVEPOINT s;
SELECT count(value) FROM history_text WHERE clock < 172800;
ROLLBACK TO s;
SELECT * FROM zbxhist.range(NULL::history_text, 2, 0, 100000);
ROLLBACK TO s;
SELECT * FROM zbxhist.statistics('history_text', 2, 0, 172800);
ROLLBACK;
ALTER TABLE history_text DROP COLUMN value;
ALTER TABLE history_text ADD COLUMN value double precision NOT NULL DEFAULT 7;
SELECT value, count(*) FROM history_text WHERE clock < 172800 GROUP BY 1;
SELECT * FROM zbxhist.range(NULL::history_text, 2, 0, 100000);
SELECT * FROM zbxhist.statistics('history_text', 2, 0, 172800);
UPDATE history_text SET value = 8 WHERE itemid = 2 AND clock < 172800;
INSERT INTO history_text VALUES (9, 86400, 1, 9.5);
SELECT zbxhist_internal.merge_rows('history_text', 'zbxhist_packed.history_text_p19700102', 86400, 172800, 10);
SELECT zbxhist_internal.work_list('history_text', 'merge');
SELECT code, object FROM zbxhist.check() WHERE code = 'columns_altered';
UPDATE history_text SET value = 8 WHERE itemid = 3;
CALL zbxhist.pack('history_text', '1970-01-03');
SELECT attname, attfdwoptions FROM pg_attribute WHERE attrelid = 'history_text_packed'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum;
SELECT clock / 86400 AS day, value, count(*) FROM history_text GROUP BY 1, 2 ORDER BY 1, 2;
SELECT * FROM zbxhist.statistics('history_text', 3, 0, 300000);
SELECT zbxhist_internal.work_list('history_text', 'merge');
CALL zbxhist.unpack('history_text', '1970-01-02');
SELECT clock / 86400 AS day, value, count(*) FROM history_text GROUP BY 1, 2 ORDER BY 1, 2;
DROP TABLE history_text CASCADE;
-- one that comes after all that the day has is none of those renamed
BEGIN;
ALTER TABLE history DROP COLUMN value;
ALTER TABLE history ADD COLUMN extra integer;
SELECT extra, count(*) FROM history GROUP BY 1;
ROLLBACK;
-- late rows wait until the day has been unpacked, which check() says
BEGIN;
ALTER TABLE history ADD COLUMN extra integer DEFAULT 5;
INSERT INTO history VALUES (9, 86400, 1, 1, 6);
SELECT zbxhist_internal.work_list('history', 'merge');
SELECT severity, code, object, message, hint FROM zbxhist.check() WHERE code = 'columns_altered';
-- ... also where maintenance has looked for them just now
SAVEPOINT large;
CREATE OR REPLACE FUNCTION zbxhist_internal.own_pages(parent regclass) RETURNS bigint LANGUAGE sql STABLE STRICT PARALLEL SAFE AS 'SELECT 200000';
UPDATE zbxhist.parent_state SET merged_at = clock_timestamp() WHERE parent = 'history'::regclass;
SELECT zbxhist_internal.waiting_days('history');
SELECT code, object FROM zbxhist.check() WHERE code = 'columns_altered';
ROLLBACK TO large;
ALTER TABLE history DROP COLUMN extra;
SELECT zbxhist_internal.work_list('history', 'merge');
SELECT code FROM zbxhist.check() WHERE code = 'columns_altered';
ROLLBACK;
-- ... and then maintenance packs it again, with them and what has been updated
CREATE TABLE history_log (LIKE history INCLUDING ALL);
SELECT zbxhist.create_parent('history_log', retention => '100 years', pack_after => '1 day');
SELECT zbxhist.create_partition('history_log', '1970-01-02'), zbxhist.create_partition('history_log', '1970-01-03');
INSERT INTO history_log SELECT itemid, clock, value, ns FROM kept UNION ALL SELECT itemid, clock + 86400, value, ns FROM kept;
CALL zbxhist.run_maintenance();
ALTER TABLE history_log ALTER value TYPE double precision, ADD COLUMN note text DEFAULT 'none';
SELECT action, partition FROM zbxhist.preview() WHERE table_name = 'history_log'::regclass AND action <> 'create';
INSERT INTO history_log VALUES (9, 86400, 0.5, 1, 'late');
UPDATE history_log SET note = 'updated' WHERE itemid = 2 AND clock < 172800;
DELETE FROM history_log WHERE itemid = 1 AND clock = 86400;
CREATE TABLE before AS TABLE history_log;
SELECT count(*) FROM ONLY history_log;
CALL zbxhist.run_maintenance();
SELECT count(*) FROM ONLY history_log;
SELECT hint FROM zbxhist.check() WHERE code = 'columns_altered' \gexec
SELECT code FROM zbxhist.check() WHERE code = 'columns_altered';
SELECT action, partition FROM zbxhist.preview() WHERE table_name = 'history_log'::regclass AND action <> 'create';
CALL zbxhist.run_maintenance();
SELECT action, relation, rows, sqlstate FROM zbxhist.maintenance_log
 WHERE parent = 'history_log'::regclass AND action IN ('move', 'unpack', 'pack') ORDER BY id DESC LIMIT 3;
SELECT count(*) FROM ONLY history_log;
SELECT tableoid::regclass AS stored_in, note, count(*) FROM history_log GROUP BY 1, 2 ORDER BY 2;
SELECT count(*) FROM (TABLE before EXCEPT ALL TABLE history_log) d;
SELECT zbxhist_internal.has_same_columns(d.parent, d.day) AS same, d.nrows FROM zbxhist.packed_day d
 WHERE d.parent = 'history_log'::regclass ORDER BY d.from_clock;
SELECT action, partition FROM zbxhist.preview() WHERE table_name = 'history_log'::regclass AND action <> 'create';
DROP TABLE history_log, before CASCADE;
-- a renamed column is known, also from another that gets its name
BEGIN;
ALTER TABLE history RENAME value TO reading;
SELECT count(*), min(clock), min(reading), max(reading) FROM history;
SELECT * FROM zbxhist.range(NULL::history, 2, 0, 100000);
UPDATE history SET reading = 1 WHERE itemid = 2;
DELETE FROM history WHERE itemid = 1 AND reading < 15000;
INSERT INTO history VALUES (9, 86400, 1, 1);
SELECT zbxhist_internal.work_list('history', 'merge');
SELECT zbxhist_internal.merge_rows('history', 'zbxhist_packed.history_p19700102', 86400, 172800, 10);
SELECT tableoid::regclass AS stored_in, itemid, count(*), sum(reading) FROM history GROUP BY 1, 2 ORDER BY 2;
ALTER TABLE history ADD COLUMN value double precision DEFAULT 5;
SELECT value, count(*), sum(reading) FROM history GROUP BY 1;
SELECT count, min, max FROM zbxhist.statistics('history', 2, 0, 200000);
SELECT zbxhist_internal.not_packable('history', p.partition) IS NOT NULL AS keeps_from_packing
  FROM zbxhist.list_partitions('history') p LIMIT 1;
ROLLBACK;
-- ... in days that are packed after that, and by those that are unpacked
ALTER TABLE history RENAME value TO reading;
SELECT zbxhist.create_partition('history', '1970-01-03');
INSERT INTO history VALUES (9, 172800, 1, 1);
CALL zbxhist.pack('history', '1970-01-03');
SELECT attname FROM pg_attribute WHERE attrelid = 'zbxhist_packed.history_p19700103'::regclass AND attnum > 6 ORDER BY attnum;
SELECT * FROM history WHERE itemid = 9;
SELECT * FROM zbxhist.verify('history');
CALL zbxhist.unpack('history', '1970-01-03');
SELECT * FROM history_p19700103;
DROP TABLE history_p19700103;
ALTER TABLE history RENAME reading TO value;
BEGIN;
ALTER TABLE history DROP COLUMN value;
SELECT * FROM history WHERE itemid = 2 AND clock < 100000;
ROLLBACK;
-- other columns of the parent at other places
BEGIN;
ALTER TABLE history_str DROP COLUMN ns, ADD COLUMN note text DEFAULT 'none';
SELECT * FROM history_str WHERE itemid = 2 AND clock < 100000;
SELECT * FROM zbxhist.range(NULL::history_str, 2, 0, 100000);
ROLLBACK;
-- a column dropped and added again, then its neighbour dropped too: of a day that has
-- the former one, and after another day has been packed
CREATE TABLE again (itemid bigint NOT NULL, clock integer NOT NULL, value text, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('again', retention => '100 years', pack_after => '1 day');
SELECT zbxhist.create_partition('again', '1970-01-02'), zbxhist.create_partition('again', '1970-01-03');
INSERT INTO again VALUES (1, 86400, 'old', 1), (2, 86400, 'old', 1), (1, 172800, 'old', 1);
CALL zbxhist.pack('again', '1970-01-02');
ALTER TABLE again DROP COLUMN value, ADD COLUMN value text DEFAULT 'new', DROP COLUMN ns;
SELECT * FROM again ORDER BY clock, itemid;
SELECT * FROM zbxhist.range(NULL::again, 1, 0, 200000);
INSERT INTO again VALUES (3, 86400), (3, 172800);
CALL zbxhist.pack('again', '1970-01-03');
SELECT * FROM again ORDER BY clock, itemid;
CALL zbxhist.undo('again');
SELECT * FROM again ORDER BY clock, itemid;
DROP TABLE again;
-- the only packed day is unpacked after a column was renamed, and packed again
CREATE TABLE again (itemid bigint NOT NULL, clock integer NOT NULL, value text, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('again'), zbxhist.create_partition('again', '1970-01-02');
INSERT INTO again VALUES (1, 86400, 'old', 1);
CALL zbxhist.pack('again', '1970-01-02');
ALTER TABLE again RENAME COLUMN value TO renamed;
CALL zbxhist.unpack('again', '1970-01-02');
CALL zbxhist.pack('again', '1970-01-02');
SELECT * FROM again;
DROP TABLE again CASCADE;
-- columns by which packed rows are found may be renamed, but no other column gets their names
CREATE TABLE again (itemid bigint NOT NULL, clock integer NOT NULL, value bigint, ns integer NOT NULL, other integer, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE coarse (itemid bigint NOT NULL, clock integer NOT NULL, num integer, PRIMARY KEY (itemid, clock));
SELECT zbxhist.create_parent(t), zbxhist.create_partition(t, '1970-01-02') FROM unnest('{again, coarse}'::regclass[]) t;
ALTER TABLE again RENAME COLUMN ns TO nano;
ALTER TABLE again RENAME COLUMN other TO ns;
ALTER TABLE again RENAME COLUMN ns TO other;
ALTER TABLE again RENAME COLUMN nano TO ns;
INSERT INTO again SELECT i, 86400, i, 1, 2 FROM generate_series(1, 3) i;
INSERT INTO coarse VALUES (1, 86400, 5);
CALL zbxhist.pack('again', '1970-01-02');
CALL zbxhist.pack('coarse', '1970-01-02');
ALTER TABLE again RENAME COLUMN itemid TO renamed;
ALTER TABLE again ADD COLUMN itemid bigint NOT NULL DEFAULT 7;
ALTER TABLE again RENAME COLUMN value TO itemid;
ALTER TABLE again RENAME COLUMN renamed TO itemid;
ALTER TABLE again RENAME COLUMN clock TO renamed;
ALTER TABLE again ADD COLUMN clock integer NOT NULL DEFAULT 7;
ALTER TABLE again RENAME COLUMN ns TO clock;
ALTER TABLE again RENAME COLUMN renamed TO clock;
ALTER TABLE again DROP COLUMN ns, ADD COLUMN ns integer;
ALTER TABLE coarse ADD COLUMN ns integer DEFAULT 0;
SELECT * FROM again WHERE itemid = 2;
-- keys in packed days are found by a session that has inserted before the column was renamed
INSERT INTO again VALUES (4, 86400, 4, 1, 2);
\set VERBOSITY sqlstate
BEGIN;
ALTER TABLE again RENAME COLUMN clock TO renamed;
INSERT INTO again VALUES (2, 86400, 5, 1, 2);
ROLLBACK;
BEGIN;
ALTER TABLE again RENAME COLUMN itemid TO renamed;
INSERT INTO again VALUES (2, 86400, 5, 1, 2);
ROLLBACK;
\set VERBOSITY default
DELETE FROM again WHERE itemid = 4;
-- where event triggers do not fire, such a column is not taken for the packed one
BEGIN;
SET LOCAL session_replication_role = replica;
ALTER TABLE again RENAME COLUMN clock TO renamed;
ALTER TABLE again RENAME COLUMN other TO clock;
SELECT * FROM again WHERE itemid = 2 AND clock = 2;
SELECT itemid, max(clock), max(renamed) FROM again GROUP BY itemid ORDER BY itemid;
DELETE FROM again WHERE itemid = 3 AND clock < 3 RETURNING *;
ROLLBACK;
BEGIN;
SET LOCAL session_replication_role = replica;
ALTER TABLE again RENAME COLUMN itemid TO renamed;
ALTER TABLE again ADD COLUMN itemid bigint NOT NULL DEFAULT 7;
SELECT itemid, max(clock) FROM again GROUP BY itemid;
SELECT renamed FROM again WHERE itemid = 7 ORDER BY renamed;
DELETE FROM again WHERE itemid = 7 AND clock = 86400 RETURNING renamed;
ROLLBACK;
-- nor when all days have been unpacked
CALL zbxhist.unpack('again', '1970-01-02');
ALTER TABLE again DROP COLUMN itemid, ADD COLUMN itemid bigint;
DROP TABLE again, coarse CASCADE;
DROP TABLE history, history_str CASCADE;
DROP TABLE kept, kept_str;
SELECT count(*) FROM pg_class WHERE relnamespace = 'zbxhist_packed'::regnamespace;
