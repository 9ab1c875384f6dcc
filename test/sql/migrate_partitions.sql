-- Natively partitioned tables that cannot be taken over, and what is kept of one that is.
\a \t
\set SHOW_CONTEXT never
CREATE SCHEMA native;
SET search_path = native, public, zbxhist_partitions;
SET client_min_messages = warning;

-- not for these
CREATE TABLE plain (itemid bigint NOT NULL, clock integer NOT NULL);
\set VERBOSITY sqlstate
CALL zbxhist.adopt_partitions('plain');
\set VERBOSITY default
CREATE EXTENSION zbxhist_migrate;
CALL zbxhist.adopt_partitions(NULL);
CALL zbxhist.adopt_partitions('plain');
CALL zbxhist.adopt_partitions('plain', dry_run => NULL);
SELECT zbxhist.create_parent('plain');
CALL zbxhist.adopt_partitions('plain');
CREATE TABLE by_item (itemid bigint NOT NULL, clock integer NOT NULL) PARTITION BY RANGE (itemid);
CREATE TABLE by_item_1 PARTITION OF by_item FOR VALUES FROM (0) TO (1000);
CALL zbxhist.adopt_partitions('by_item');
CREATE TABLE by_both (itemid bigint NOT NULL, clock integer NOT NULL) PARTITION BY RANGE (clock, itemid);
CREATE TABLE by_both_1 PARTITION OF by_both FOR VALUES FROM (0, 0) TO (1000, 0);
CALL zbxhist.adopt_partitions('by_both');
CREATE TABLE by_day (itemid bigint NOT NULL, clock integer NOT NULL) PARTITION BY RANGE ((clock / 86400));
CREATE TABLE by_day_1 PARTITION OF by_day FOR VALUES FROM (0) TO (10);
CALL zbxhist.adopt_partitions('by_day');
CREATE TABLE by_list (itemid bigint NOT NULL, clock integer NOT NULL) PARTITION BY LIST (clock);
CREATE TABLE by_list_1 PARTITION OF by_list FOR VALUES IN (1);
CALL zbxhist.adopt_partitions('by_list');
CREATE TABLE by_nothing (itemid bigint NOT NULL, clock integer NOT NULL) PARTITION BY RANGE (clock);
CALL zbxhist.adopt_partitions('by_nothing');
CREATE TABLE with_time (itemid bigint NOT NULL, clock timestamp NOT NULL) PARTITION BY RANGE (clock);
CALL zbxhist.adopt_partitions('with_time');
SELECT zbxhist.create_parent('by_list');

-- obstacles, each with the command that removes it
CREATE ROLE native_other;
GRANT CREATE, USAGE ON SCHEMA native TO native_other;
CREATE TABLE v (itemid bigint NOT NULL, clock integer DEFAULT 0 NOT NULL, value text DEFAULT 'x' NOT NULL,
                ns integer DEFAULT 0 NOT NULL, CONSTRAINT v_key PRIMARY KEY (itemid, clock, ns), CONSTRAINT v_ns CHECK (ns >= 0))
    PARTITION BY RANGE (clock);
CREATE TABLE v_low PARTITION OF v FOR VALUES FROM (MINVALUE) TO (-1000);
CREATE TABLE v_a PARTITION OF v FOR VALUES FROM (-1000) TO (1700006400);
CREATE TABLE v_b (ns integer NOT NULL, value text NOT NULL, clock integer NOT NULL, itemid bigint NOT NULL, CONSTRAINT v_ns CHECK (ns >= 0));
ALTER TABLE v ATTACH PARTITION v_b FOR VALUES FROM (1700006400) TO (1700092800);
CREATE TABLE v_high PARTITION OF v FOR VALUES FROM (1700092800) TO (MAXVALUE);
CREATE TABLE v_sub PARTITION OF v DEFAULT PARTITION BY LIST (itemid);
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER t BEFORE INSERT ON v FOR EACH ROW EXECUTE FUNCTION nothing();
CREATE VIEW v_view AS SELECT * FROM v;
CREATE RULE r AS ON INSERT TO v WHERE new.itemid < 0 DO INSTEAD NOTHING;
SET client_min_messages = error;   -- says more, or not, by wal_level
CREATE PUBLICATION native_pub FOR TABLE v;
SET client_min_messages = warning;
CREATE POLICY p ON v USING (true);
ALTER TABLE v ENABLE ROW LEVEL SECURITY;
CREATE SEQUENCE s OWNED BY v.value;
CREATE TABLE referring (itemid bigint, clock integer, ns integer, FOREIGN KEY (itemid, clock, ns) REFERENCES v);
ALTER TABLE v_b OWNER TO native_other;
ALTER TABLE v_a ADD CONSTRAINT zbxhist_clock CHECK (clock < 1700006400);
CALL zbxhist.adopt_partitions('v');
ALTER TABLE v DISABLE ROW LEVEL SECURITY;
CALL zbxhist.adopt_partitions('v');
ALTER TABLE referring DROP CONSTRAINT referring_itemid_clock_ns_fkey;
CALL zbxhist.adopt_partitions('v');
DROP POLICY p ON v;
CALL zbxhist.adopt_partitions('v');
ALTER PUBLICATION native_pub DROP TABLE v;
CALL zbxhist.adopt_partitions('v');
DROP VIEW v_view;
CALL zbxhist.adopt_partitions('v');
DROP RULE r ON v;
CALL zbxhist.adopt_partitions('v');
ALTER SEQUENCE s OWNED BY NONE;
CALL zbxhist.adopt_partitions('v');
DROP TRIGGER t ON v;
CALL zbxhist.adopt_partitions('v');
ALTER TABLE v DETACH PARTITION v_sub;
-- its hint names whoever runs this
\set VERBOSITY terse
CALL zbxhist.adopt_partitions('v');
\set VERBOSITY default
ALTER TABLE v_b OWNER TO :USER;
CALL zbxhist.adopt_partitions('v');
ALTER TABLE v_a DROP CONSTRAINT zbxhist_clock;
SET ROLE native_other;
CALL zbxhist.adopt_partitions('v');
RESET ROLE;
BEGIN;
CALL zbxhist.adopt_partitions('v');
ROLLBACK;

