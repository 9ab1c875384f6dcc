-- Packed days: how a day becomes one and an ordinary partition again, what is
-- refused, what the views show, and what becomes of late rows.
\a \t
\set VERBOSITY default
\set SHOW_CONTEXT never
SET timezone = 'UTC';
-- one day for all of it
DO $$ BEGIN PERFORM pg_sleep(left_over + 1) FROM (SELECT 86400 - extract(epoch FROM now()) % 86400) AS day (left_over) WHERE left_over < 180; END $$;
SET zbxhist.allow_packed_drop = on;
CREATE SCHEMA packed;
SET search_path = packed, public, zbxhist_partitions;
CREATE TABLE history (
    itemid bigint NOT NULL, clock integer DEFAULT 0 NOT NULL, value double precision DEFAULT 0 NOT NULL,
    ns integer DEFAULT 0 NOT NULL, PRIMARY KEY (itemid, clock, ns)) WITH (autovacuum_enabled = off);
SELECT zbxhist.create_parent('history', retention => '100 years', premake => 1);
SELECT zbxhist.create_partition('history', '1970-01-02'), zbxhist.create_partition('history', '1970-01-03');
INSERT INTO history SELECT i, 86400 + j * 60, i * j, j FROM generate_series(1, 20) i, generate_series(0, 1439) j;
INSERT INTO history SELECT i, 172800 + j * 60, i * j, j FROM generate_series(1, 20) i, generate_series(0, 1439) j;
CREATE TABLE plain AS SELECT * FROM history;
-- rows that differ between the two
CREATE VIEW difference AS
    (SELECT 'lost', * FROM plain EXCEPT ALL SELECT 'lost', * FROM history)
    UNION ALL
    (SELECT 'new', * FROM history EXCEPT ALL SELECT 'new', * FROM plain);

-- what cannot be packed, or unpacked
CALL zbxhist.pack('history', '1970-01-05');
CALL zbxhist.pack('history', NULL);
CALL zbxhist.pack('history', '5000-01-01');
CALL zbxhist.pack('plain', '1970-01-02');
CALL zbxhist.pack(NULL, '1970-01-02');
\set VERBOSITY sqlstate
SELECT d AS today, d + 1 AS tomorrow FROM date(now() AT TIME ZONE 'UTC') d \gset
CALL zbxhist.pack('history', :'today');
CALL zbxhist.pack('history', :'tomorrow');
\set VERBOSITY default
CALL zbxhist.unpack('history', '1970-01-02');
CALL zbxhist.unpack('plain', '1970-01-02');
CALL zbxhist.unpack('history', NULL);

-- a day is packed
CALL zbxhist.pack('history', '1970-01-02');
SELECT * FROM difference;
SELECT pg_stat_force_next_flush() \gset
ANALYZE history_p19700103;
SELECT partition, kind, from_time, to_time, state, rows, bytes > 0 AS has_bytes, bytes_per_value < 8 AS is_small
  FROM zbxhist.partitions WHERE parent = 'history'::regclass AND to_clock < 1000000;
SELECT partitions, packed_days FROM zbxhist.status WHERE parent = 'history'::regclass;
SELECT action, relation, rows, bytes > 0 AS freed, lock_wait IS NOT NULL AS waited, message ~ '^\d+ kB before, \d+ kB after$' AS sizes
  FROM zbxhist.maintenance_log WHERE parent = 'history'::regclass AND action ~ 'pack' ORDER BY id;
SELECT tableoid::regclass, count(*) FROM history GROUP BY 1 ORDER BY 1;
CALL zbxhist.pack('history', '1970-01-02');
SELECT zbxhist.create_partition('history', '1970-01-02');
SELECT * FROM zbxhist.verify('history');
SELECT severity, code, object, message FROM zbxhist.check() WHERE object LIKE 'packed.%';

-- rows that come late
INSERT INTO history VALUES (1, 86401, 5, 0);
INSERT INTO history VALUES (1, 86400, 5, 0);
INSERT INTO history SELECT 1, 86400, 5, 0;
INSERT INTO history VALUES (1, 86402, 5, 0), (1, 86400, 5, 0);
INSERT INTO history VALUES (1, 86400, 5, 0) RETURNING *;
INSERT INTO history VALUES (1, 86400, 5, 0), (1, 86403, 5, 0) ON CONFLICT DO NOTHING;
INSERT INTO history VALUES (1, 86400, 5, 0) ON CONFLICT (itemid, clock, ns) DO UPDATE SET value = 5;
COPY history FROM stdin;
1	86404	5	0
1	86400	5	0
\.
COPY history FROM stdin;
1	86404	5	0
\.
SET zbxhist.enable_routing = off;
INSERT INTO history VALUES (1, 86400, 5, 0);
INSERT INTO history VALUES (1, 86405, 5, 0);
RESET zbxhist.enable_routing;
SET zbxhist.enable_batching = off;
INSERT INTO history VALUES (1, 86400, 5, 0);
INSERT INTO history VALUES (1, 86406, 5, 0);
RESET zbxhist.enable_batching;
SET zbxhist.enable_fast_insert = off;
INSERT INTO history VALUES (1, 86400, 5, 0);
RESET zbxhist.enable_fast_insert;
SET session_replication_role = replica;
INSERT INTO history VALUES (1, 86400, 5, 0);
INSERT INTO history VALUES (1, 86407, 5, 0);
RESET session_replication_role;
SELECT zbxhist.add(NULL::history, '{1}', '{86400}', '{0}', '{7.0}'::float8[]);
SELECT zbxhist.add(NULL::history, '{1,1}', '{86400,86408}', '{0,0}', '{7.0,7.0}'::float8[], 'ignore');
SELECT tableoid::regclass, clock, value FROM history WHERE itemid = 1 AND clock BETWEEN 86401 AND 86409 ORDER BY clock;
SELECT count(*) FROM difference;
SELECT action, partition, rows FROM zbxhist.preview('history') WHERE action = 'merge';

