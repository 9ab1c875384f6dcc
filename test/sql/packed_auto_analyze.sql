-- Maintenance analyzes a table with packed days from time to time.
\a \t
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'zbxhist';
LOAD 'zbxhist';
SET TimeZone = 'UTC';
SET client_min_messages = warning;
CREATE TABLE history (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, value double precision DEFAULT '0.0000' NOT NULL, ns integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid,clock,ns));
SELECT zbxhist.create_parent('history', '1 day', '365 days', pack_after => '1 day');
SELECT (zbxhist.create_partition('history', (now() AT TIME ZONE 'UTC')::date - d)) IS NOT NULL AS is_made FROM generate_series(3, 5) d;
INSERT INTO history SELECT i, floor(extract(epoch FROM now()) / 86400)::integer * 86400 - d * 86400 + s * 60, i, 0 FROM generate_series(3, 5) d, generate_series(1, 30) i, generate_series(0, 99) s;
CREATE VIEW known AS SELECT tablename, inherited, n_distinct FROM pg_stats WHERE schemaname = 'public' AND attname = 'itemid' AND tablename IN ('history', 'history_packed');
CREATE VIEW logged AS SELECT action, relation, sqlstate, message FROM zbxhist.maintenance_log WHERE parent = 'history'::regclass AND action = 'analyze';
-- by policy
SELECT auto_analyze FROM zbxhist.parents;
SELECT zbxhist.alter_parent('history', auto_analyze => false);
CALL zbxhist.run_maintenance('history');
SELECT count(*) AS packed FROM zbxhist.packed_day WHERE parent = 'history'::regclass;
SELECT action FROM zbxhist.preview('history');
SELECT * FROM known;
SELECT * FROM logged;
SELECT zbxhist.alter_parent('history', auto_analyze => true);
SELECT action, partition, rows FROM zbxhist.preview('history');
CALL zbxhist.run_maintenance('history');
SELECT * FROM known ORDER BY tablename;
SELECT * FROM logged;
-- once in six hours, whatever is packed
SELECT (zbxhist.create_partition('history', (now() AT TIME ZONE 'UTC')::date - 6)) IS NOT NULL AS is_made;
SELECT count(*) FROM zbxhist.preview('history') WHERE action = 'analyze';
CALL zbxhist.run_maintenance('history');
SELECT count(*) FROM logged;
SET zbxhist.allow_packed_drop = on;
DROP VIEW known, logged;
DROP TABLE history CASCADE;
CALL zbxhist.run_maintenance();
ALTER DATABASE :"DBNAME" RESET session_preload_libraries;