-- one that has no end would take all rows to come
CALL zbxhist.adopt_partitions('v');
ALTER TABLE v DETACH PARTITION v_high;
DROP TABLE v_high;

-- a default partition without rows is dropped, one with rows is a table to be imported
CREATE TABLE v_rest (ns integer NOT NULL, value text DEFAULT 'wrong' NOT NULL, clock integer NOT NULL, itemid bigint NOT NULL, CONSTRAINT v_ns CHECK (ns >= 0));
ALTER TABLE v ATTACH PARTITION v_rest DEFAULT;
INSERT INTO v VALUES (1, -2000, 'low', 0), (1, -1000, 'a', 0), (1, 1700006399, 'a', 1), (2, 1700006400, 'b', 0), (3, 1700092800, 'high', 0);
CALL zbxhist.adopt_partitions('v');
SELECT tableoid::regclass, * FROM v ORDER BY 2, 3, 4;
DELETE FROM v WHERE itemid = 3;

-- what is kept
COMMENT ON TABLE v IS 'values';
COMMENT ON COLUMN v.value IS 'a value';
CREATE INDEX v_by_clock ON v (clock);
GRANT SELECT ON v TO native_other;
GRANT UPDATE (value) ON v TO native_other WITH GRANT OPTION;
SELECT pg_relation_filenode('v_a') AS file_a, pg_relation_filenode('v_b') AS file_b \gset
CALL zbxhist.adopt_partitions('v');
\t off
\d v
\t on
SELECT obj_description('v'::regclass), col_description('v'::regclass, 3), zbxhist_internal.describe_grants('v') = ARRAY[
    format('%s SELECT f', 'native_other'::regrole::oid), format('%s UPDATE t (value)', 'native_other'::regrole::oid)] AS has_grants;
SELECT * FROM zbxhist.list_partitions('v') WHERE from_clock < 1700092800;
SELECT pg_relation_filenode('v_a') = :file_a AND pg_relation_filenode('v_b') = :file_b AS not_rewritten;
SELECT conrelid::regclass, convalidated, pg_get_constraintdef(oid) FROM pg_constraint
 WHERE conname = 'zbxhist_clock' AND conrelid IN ('v_low'::regclass, 'v_a'::regclass, 'v_b'::regclass) ORDER BY 3;
SELECT tableoid::regclass, * FROM v ORDER BY 2, 3, 4;
INSERT INTO v VALUES (1, -1000, 'twice', 0);
INSERT INTO v VALUES (1, 1700006399, 'twice', 1);
INSERT INTO v VALUES (2, 1700006400, 'twice', 0);
INSERT INTO v VALUES (4, 1700006400, 'new', 0), (4, 2147483647, 'newest', 0), (4, -2147483648, 'oldest', 0);
SELECT tableoid::regclass, * FROM v ORDER BY 2, 3, 4;
INSERT INTO v (itemid) VALUES (5);
SELECT tableoid::regclass, * FROM v WHERE itemid = 5;
SET enable_bitmapscan = off;
SET enable_indexscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM v WHERE clock >= 1700006400 AND clock < 1700092800;
SELECT to_regclass('v_rest'), (SELECT routing FROM zbxhist.parent_config WHERE parent = 'v'::regclass);