-- what is deleted in a packed day is gone, and can come again
BEGIN;
DELETE FROM history WHERE itemid = 2 AND clock < 86700;
SELECT count(*), count(*) FILTER (WHERE "?column?" = 'lost') AS lost FROM difference;
INSERT INTO history VALUES (2, 86400, -1, 0);
SELECT tableoid::regclass, clock, value FROM history WHERE itemid = 2 AND clock < 86800 ORDER BY clock;
ROLLBACK;

-- and unpacked; what came late finds its partition
CALL zbxhist.unpack('history', '1970-01-02');
SELECT count(*), count(*) FILTER (WHERE "?column?" = 'new') AS new FROM difference;
SELECT partition, kind FROM zbxhist.partitions WHERE parent = 'history'::regclass AND to_clock < 1000000;
SELECT count(*) FROM pg_class WHERE relnamespace = 'zbxhist_packed'::regnamespace AND relname ~ 'history_p1970';
INSERT INTO history VALUES (1, 86400, 5, 0);
INSERT INTO history VALUES (1, 86409, 5, 0);
CALL zbxhist.run_maintenance('history');
SELECT tableoid::regclass, count(*) FROM history WHERE itemid = 1 GROUP BY 1 ORDER BY 1;
DELETE FROM history WHERE itemid = 1 AND clock BETWEEN 86401 AND 86409;
SELECT * FROM difference;

-- maintenance merges late rows
CALL zbxhist.pack('history', '1970-01-02');
INSERT INTO history SELECT i, 86401 + j * 60, -1, 0 FROM generate_series(1, 30, 3) i, generate_series(0, 1439, 7) j;
SELECT count(*) FROM ONLY history;
CALL zbxhist.run_maintenance('history');
SELECT count(*) FROM ONLY history;
SELECT count(*), count(*) FILTER (WHERE "?column?" = 'new') AS new FROM difference;
SELECT partition, rows FROM zbxhist.partitions WHERE parent = 'history'::regclass AND kind = 'packed';
SELECT action, relation, rows FROM zbxhist.maintenance_log WHERE parent = 'history'::regclass AND action = 'merge';
INSERT INTO history VALUES (1, 86401, 5, 0);
DELETE FROM history WHERE value = -1;
SELECT * FROM difference;
CALL zbxhist.unpack('history', '1970-01-02');

-- maintenance packs what is old enough, and drops it when it is too old
SELECT zbxhist.alter_parent('history', pack_after => '0');
SELECT zbxhist.alter_parent('history', pack_after => '1 day', never_pack => true);
SELECT zbxhist.alter_parent('history', pack_after => '1 day');
SELECT action, partition, from_time, to_time, rows IS NOT NULL AS has_rows, bytes > 0 AS has_bytes FROM zbxhist.preview('history') WHERE action = 'pack';
CALL zbxhist.run_maintenance('history');
SELECT partition, kind, rows FROM zbxhist.partitions WHERE parent = 'history'::regclass AND to_clock < 1000000;
SELECT * FROM difference;
SELECT zbxhist.alter_parent('history', never_pack => true);
CALL zbxhist.unpack('history', '1970-01-03');
CALL zbxhist.run_maintenance('history');
SELECT partition, kind FROM zbxhist.partitions WHERE parent = 'history'::regclass AND to_clock < 1000000;
CALL zbxhist.pack('history', '1970-01-03');
SET client_min_messages = warning;
SELECT zbxhist.alter_parent('history', retention => '30 days', accept_deletion => true);
RESET client_min_messages;
SELECT action, partition, rows FROM zbxhist.preview('history') WHERE action = 'drop';
CALL zbxhist.run_maintenance('history');
SELECT count(*) FROM history;
SELECT count(*) FROM zbxhist.packed_day WHERE parent = 'history'::regclass;
SELECT action, relation, rows FROM zbxhist.maintenance_log WHERE parent = 'history'::regclass AND action = 'drop' ORDER BY id;

