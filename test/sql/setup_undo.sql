-- undo: back to a plain table with every row; and alter_parent.
-- as after setup: no session is told about it
\a \t
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'zbxhist';
\set SHOW_CONTEXT never
SET TimeZone = 'UTC';
CREATE SCHEMA undoing;
SET search_path = undoing, public, zbxhist_partitions;
CREATE TABLE h (itemid bigint NOT NULL, clock integer NOT NULL DEFAULT 0, value double precision NOT NULL DEFAULT 0,
    ns integer NOT NULL DEFAULT 0, PRIMARY KEY (itemid, clock, ns));
SELECT coalesce(max(id), 0) AS before FROM zbxhist.maintenance_log \gset
SELECT zbxhist.create_parent('h', premake => 1);

-- alter_parent changes what is given
SELECT partition_interval, retention, premake, pack_after, move_existing FROM zbxhist.parent_config WHERE parent = 'h'::regclass;
SELECT zbxhist.alter_parent('h');
SELECT zbxhist.alter_parent('h', retention => '30 days');
SELECT zbxhist.alter_parent('h', premake => 5, pack_after => '2 days');
SELECT partition_interval, retention, premake, pack_after, move_existing FROM zbxhist.parent_config WHERE parent = 'h'::regclass;
SELECT zbxhist.alter_parent('h', partition_interval => '1 month', move_existing => true, follow_zabbix => true);
SELECT partition_interval, retention, premake, pack_after, move_existing FROM zbxhist.parent_config WHERE parent = 'h'::regclass;
SELECT zbxhist.alter_parent('h', partition_interval => '0');
SELECT zbxhist.alter_parent('h', retention => '-1 day');
SELECT zbxhist.alter_parent('h', premake => -1);
SELECT zbxhist.alter_parent('h', pack_after => '0');
SELECT zbxhist.alter_parent('h', retention => '1 day', follow_zabbix => true);
SELECT zbxhist.alter_parent(NULL);
SELECT partition_interval, retention, premake, pack_after, move_existing FROM zbxhist.parent_config WHERE parent = 'h'::regclass;
SELECT zbxhist.alter_parent('h', partition_interval => '1 day', premake => 1);

-- undo
SELECT zbxhist.create_partition('h', '2020-01-05');
SELECT zbxhist.create_partition('h', '2020-01-06');
INSERT INTO h SELECT i, 1578182400 + c * 1000, i * c, 7 FROM generate_series(1, 100) i, generate_series(-10, 190) c;
INSERT INTO h SELECT i, extract(epoch FROM now())::integer, i, 7 FROM generate_series(1, 100) i;
SELECT count(*), sum(value), count(DISTINCT tableoid) FROM h;
CALL zbxhist.undo('h');
SELECT count(*), sum(value), count(DISTINCT tableoid) FROM h;
SELECT count(*) FROM ONLY h;
\t off
\d h
\t on
SELECT count(*) FROM pg_class WHERE relname ~ '^h_p';
SELECT count(*) FROM zbxhist.parent_config WHERE parent = 'h'::regclass;
SELECT count(*) FROM zbxhist.parent_state WHERE parent = 'h'::regclass;
SELECT action, relation, rows, sqlstate, message FROM zbxhist.maintenance_log WHERE id > :before AND (relation ~ '_p2020' OR relation IS NULL) ORDER BY id;
INSERT INTO h VALUES (1, 1578182400, 0, 8);
SELECT tableoid::regclass FROM h WHERE ns = 8;
CALL zbxhist.undo('h');

