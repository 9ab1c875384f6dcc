-- Packed days that waste space are rewritten: by maintenance, within its limit, or by hand.
-- Late rows are merged in few batches.
\a \t
\set VERBOSITY default
\set SHOW_CONTEXT never
SET timezone = 'UTC';
SET client_min_messages = warning;
CREATE SCHEMA repack;
SET search_path = repack, public, zbxhist_partitions;
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE regress_zbxhist_repack LOCATION '';

CREATE FUNCTION bits(i bigint) RETURNS integer LANGUAGE sql IMMUTABLE
RETURN ('x' || substr(md5(i::text), 1, 7))::bit(28)::integer;
CREATE TABLE history (
    itemid bigint NOT NULL, clock integer DEFAULT 0 NOT NULL, value double precision DEFAULT 0 NOT NULL,
    ns integer DEFAULT 0 NOT NULL, PRIMARY KEY (itemid, clock, ns)) WITH (autovacuum_enabled = off);
SELECT zbxhist.create_parent('history', retention => '100 years', premake => 0);
SELECT zbxhist.alter_parent('history', never_pack => true);
SELECT zbxhist.create_partition('history', '1970-01-02'), zbxhist.create_partition('history', '1970-01-03');
INSERT INTO history SELECT i, d + j * 60 + i % 60, i + j / 8.0, bits(i * j)
  FROM generate_series(1, 80) i, generate_series(0, 1439) j, (VALUES (86400), (172800)) v (d);
CALL zbxhist.pack('history', '1970-01-02');
CALL zbxhist.pack('history', '1970-01-03');
CREATE TABLE plain AS SELECT * FROM history;
CREATE VIEW difference AS
    (SELECT 'lost', * FROM plain EXCEPT ALL SELECT 'lost', * FROM history)
    UNION ALL
    (SELECT 'new', * FROM history EXCEPT ALL SELECT 'new', * FROM plain);
-- what a day takes now, and took at first
CREATE VIEW state AS
SELECT d.day, pg_total_relation_size(d.day) AS bytes, d.nrows, d.packed_rows,
       d.merged_at IS NOT NULL AS merged, d.repacked_at IS NOT NULL AS repacked
  FROM zbxhist.packed_day d WHERE d.parent = 'history'::regclass;
CREATE TABLE at_first AS SELECT day::text, bytes FROM state;
-- (newer versions extend tables by more pages than merging needs)
CREATE VIEW growth AS
SELECT s.day, CASE WHEN s.bytes < f.bytes * 0.2 THEN 'empty' WHEN s.bytes < f.bytes * 1.8 THEN 'compact' ELSE 'bloated' END AS size, s.nrows, s.packed_rows = s.nrows AS known, s.merged, s.repacked
  FROM state s JOIN at_first f ON f.day = s.day::text ORDER BY f.day;
-- an autovacuum may hold an older snapshot for a moment
CREATE PROCEDURE run() LANGUAGE plpgsql AS $$
DECLARE
    last bigint := (SELECT max(id) FROM zbxhist.maintenance_log);
BEGIN
    FOR i IN 1 .. 100 LOOP
        CALL zbxhist.run_maintenance('repack.history');
        EXIT WHEN NOT EXISTS (SELECT FROM zbxhist.maintenance_log l
                               WHERE l.id > last AND l.message LIKE 'postponed: %');
        last := (SELECT max(id) FROM zbxhist.maintenance_log);
        PERFORM pg_sleep(0.1);
    END LOOP;
END
$$;
CREATE VIEW log AS
SELECT action, relation, rows, bytes > 0 AS freed, lock_wait IS NOT NULL AS waited, sqlstate,
       regexp_replace(message, '\d+ [kM]B', 'N', 'g') AS message
  FROM zbxhist.maintenance_log
 WHERE parent = 'history'::regclass AND action IN ('merge', 'repack')
   AND coalesce(message, '') NOT LIKE 'postponed: %' ORDER BY id;