-- what was in a default partition
CREATE TABLE w (itemid bigint NOT NULL, clock integer DEFAULT 7 NOT NULL, value text DEFAULT 'right' NOT NULL, extra text) PARTITION BY RANGE (clock);
CREATE INDEX w_1 ON w (itemid, clock);
CREATE TABLE w_a PARTITION OF w FOR VALUES FROM (0) TO (1000) WITH (autovacuum_enabled = off);
CREATE TABLE w_rest PARTITION OF w DEFAULT;
INSERT INTO w SELECT i, i, 'v' || i, NULL FROM generate_series(990, 1009) i;
CALL zbxhist.adopt_partitions('w');
ALTER TABLE w DETACH PARTITION w_rest;
CALL zbxhist.adopt_partitions('w');
CALL zbxhist.import('w_rest', 'w');
\t off
\d w
\t on
SELECT reloptions FROM pg_class WHERE oid = 'w'::regclass;
SELECT tableoid::regclass, count(*), min(clock), max(clock) FROM w GROUP BY 1 ORDER BY 2, 3;
INSERT INTO w (itemid) VALUES (1);
SELECT * FROM w WHERE itemid = 1;
SELECT * FROM zbxhist.list_partitions('w') WHERE to_clock = 1000;

-- of what is no native partition, or a default one
SELECT zbxhist_internal.trust_bounds('v_a');
CREATE TABLE d (itemid bigint NOT NULL, clock integer NOT NULL) PARTITION BY RANGE (clock);
CREATE TABLE d_rest PARTITION OF d DEFAULT;
SELECT * FROM zbxhist_internal.native_bounds('d_rest');

SET client_min_messages = warning;
DROP PUBLICATION native_pub;
DROP SCHEMA native CASCADE;
DROP ROLE native_other;
SELECT zbxhist_internal.forget_dropped();

-- what retention would delete is told, and has to be agreed to
CREATE SCHEMA lossy;
SET search_path = lossy, zbxhist_partitions;
SET client_min_messages = notice;
CREATE TABLE config (configid bigint PRIMARY KEY, hk_history_mode integer, hk_history_global integer, hk_history varchar(32), hk_trends_mode integer, hk_trends_global integer, hk_trends varchar(32));
INSERT INTO config VALUES (1, 1, 1, '2d', 1, 1, '365d');
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL DEFAULT 0, value double precision NOT NULL DEFAULT 0, ns integer NOT NULL DEFAULT 0, PRIMARY KEY (itemid, clock, ns)) PARTITION BY RANGE (clock);
CREATE TABLE history_a PARTITION OF history FOR VALUES FROM (1700006400) TO (1700092800);
DO $$ BEGIN EXECUTE format('CREATE TABLE lossy.history_today PARTITION OF lossy.history FOR VALUES FROM (%s) TO (%s)', day, day + 2 * 86400)
  FROM (SELECT extract(epoch FROM date_trunc('day', now() AT TIME ZONE 'UTC'))::bigint) d (day); END $$;
INSERT INTO history SELECT i, 1700006400 + i, i, 0 FROM generate_series(1, 20) i;
INSERT INTO history VALUES (1, extract(epoch FROM now())::integer, 1, 0);
SELECT pg_stat_force_next_flush() \gset
ANALYZE history;
SELECT zbxhist_internal.describe_deletion('lossy.history', '2 days') ~ '^about 20 rows, a whole partition, .*, the oldest of 2023-11-15$';
\set VERBOSITY terse
SET client_min_messages = warning;
CALL zbxhist.adopt_partitions('history');
SELECT count(*) FROM history;
CALL zbxhist.adopt_partitions('history', accept_deletion => true);
-- ... which is no run of maintenance that has been broken off
SELECT code FROM zbxhist.check() WHERE object = 'lossy.history' AND code = 'run_broken_off';
-- an hour that no partition has, since somebody's clocks went forward
SET client_min_messages = notice;
CREATE TABLE spring (itemid bigint NOT NULL, clock integer NOT NULL DEFAULT 0, value double precision NOT NULL DEFAULT 0, PRIMARY KEY (itemid, clock)) PARTITION BY RANGE (clock);
CREATE TABLE spring_a PARTITION OF spring FOR VALUES FROM (1700002800) TO (1700089200);
CREATE TABLE spring_b PARTITION OF spring FOR VALUES FROM (1700092800) TO (1700179200);
CALL zbxhist.adopt_partitions('spring', dry_run => true);
CALL zbxhist.adopt_partitions('spring');
SET client_min_messages = warning;
-- what has been taken over needs it no more
DROP EXTENSION zbxhist_migrate;
CALL zbxhist.run_maintenance('history');
SELECT count(*) FROM history;
DROP SCHEMA lossy CASCADE;
SELECT zbxhist_internal.forget_dropped();