-- broken off: a view holds a partition, new rows stay in the parent, all are visible
SELECT zbxhist.create_parent('h', premake => 0, move_existing => true, retention => '100 years');
CALL zbxhist.run_maintenance('h');
SELECT count(*) FROM ONLY h;
CREATE VIEW in_the_way AS SELECT * FROM h_p20200105;
SET client_min_messages = error;
CALL zbxhist.undo('h');
RESET client_min_messages;
SELECT count(*), count(*) FILTER (WHERE tableoid = 'h'::regclass) AS in_parent FROM h;
SELECT partition FROM zbxhist.list_partitions('h');
SELECT routing FROM zbxhist.parent_config WHERE parent = 'h'::regclass;
INSERT INTO h VALUES (1, 1578182400, 0, 9);
SELECT tableoid::regclass FROM h WHERE ns = 9;
SELECT severity, code, object, hint FROM zbxhist.check();
CALL zbxhist.run_maintenance();
SELECT partition FROM zbxhist.list_partitions('h');
SELECT * FROM zbxhist.preview('h');
-- nor does the extension go meanwhile
DROP EXTENSION zbxhist;
DROP EXTENSION zbxhist CASCADE;
-- one can change one's mind
SELECT zbxhist.create_parent('h', premake => 0, retention => '100 years');
INSERT INTO h VALUES (1, 1578182400, 0, 10);
SELECT tableoid::regclass FROM h WHERE ns = 10;
CALL zbxhist.run_maintenance('h');
SELECT tableoid::regclass, count(*) FROM h WHERE clock BETWEEN 1578182400 AND 1578268799 GROUP BY 1;
-- or go on
SET client_min_messages = error;
CALL zbxhist.undo('h');
RESET client_min_messages;
DROP VIEW in_the_way;
CALL zbxhist.undo('h');
SELECT count(*), count(*) FILTER (WHERE tableoid = 'h'::regclass) AS in_parent FROM h;
SELECT count(*) FROM zbxhist.parent_config WHERE parent = 'h'::regclass;

-- what is no managed table, and what to call instead
CREATE TABLE plain (a integer);
SET client_min_messages = warning;
SELECT zbxhist.create_parent('h', '400 days', '1 hour', accept_deletion => true);
SELECT zbxhist.create_partition('h', '2020-01-05') AS part \gset
CALL zbxhist.undo('plain');
CALL zbxhist.undo(:'part');
SELECT * FROM zbxhist.verify(:'part');
CALL zbxhist.run_maintenance(:'part');

-- rows without an item come along, too, and one without a clock keeps its partition
CREATE TABLE n (itemid bigint NOT NULL, clock integer NOT NULL, value integer);
CREATE INDEX ON n (itemid, clock);
SELECT zbxhist.create_parent('n', premake => 0, pack_after => NULL);
SELECT zbxhist.create_partition('n', '1970-01-03');
ALTER TABLE n ALTER itemid DROP NOT NULL, ALTER clock DROP NOT NULL;
INSERT INTO n_p19700103 VALUES (1, 180000, 1), (NULL, 180001, 2), (1, NULL, 3);
SELECT zbxhist_internal.has_own_rows('n_p19700103', NULL);
CALL zbxhist.undo('n');
SELECT tableoid::regclass, * FROM n ORDER BY value;
UPDATE n_p19700103 SET clock = 180002;
SELECT zbxhist_internal.has_own_rows('n_p19700103', NULL);
CALL zbxhist.undo('n');
SELECT tableoid::regclass, * FROM n ORDER BY value;

-- a view in the way is named, with the command that drops it
CREATE TABLE viewed (LIKE h INCLUDING ALL);
SET client_min_messages = error;
SELECT zbxhist.create_parent('viewed', premake => 0);
SELECT zbxhist.create_partition('viewed', '2020-01-05');
RESET client_min_messages;
CREATE VIEW on_day AS SELECT * FROM viewed_p20200105;
CREATE VIEW on_view AS SELECT * FROM on_day;
CALL zbxhist.undo('viewed');
DROP VIEW undoing.on_day, undoing.on_view;
CALL zbxhist.undo('viewed');
SELECT count(*) FROM zbxhist.parent_config WHERE parent = 'viewed'::regclass;

SET client_min_messages = warning;
DROP SCHEMA undoing CASCADE;
CALL zbxhist.run_maintenance();
TRUNCATE zbxhist.maintenance_log;
ALTER DATABASE :"DBNAME" RESET session_preload_libraries;