CREATE PROCEDURE late(many integer, salt integer) LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO repack.history
    SELECT 1 + repack.bits(salt + i) % 80, 86400 + repack.bits(salt - i) % 86400, -1, 500000000 + salt + i
      FROM generate_series(1, many) i;
    INSERT INTO repack.plain SELECT * FROM ONLY repack.history p WHERE p.ns > 500000000 + salt;
END
$$;

-- nothing to do, and no page that is not needed
SELECT action, partition FROM zbxhist.preview('history');
SELECT pg_relation_size('zbxhist_packed.history_p19700102') / current_setting('block_size')::bigint
     - (SELECT max((ctid::text::point)[0]) + 1 FROM zbxhist_packed.history_p19700102) AS unused;

-- merging makes a day grow; it is not repacked while that is switched off
SET zbxhist.maintenance_repack_limit = 0;
CALL late(500, 1000000);
CALL run();
SELECT * FROM growth;
SELECT action, partition, from_time, rows, bytes > 500000 AS has_bytes FROM zbxhist.preview('history');
RESET zbxhist.maintenance_repack_limit;
SHOW zbxhist.maintenance_repack_limit;
SELECT relname, reloptions FROM pg_class WHERE relnamespace = 'zbxhist_packed'::regnamespace AND relname ~ '^history_p1970' ORDER BY 1;
CREATE TABLE before AS SELECT day::oid AS day FROM state;
CALL run();
SELECT * FROM growth;
SELECT * FROM log;
SELECT * FROM difference;
SELECT * FROM zbxhist.verify('history');
SELECT pg_relation_size('zbxhist_packed.history_p19700102') / current_setting('block_size')::bigint
     - (SELECT max((ctid::text::point)[0]) + 1 FROM zbxhist_packed.history_p19700102) AS unused;
SELECT count(*) FROM before b JOIN pg_class k ON k.oid = b.day;
SELECT relname, reloptions FROM pg_class WHERE relnamespace = 'zbxhist_packed'::regnamespace AND relname ~ '^history_p1970' ORDER BY 1;
SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
 WHERE conrelid = 'zbxhist_packed.history_p19700102'::regclass AND contype <> 'n' ORDER BY 1;
SELECT refobjid::regclass FROM pg_depend
 WHERE objid = 'zbxhist_packed.history_p19700102'::regclass AND classid = 'pg_class'::regclass AND refobjid = 'history_packed'::regclass;
SELECT attname, attstorage FROM pg_attribute WHERE attrelid = 'zbxhist_packed.history_p19700102'::regclass AND attname = 'payload';
SELECT action, partition FROM zbxhist.preview('history');

-- the new day can be read, changed and dropped as the old one
SELECT count(*), min(clock), max(clock) FROM history WHERE itemid = 7 AND clock < 172800;
SELECT count FROM zbxhist.statistics('history', 7, 86400, 172800);
INSERT INTO history SELECT * FROM plain WHERE itemid = 7 AND clock = 86407;
BEGIN;
DELETE FROM history WHERE itemid = 7 AND clock < 172800;
UPDATE history SET value = 5 WHERE itemid = 8 AND clock = 86408;
SELECT count(*), count(*) FILTER (WHERE value = 5) AS updated FROM history WHERE itemid IN (7, 8) AND clock < 172800;
ROLLBACK;

-- late rows that come soon after are merged when they are many
CALL late(500, 2000000);
CALL run();
SELECT count(*) FROM ONLY history;
SELECT action, partition FROM zbxhist.preview('history');
SELECT * FROM zbxhist.check() WHERE object = 'repack.history';
CALL late(12000, 3000000);
SELECT action, partition, rows FROM zbxhist.preview('history');
CALL run();
SELECT count(*) FROM ONLY history;
-- or when some hours have gone by
CALL late(500, 4000000);
UPDATE zbxhist.packed_day SET merged_at = merged_at - interval '7 hours' WHERE parent = 'history'::regclass;
SELECT action, partition, rows FROM zbxhist.preview('history') WHERE action = 'merge';
CALL run();
SELECT count(*) FROM ONLY history;