-- undo brings packed days back
SELECT zbxhist.alter_parent('history', retention => '100 years');
SELECT zbxhist.create_partition('history', '1970-01-02');
INSERT INTO history SELECT * FROM plain WHERE clock < 172800;
CALL zbxhist.pack('history', '1970-01-02');
CALL zbxhist.undo('history');
SELECT count(*) FROM ONLY history;
SELECT count(*) FROM pg_inherits WHERE inhparent = 'history'::regclass;
SELECT count(*) FROM zbxhist.packed_day WHERE parent = 'history'::regclass;

-- months of trends: Zabbix updates an hour again after a restart, packed or not
CREATE TABLE trends (
    itemid bigint NOT NULL, clock integer NOT NULL, num integer NOT NULL, value_min double precision NOT NULL,
    value_avg double precision NOT NULL, value_max double precision NOT NULL, PRIMARY KEY (itemid, clock));
SELECT zbxhist.create_parent('trends', '1 month', retention => '100 years', pack_after => '1 month', premake => 0);
SELECT zbxhist.create_partition('trends', '1970-01-01');
INSERT INTO trends SELECT i, c, 60, 1, 2, 3 FROM generate_series(1, 5) i, generate_series(0, 2674800, 3600) c;
CALL zbxhist.run_maintenance('trends');
SELECT partition, kind, rows FROM zbxhist.partitions WHERE parent = 'trends'::regclass AND to_clock < 3000000;
update trends set num=61,value_min=0.5,value_avg=2.5,value_max=3.5 where itemid=3 and clock=7200;
INSERT INTO trends VALUES (9, 7200, 1, 1, 1, 1);
update trends set num=2,value_min=1,value_avg=1.5,value_max=2 where itemid=9 and clock=7200;
SELECT tableoid::regclass AS stored_in, * FROM trends WHERE clock = 7200 AND itemid IN (2, 3, 9) ORDER BY itemid;
CALL zbxhist.run_maintenance('trends');
update trends set num=3,value_min=1,value_avg=2,value_max=3 where itemid=9 and clock=7200;
SELECT tableoid::regclass AS stored_in, * FROM trends WHERE clock = 7200 AND itemid IN (2, 3, 9) ORDER BY itemid;
SELECT partition, kind, rows FROM zbxhist.partitions WHERE parent = 'trends'::regclass AND to_clock < 3000000;
SET client_min_messages = warning;
DROP TABLE trends CASCADE;
RESET client_min_messages;

-- what keeps a table from being packed
CREATE TABLE other (
    itemid bigint NOT NULL, clock integer NOT NULL, payload text, PRIMARY KEY (itemid, clock));
SELECT zbxhist.create_parent('other', retention => '100 years', pack_after => '1 day', premake => 0);
SELECT zbxhist.create_partition('other', '1970-01-02');
CALL zbxhist.pack('other', '1970-01-02');
CALL zbxhist.run_maintenance('other');
SELECT severity, code, object, message, hint FROM zbxhist.check() WHERE object ~ 'other';
ALTER TABLE other RENAME payload TO value;
CREATE UNIQUE INDEX other_value ON other (itemid, value);
CALL zbxhist.pack('other', '1970-01-02');
DROP INDEX other_value;
CREATE VIEW depends AS SELECT * FROM other_p19700102;
CALL zbxhist.pack('other', '1970-01-02');
DROP VIEW depends;
CALL zbxhist.pack('other', '1970-01-02');
SELECT partition, kind FROM zbxhist.partitions WHERE parent = 'other'::regclass AND to_clock < 1000000;

-- names: the same in another schema, and taken ones
CREATE SCHEMA packed2;
CREATE TABLE packed2.other (LIKE other INCLUDING ALL);
SELECT zbxhist.create_parent('packed2.other', retention => '100 years', premake => 0);
CREATE VIEW packed2.other_packed AS SELECT 1;
SELECT zbxhist.create_partition('packed2.other', '1970-01-02');
CALL zbxhist.pack('packed2.other', '1970-01-02');
SELECT parent, day FROM zbxhist.packed_day WHERE parent IN ('other'::regclass, 'packed2.other'::regclass) ORDER BY 1;
SELECT zbxhist_internal.packed_table('packed2.other');

-- what is dropped, and what check() says of it
DROP FOREIGN TABLE other_packed;
DROP TABLE zbxhist_packed.other_p19700102;
UPDATE zbxhist.parent_state SET last_run = now() - interval '2 days';
SELECT severity, code, message FROM zbxhist.check() WHERE code ~ 'day|packed';
CALL zbxhist.run_maintenance('other');
SELECT severity, code, message FROM zbxhist.check() WHERE code ~ 'day|packed';
RESET zbxhist.allow_packed_drop;
DROP EXTENSION zbxhist;
SET zbxhist.allow_packed_drop = on;
SET client_min_messages = warning;
DROP SCHEMA packed, packed2 CASCADE;
SELECT count(*) FROM pg_class WHERE relnamespace = 'zbxhist_packed'::regnamespace AND relkind = 'r';
SELECT zbxhist_internal.forget_dropped();
TRUNCATE zbxhist.maintenance_log;
