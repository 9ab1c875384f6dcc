-- children that are no partitions, or in the way of some: what check() says of
-- them, and that its hints lose no row
\a \t
\set SHOW_CONTEXT never
SET client_min_messages = warning;
SET TimeZone = 'UTC';
CREATE SCHEMA absorbed;
SET search_path = absorbed, public, zbxhist_partitions;
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL DEFAULT 0, value double precision NOT NULL DEFAULT 0, ns integer NOT NULL DEFAULT 0, PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history', '1 hour', retention => '200 years', premake => 0);
SELECT count(zbxhist_internal.create_range('history', c, c + 3600)) FROM generate_series(86400, 2 * 86400 - 3600, 3600) c;
INSERT INTO history SELECT i % 7, 86400 + i * 60, i, 0 FROM generate_series(0, 1439) i;
-- the hour may end meanwhile
SELECT extract(epoch FROM now())::integer AS now \gset
SELECT partition AS live FROM zbxhist.partitions WHERE parent = 'history'::regclass AND from_clock <= :now AND to_clock > :now \gset
INSERT INTO history SELECT i, :now, i, 0 FROM generate_series(1, 50) i;
CALL zbxhist.run_maintenance('history');
CREATE TABLE plain AS SELECT * FROM history;
CREATE FUNCTION differences() RETURNS bigint LANGUAGE sql AS $$
    SELECT (SELECT count(*) FROM (TABLE plain EXCEPT ALL TABLE history) d) + (SELECT count(*) FROM (TABLE history EXCEPT ALL TABLE plain) d) $$;
CREATE VIEW told AS SELECT code, CASE WHEN object ~ 'history_p2' THEN 'LIVE' ELSE object END AS object, message ~ 'same time as' AS overlap,
    regexp_replace(substring(message FROM 'The command .*$'), 'about \d+', 'about N') AS says, substring(message FROM '\d+ more') AS others, regexp_replace(regexp_replace(hint, '\S*history_p2\w+', 'LIVE'), '\d{10}', 'N', 'g') AS hint
  FROM zbxhist.check() WHERE code IN ('no_bounds', 'overlap') ORDER BY 1, 2;
SELECT differences();
TABLE told;

-- the live hour gets its bounds again, also if it has others of that name
\set lose 'ALTER TABLE ' :live ' DROP CONSTRAINT zbxhist_clock'
:lose;
TABLE told;
SELECT hint AS mend FROM zbxhist.check() WHERE code = 'no_bounds' \gset
:mend
TABLE told;
INSERT INTO history VALUES (77, :now, 1, 0);
INSERT INTO plain SELECT * FROM history WHERE itemid = 77;
SELECT tableoid::regclass = :'live'::regclass AS in_its_partition FROM history WHERE itemid = 77;
:lose, ADD CONSTRAINT zbxhist_clock CHECK (clock > 0 OR itemid > 0);
SELECT hint AS mend FROM zbxhist.check() WHERE code = 'no_bounds' \gset
:mend
TABLE told;
SELECT differences();

-- a table in the way of many is one line
CREATE TABLE apart (CONSTRAINT zbxhist_clock CHECK (clock >= 90000 AND clock < 160000), PRIMARY KEY (itemid, clock, ns)) INHERITS (history);
INSERT INTO apart SELECT 100 + i % 3, 90000 + i * 10, i, 0 FROM generate_series(0, 6999) i;
-- the same row as elsewhere, another one of the same key
INSERT INTO apart SELECT * FROM plain WHERE clock BETWEEN 100000 AND 101000;
INSERT INTO plain SELECT 100 + i % 3, 90000 + i * 10, i, 0 FROM generate_series(0, 6999) i;
INSERT INTO apart SELECT itemid, clock, -1, ns FROM plain WHERE clock BETWEEN 120000 AND 120200 AND itemid < 100;
TABLE told;
SET client_min_messages = notice;
SELECT hint AS mend FROM zbxhist.check() WHERE code = 'overlap' \gset
:mend
SET client_min_messages = warning;
TABLE told;
SELECT differences();
SELECT count(*), min(value), max(value) FROM apart;
DROP TABLE apart;
CALL zbxhist.pack('history', '1970-01-02');
-- without bounds; all rows go back, packed hours get theirs at the next maintenance
CREATE TABLE apart () INHERITS (history);
INSERT INTO apart VALUES (200, 0, 1, 0), (200, 90000, 2, 0), (200, :now, 3, 0);
INSERT INTO plain SELECT * FROM apart;
TABLE told;
SET client_min_messages = notice;
CALL zbxhist.absorb('history', 'apart');
SET client_min_messages = warning;
SELECT differences();
SELECT count(*) FROM apart;
CALL zbxhist.run_maintenance('history');
SELECT differences();
-- keys that the child itself has twice: the same row, and others
CREATE TABLE twice () INHERITS (history);
INSERT INTO twice VALUES (400, 90000, 1, 0), (400, 90000, 1, 0), (401, 90000, 1, 0), (401, 90000, 2, 0), (402, 90000, 1, 0);
INSERT INTO plain SELECT DISTINCT * FROM twice WHERE value < 2;
SET client_min_messages = notice;
CALL zbxhist.absorb('history', 'twice');
SET client_min_messages = warning;
SELECT differences();
TABLE twice;
-- what is not absorbed
CALL zbxhist.absorb('history', 'apart');
CALL zbxhist.absorb('plain', 'apart');
CREATE TABLE noted (note text) INHERITS (history);
CREATE TABLE below () INHERITS (noted);
INSERT INTO noted VALUES (300, 0, 1, 0, 'kept');
INSERT INTO below VALUES (301, 0, 1, 0, 'kept');
INSERT INTO plain SELECT * FROM history WHERE itemid IN (300, 301);
CALL zbxhist.absorb('history', 'noted');
ALTER TABLE noted DROP COLUMN note;
CALL zbxhist.absorb('history', 'noted');
ALTER TABLE below NO INHERIT noted, INHERIT history;
CALL zbxhist.absorb('history', 'noted');
CALL zbxhist.absorb('history', 'below');
\set VERBOSITY sqlstate
CALL zbxhist.absorb('history', :'live');
CALL zbxhist.absorb('history', 'history_packed');
CALL zbxhist.absorb('history', NULL);
SELECT differences();
SET zbxhist.allow_packed_drop = on;
DROP SCHEMA absorbed CASCADE;
CALL zbxhist.run_maintenance();