-- nor is a day repacked again soon
SELECT * FROM growth;
SELECT * FROM log OFFSET 2;
UPDATE zbxhist.packed_day SET repacked_at = repacked_at - interval '7 hours' WHERE parent = 'history'::regclass;
SELECT action, partition FROM zbxhist.preview('history');
CALL run();
SELECT * FROM growth;
SELECT * FROM log OFFSET 4;
SELECT * FROM difference;

-- no more than the limit: the second day has to wait
UPDATE history SET value = value + 1 WHERE ns % 100 = 0;
UPDATE plain SET value = value + 1 WHERE ns % 100 = 0;
UPDATE zbxhist.packed_day SET repacked_at = NULL WHERE parent = 'history'::regclass;
UPDATE zbxhist.parent_state SET repack_after = NULL WHERE parent = 'history'::regclass;
SET zbxhist.maintenance_repack_limit = '1MB';
SELECT * FROM growth;
CALL run();
SELECT count(*) FROM growth WHERE size = 'compact';
SELECT repack_after > clock_timestamp() AS later FROM zbxhist.parent_state WHERE parent = 'history'::regclass;
CALL run();
SELECT count(*) FROM growth WHERE size = 'compact';
SELECT count(*) FROM zbxhist.preview('history') WHERE action = 'repack';
UPDATE zbxhist.parent_state SET repack_after = repack_after - interval '1 day' WHERE parent = 'history'::regclass;
CALL run();
SELECT count(*) FROM growth WHERE size = 'compact';
RESET zbxhist.maintenance_repack_limit;
UPDATE zbxhist.parent_state SET repack_after = NULL WHERE parent = 'history'::regclass;
SELECT * FROM difference;

-- what is deleted is given back; at last all of it
DELETE FROM history WHERE itemid % 2 = 0;
DELETE FROM plain WHERE itemid % 2 = 0;
UPDATE zbxhist.packed_day SET repacked_at = NULL WHERE parent = 'history'::regclass;
CALL run();
SELECT * FROM growth;
SELECT * FROM difference;
DELETE FROM history WHERE clock < 172800;
DELETE FROM plain WHERE clock < 172800;
UPDATE zbxhist.packed_day SET repacked_at = NULL WHERE parent = 'history'::regclass;
CALL run();
SELECT * FROM growth;
SELECT pg_relation_size('zbxhist_packed.history_p19700102');
INSERT INTO history VALUES (1, 86400, 1, 1);
INSERT INTO plain VALUES (1, 86400, 1, 1);
SELECT * FROM difference;

-- by hand, as often as one likes
CALL zbxhist.repack('history', '1970-01-05');
CALL zbxhist.repack('history', NULL);
CALL zbxhist.repack('plain', '1970-01-02');
CALL zbxhist.repack(NULL, '1970-01-02');
CALL zbxhist.repack('history', '1970-01-03');
CALL zbxhist.repack('history', '1970-01-03');
SELECT * FROM difference;

-- it stays where it is stored, with its columns, whatever the parent has now
ALTER TABLE zbxhist_packed.history_p19700103 SET TABLESPACE regress_zbxhist_repack;
DROP VIEW difference;
ALTER TABLE history ADD COLUMN extra text;
ALTER TABLE history ALTER value TYPE numeric;
CREATE TABLE altered AS SELECT * FROM history;
CALL zbxhist.repack('history', '1970-01-03');
SELECT count(*) FROM ((TABLE altered EXCEPT ALL TABLE history) UNION ALL (TABLE history EXCEPT ALL TABLE altered)) x;
SELECT k.relname, t.spcname, k.reloptions FROM pg_class k JOIN pg_tablespace t ON t.oid = k.reltablespace
 WHERE k.relnamespace = 'zbxhist_packed'::regnamespace AND k.relname ~ '^history_p1970' ORDER BY 1;
SELECT attname, atttypid::regtype FROM pg_attribute
 WHERE attrelid = 'zbxhist_packed.history_p19700103'::regclass AND attnum > 6 ORDER BY attnum;
CALL zbxhist.unpack('history', '1970-01-03');
SELECT count(*) FROM ((TABLE altered EXCEPT ALL TABLE history) UNION ALL (TABLE history EXCEPT ALL TABLE altered)) x;

-- what cannot be repacked stays as it is, and is not tried again each time
CREATE TABLE logged (count bigint);
CREATE PROCEDURE pretend() LANGUAGE sql AS $$
    UPDATE zbxhist.packed_day SET repacked_at = NULL, packed_bytes = 0, packed_rows = nrows WHERE parent = 'repack.history'::regclass;
    DELETE FROM repack.logged;
    INSERT INTO repack.logged SELECT count(*) FROM repack.log;
$$;
SELECT zbxhist_internal.create_range('history', 259200, 345600);
INSERT INTO history SELECT i, 259200 + j * 60, bits(i * j) FROM generate_series(1, 80) i, generate_series(0, 1439) j;
CALL zbxhist.pack('history', '1970-01-04');
CREATE VIEW dependent AS SELECT first_itemid FROM zbxhist_packed.history_p19700104;
CALL pretend();
CALL run();
SELECT severity, code FROM zbxhist.check() WHERE object ~ 'history_p19700104' AND code = 'step_failed';
CALL run();
SELECT l.* FROM logged, LATERAL (SELECT * FROM log OFFSET count) l;
DROP VIEW dependent;
UPDATE zbxhist_packed.history_p19700104
   SET payload = set_byte(payload, length(payload) - 5, get_byte(payload, length(payload) - 5) # 255)
 WHERE first_itemid = (SELECT max(first_itemid) FROM zbxhist_packed.history_p19700104);
CALL pretend();
CALL run();
CALL run();
SELECT l.* FROM logged, LATERAL (SELECT * FROM log OFFSET count) l;
SELECT count(*) FROM history WHERE itemid = 1 AND clock >= 259200;
SET zbxhist.allow_packed_drop = on;
DROP TABLE history CASCADE;

-- values of all kinds, out of line too, nulls, and rows of many segments; then of two days into one
CREATE TABLE history (
    itemid bigint NOT NULL, clock integer NOT NULL, ns integer, n numeric, s smallint, t text, b bytea);
CREATE TABLE expected (LIKE history);
CREATE FUNCTION fill(from_clock integer, to_clock integer) RETURNS void LANGUAGE sql AS $$
    INSERT INTO repack.history
    SELECT 1 + i % 7, from_clock + repack.bits(i) % (to_clock - from_clock), nullif(repack.bits(i), 5),
           CASE i % 5 WHEN 0 THEN 18446744073709551615 WHEN 1 THEN -1.5 WHEN 2 THEN NULL ELSE i END,
           nullif(i % 9, 3)::smallint,
           CASE i % 50 WHEN 0 THEN (SELECT string_agg(md5((i * 1000 + j)::text), '') FROM generate_series(1, 1000) j) WHEN 1 THEN '' ELSE repeat('x', i % 30) END,
           CASE WHEN i % 3 > 0 THEN decode(md5(i::text), 'hex') END
      FROM generate_series(1, 3000) i;
    INSERT INTO repack.history VALUES (99, from_clock, 1, NULL, NULL, NULL, NULL);
$$;
CREATE PROCEDURE make_day(name text, from_clock integer, to_clock integer) LANGUAGE plpgsql AS $$
BEGIN
    TRUNCATE repack.history;
    PERFORM repack.fill(from_clock, to_clock);
    INSERT INTO repack.expected SELECT * FROM repack.history;
    COMMIT;
    FOR i IN 1 .. 100 LOOP
        BEGIN
            EXECUTE format(
                'CREATE TABLE repack.%I (first_itemid bigint NOT NULL, first_clock integer NOT NULL, '
                'last_itemid bigint NOT NULL, last_clock integer NOT NULL, nrows integer NOT NULL, '
                'payload bytea NOT NULL, itemid bigint, clock integer, ns integer, n numeric, s smallint, '
                't text, b bytea, PRIMARY KEY (first_itemid, first_clock)) WITH (toast_tuple_target = 8160)', name);
            EXECUTE format('ALTER TABLE repack.%I ALTER payload SET STORAGE EXTERNAL', name);
            PERFORM zbxhist_internal.pack_rows('repack.history', name::regclass);
            RETURN;
        EXCEPTION WHEN object_in_use THEN
            PERFORM pg_sleep(0.1);
        END;
        COMMIT;
    END LOOP;
END
$$;
CREATE PROCEDURE join_days(VARIADIC days regclass[]) LANGUAGE plpgsql AS $$
DECLARE
    result record;
BEGIN
    FOR i IN 1 .. 100 LOOP
        BEGIN
            CREATE TABLE repack.joined (LIKE repack.one INCLUDING ALL) WITH (toast_tuple_target = 8160);
            SELECT r.rows, r.bytes > 0 AS bytes, cardinality(r.versions) AS days INTO result
              FROM zbxhist_internal.repack_rows(days, 'repack.joined') r;
            RAISE INFO '%', result;
            RETURN;
        EXCEPTION WHEN object_in_use THEN
            PERFORM pg_sleep(0.1);
        END;
        COMMIT;
    END LOOP;
END
$$;
CALL make_day('one', 0, 500);
CALL make_day('two', 500, 1000);
CALL make_day('three', 1000, 1001);
CALL join_days('one', 'two', 'three');
SELECT * FROM zbxhist_internal.verify_day('joined');
SELECT pg_relation_size(reltoastrelid) > 0 AS has_toast FROM pg_class WHERE oid = 'joined'::regclass;
TRUNCATE history;
SELECT zbxhist_internal.unpack_rows('joined', 'history');
SELECT count(*) FROM ((TABLE expected EXCEPT ALL TABLE history) UNION ALL (TABLE history EXCEPT ALL TABLE expected)) x;

-- a version is another one after a change, and only then
CREATE TABLE versions AS SELECT version FROM zbxhist_internal.day_version('one');
SELECT d.version = v.version AS same FROM versions v, zbxhist_internal.day_version('one') d;
BEGIN;
DELETE FROM one WHERE first_itemid = (SELECT max(first_itemid) FROM one);
ROLLBACK;
SELECT d.version = v.version AS same FROM versions v, zbxhist_internal.day_version('one') d;
VACUUM FREEZE one;
SELECT d.version = v.version AS same FROM versions v, zbxhist_internal.day_version('one') d;
DELETE FROM one WHERE first_itemid = (SELECT max(first_itemid) FROM one);
CREATE PROCEDURE compare() LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. 100 LOOP
        COMMIT;
        BEGIN
            RAISE INFO 'same: %', (SELECT d.version = v.version FROM repack.versions v, zbxhist_internal.day_version('repack.one') d);
            RETURN;
        EXCEPTION WHEN object_in_use THEN
            PERFORM pg_sleep(0.1);
        END;
    END LOOP;
END
$$;
CALL compare();

-- what is not as promised
BEGIN;
DROP TABLE joined;
CREATE TABLE joined (LIKE one INCLUDING ALL);
SELECT zbxhist_internal.repack_rows(ARRAY['two', NULL]::regclass[], 'joined');
ROLLBACK;
SELECT zbxhist_internal.repack_rows(ARRAY['two']::regclass[], 'joined');
SELECT zbxhist_internal.repack_rows(ARRAY['history']::regclass[], 'joined');
SELECT zbxhist_internal.day_version(0);
-- days that overlap
BEGIN;
DROP TABLE joined;
CREATE TABLE joined (LIKE one INCLUDING ALL);
SELECT zbxhist_internal.repack_rows(ARRAY['two', 'two']::regclass[], 'joined');
ROLLBACK;
-- an index that lacks a group
UPDATE pg_index SET indisready = false WHERE indexrelid = 'two_pkey'::regclass;
INSERT INTO two (first_itemid, first_clock, last_itemid, last_clock, nrows, payload)
SELECT 1000, first_clock, 1000, last_clock, nrows, payload FROM two LIMIT 1;
UPDATE pg_index SET indisready = true WHERE indexrelid = 'two_pkey'::regclass;
DROP TABLE joined;
CALL join_days('two');

DROP SCHEMA repack CASCADE;
DROP TABLESPACE regress_zbxhist_repack;
