-- An UPDATE or DELETE by item or clock reads only the tables that may have such rows, and also
-- finds those that wait in the parent.
\a \t
LOAD 'zbxhist';
SET zbxhist.allow_packed_drop = on;
-- see select_item.sql
SET zbxhist.enable_item_scan = off;
CREATE TABLE trends (
    itemid bigint NOT NULL, clock integer NOT NULL, num integer NOT NULL,
    PRIMARY KEY (itemid, clock));
SELECT zbxhist.create_parent('trends', '1 month');
SELECT zbxhist.create_partition('trends', '1970-02-01');
SELECT zbxhist.create_partition('trends', '1970-03-01');
INSERT INTO trends SELECT i, c, 1 FROM generate_series(1, 3) i,
    unnest('{2678400,2682000,5097600}'::integer[]) c;
CREATE VIEW stored AS SELECT tableoid::regclass AS stored_in, * FROM trends;

EXPLAIN (COSTS OFF) UPDATE trends SET num = 2 WHERE itemid = 1 AND clock = 2678400;
EXPLAIN (COSTS OFF) DELETE FROM trends WHERE itemid = 1 AND (clock >= 2678400 AND clock < 5097600);
EXPLAIN (COSTS OFF) DELETE FROM trends WHERE clock > 5097599 AND clock <= 5097600;
EXPLAIN (COSTS OFF) DELETE FROM trends WHERE clock > 2678399.5 AND 2678402.5 > clock;
UPDATE trends SET num = 2 WHERE itemid = 1 AND clock = 2678400;
\echo :ROW_COUNT
DELETE FROM trends WHERE itemid = 2 AND clock BETWEEN 2678400 AND 2680000;
\echo :ROW_COUNT

-- rows in the parent as well
SET zbxhist.enable_routing = off;
INSERT INTO trends VALUES (1, 2678401, 1), (4, 2678400, 1);
RESET zbxhist.enable_routing;
UPDATE trends SET num = num + 10 WHERE clock >= 2678400 AND clock <= 2678401;
\echo :ROW_COUNT
DO $$
DECLARE
    n bigint;
BEGIN
    UPDATE trends SET num = num + 10 WHERE itemid = 4 AND clock = 2678400;
    GET DIAGNOSTICS n = ROW_COUNT;
    RAISE NOTICE '% row, found %', n, FOUND;
END $$;
-- a plan made while the parent was empty is used when it is not
TRUNCATE ONLY trends;
PREPARE bump AS UPDATE trends SET num = num + 100 WHERE itemid = 4 AND clock = 2678400;
EXECUTE bump;
\echo :ROW_COUNT
SET zbxhist.enable_routing = off;
INSERT INTO trends VALUES (4, 2678400, 1);
RESET zbxhist.enable_routing;
EXECUTE bump;
\echo :ROW_COUNT
-- ... and one for a partition that is gone or changed is made anew
ALTER TABLE trends_p197002 ADD CHECK (num < 1000);
EXECUTE bump;
DROP TABLE trends_p197002;
EXECUTE bump;
\echo :ROW_COUNT
SELECT * FROM stored ORDER BY itemid, clock;

-- the clock stays within the partition's, whoever changes it
UPDATE trends SET clock = clock + 5000000, num = 3 WHERE itemid = 1 AND clock = 5097600;
CREATE FUNCTION later() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN NEW.clock := NEW.clock + 5000000; RETURN NEW; END $$;
CREATE TRIGGER later BEFORE UPDATE ON trends_p197003 FOR EACH ROW EXECUTE FUNCTION later();
UPDATE trends SET num = 3 WHERE itemid = 1 AND clock = 5097600;
DROP FUNCTION later CASCADE;

-- several partitions, none; for all children: RETURNING, other tables, statement triggers
SELECT zbxhist.create_partition('trends', '1970-02-01');
CREATE FUNCTION plan_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    EXECUTE 'EXPLAIN (COSTS OFF) ' || statement INTO line;
    RETURN line;
END $$;
SELECT plan_of('DELETE FROM trends WHERE clock = 2678400');
SELECT plan_of('DELETE FROM trends WHERE clock = 2678400 RETURNING *');
SELECT plan_of('DELETE FROM trends USING pg_class c WHERE clock = 2678400');
SELECT plan_of('DELETE FROM trends WHERE clock >= 2678400 AND clock <= 5097600');
SELECT plan_of('DELETE FROM trends WHERE clock = 0');
SELECT plan_of('DELETE FROM trends WHERE clock = 2678400 OR itemid = 1');
SELECT plan_of('DELETE FROM ONLY trends WHERE clock = 2678400');
SELECT plan_of('DELETE FROM trends WHERE itemid = 1');
SELECT plan_of('DELETE FROM trends');
SELECT plan_of('DELETE FROM trends WHERE clock = 1 AND clock = 2678400');
SET constraint_exclusion = off;
SELECT plan_of('DELETE FROM trends WHERE clock = 2678400');
RESET constraint_exclusion;
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE NOTICE '% on %', TG_OP, TG_TABLE_NAME; RETURN NULL; END $$;
CREATE TRIGGER tell AFTER DELETE ON trends FOR EACH STATEMENT EXECUTE FUNCTION tell();
DELETE FROM trends WHERE itemid = 9 AND clock = 2678400;
DROP TRIGGER tell ON trends;

-- the parent's privileges count, and only they
CREATE ROLE regress_zbxhist_updater;
GRANT SELECT (itemid, clock), UPDATE (num) ON trends TO regress_zbxhist_updater;
SET ROLE regress_zbxhist_updater;
UPDATE trends SET num = 5 WHERE itemid = 1 AND clock = 5097600;
\echo :ROW_COUNT
UPDATE trends SET clock = 5097600 WHERE itemid = 1 AND clock = 5097600;
UPDATE trends SET num = num + 1 WHERE itemid = 1 AND clock = 5097600;
DELETE FROM trends WHERE itemid = 1 AND clock = 5097600;
UPDATE trends_p197003 SET num = 5 WHERE itemid = 1 AND clock = 5097600;
RESET ROLE;
-- row security
CREATE POLICY own ON trends FOR ALL TO regress_zbxhist_updater USING (itemid = 2);
ALTER TABLE trends ENABLE ROW LEVEL SECURITY;
SET ROLE regress_zbxhist_updater;
UPDATE trends SET num = 6 WHERE itemid IN (1, 2) AND clock = 5097600;
\echo :ROW_COUNT
RESET ROLE;
SELECT * FROM stored ORDER BY itemid, clock;
SET client_min_messages = warning;
DROP TABLE trends CASCADE;
RESET client_min_messages;
DROP ROLE regress_zbxhist_updater;
DROP FUNCTION plan_of, tell;

-- what other queries leave out, by arithmetic: here two seconds of the planner's
-- own reasoning, which does not know that clocks are whole numbers
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL, ns integer NOT NULL,
    PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history', premake => 0);
SELECT zbxhist.create_partition('history', '1970-01-02'), zbxhist.create_partition('history', '1970-01-03');
DO $$
BEGIN
    EXECUTE (SELECT format('DROP TABLE %s', p.partition) FROM zbxhist.list_partitions('history') p WHERE p.from_clock > 300000);
END $$;
INSERT INTO history SELECT 1, c, c, 0 FROM generate_series(86400, 259199, 3600) c;
CALL zbxhist.pack('history', '1970-01-02');
EXPLAIN (COSTS OFF) SELECT * FROM history WHERE itemid = 1 AND clock > 172799 AND clock <= 180000;
EXPLAIN (COSTS OFF) SELECT * FROM history WHERE itemid = 1 AND clock = 90000;
-- the tables that a plan reads, however it does
CREATE FUNCTION changed_by(statement text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || statement LOOP
        RETURN NEXT regexp_replace(line, ' \(actual .*\)', '');
    END LOOP;
END $$;
CREATE FUNCTION tables_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        IF line ~ ' on history' AND line !~ 'Replaces:|_pkey' THEN RETURN NEXT regexp_replace(line, '.* on ', ''); END IF;
    END LOOP;
END $$;
SELECT tables_of('SELECT * FROM history WHERE itemid = 1 AND clock > 180000 AND clock < 90000');
SELECT tables_of('SELECT * FROM history h JOIN history g USING (itemid) WHERE h.clock = 90000 AND g.clock = 180000') AS t ORDER BY t;
EXPLAIN (COSTS OFF) DELETE FROM history WHERE clock >= 259200;
-- packed rows are changed without the partitions, those that wait in the parent too
INSERT INTO history VALUES (1, 90001, 7, 0);
SELECT count(*) FROM ONLY history;
EXPLAIN (COSTS OFF) UPDATE history SET value = -1 WHERE itemid = 1 AND clock BETWEEN 90000 AND 90001;
EXPLAIN (COSTS OFF) DELETE FROM history WHERE itemid = 1 AND clock BETWEEN 172700 AND 172801;
BEGIN;
UPDATE history SET value = -1 WHERE itemid = 1 AND clock BETWEEN 90000 AND 90001;
\echo :ROW_COUNT
SELECT clock, value FROM history WHERE itemid = 1 AND clock BETWEEN 90000 AND 90001 ORDER BY 1;
DELETE FROM history WHERE itemid = 1 AND clock BETWEEN 90000 AND 90001;
\echo :ROW_COUNT
SELECT clock, value FROM history WHERE itemid = 1 AND clock BETWEEN 90000 AND 90003 ORDER BY 1;
ROLLBACK;
DELETE FROM history WHERE itemid = 1 AND clock = 90001;
\echo :ROW_COUNT
-- the housekeeper's: one with rows in a partition, one with packed rows, one without any
SELECT count(*) FROM history WHERE itemid = 1;
BEGIN;
SELECT * FROM changed_by('DELETE FROM history WHERE itemid = 1 AND ctid = ANY (ARRAY (SELECT ctid FROM history WHERE itemid = 1 AND clock >= 172800 LIMIT 5000))');
SELECT count(*) FROM history WHERE itemid = 1;
DELETE FROM history WHERE itemid = 1 AND ctid = ANY (ARRAY (SELECT ctid FROM history WHERE itemid = 1 ORDER BY clock LIMIT 5));
\echo :ROW_COUNT
SELECT count(*), min(clock) FROM history WHERE itemid = 1;
SELECT * FROM changed_by('DELETE FROM history WHERE itemid = 2 AND ctid = ANY (ARRAY (SELECT ctid FROM history WHERE itemid = 2 LIMIT 5000))');
-- a generic plan, by parameters also in the subquery
ROLLBACK;
SET plan_cache_mode = force_generic_plan;
PREPARE d (bigint, integer) AS DELETE FROM history WHERE itemid = $1 AND ctid = ANY (ARRAY (SELECT ctid FROM history WHERE itemid = $1 AND clock < $2));
PREPARE u (bigint, integer, double precision) AS UPDATE history SET value = value + $3 WHERE itemid = $1 AND clock >= $2;
BEGIN;
EXECUTE d (1, 90000);
\echo :ROW_COUNT
EXECUTE d (1, 90000);
\echo :ROW_COUNT
EXECUTE u (1, 169200, 0.5);
\echo :ROW_COUNT
EXECUTE u (1, NULL, 0.5);
\echo :ROW_COUNT
SELECT clock, value FROM history WHERE clock BETWEEN 165600 AND 176400 ORDER BY 1;
ROLLBACK;
DEALLOCATE d;
DEALLOCATE u;
RESET plan_cache_mode;
-- AFTER triggers fire when all tables have been changed
BEGIN;
INSERT INTO history VALUES (1, 172799, 1, 1);
CREATE FUNCTION rest() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE NOTICE '% are left', (SELECT count(*) FROM history WHERE clock BETWEEN 172799 AND 172800); RETURN NULL; END $$;
CREATE TRIGGER rest AFTER DELETE ON history_p19700103 FOR EACH ROW EXECUTE FUNCTION rest();
DELETE FROM history WHERE itemid = 1 AND clock BETWEEN 172799 AND 172800;
\echo :ROW_COUNT
ROLLBACK;
-- ... also one of a table that came after the packed one, and in the order of tables
BEGIN;
SELECT zbxhist.create_partition('history', '1970-01-05');
INSERT INTO history VALUES (1, 350000, 1, 1);
CREATE FUNCTION rest() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE NOTICE '% of %: sum is %', TG_OP, OLD.clock, (SELECT sum(value) FROM history WHERE clock IN (90000, 350000)); RETURN NULL; END $$;
CREATE TRIGGER rest AFTER UPDATE OR DELETE ON history_p19700105 FOR EACH ROW EXECUTE FUNCTION rest();
CREATE TRIGGER rest AFTER UPDATE OR DELETE ON history_packed FOR EACH ROW EXECUTE FUNCTION rest();
UPDATE history SET value = -value WHERE itemid = 1 AND clock IN (90000, 350000);
DELETE FROM history WHERE itemid = 1 AND clock IN (90000, 350000);
ROLLBACK;
-- a BEFORE trigger changes a row that the statement comes to later: 27000, as in one table
BEGIN;
SELECT zbxhist.create_partition('history', '1970-01-05');
INSERT INTO history VALUES (1, 350000, 1, 1);
CREATE FUNCTION before() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN DELETE FROM history WHERE itemid = 1 AND clock = 350000; RETURN OLD; END $$;
CREATE TRIGGER before BEFORE DELETE ON history_p19700103 FOR EACH ROW EXECUTE FUNCTION before();
DELETE FROM history WHERE itemid = 1 AND clock IN (172800, 350000);
ROLLBACK;
-- triggers of a child for statements: they are for those that name it
BEGIN;
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE NOTICE '% on %', TG_OP, TG_TABLE_NAME; RETURN NULL; END $$;
CREATE TRIGGER tell AFTER DELETE ON history_p19700103 FOR EACH STATEMENT EXECUTE FUNCTION tell();
DELETE FROM history WHERE itemid = 1 AND clock = 172800;
\echo :ROW_COUNT
DELETE FROM history_p19700103 WHERE itemid = 1 AND clock = 176400;
ROLLBACK;
-- a child with other columns: PostgreSQL does it with all children
BEGIN;
ALTER TABLE history ADD COLUMN note text, ADD COLUMN more integer DEFAULT 7;
ALTER TABLE history DROP COLUMN note;
SELECT zbxhist.create_partition('history', '1970-01-05');
INSERT INTO history VALUES (1, 350000, 1, 1, 8);
SELECT * FROM changed_by('UPDATE history SET more = more + 1 WHERE itemid = 1 AND clock >= 255600');
SELECT clock, more FROM history WHERE clock >= 255600 ORDER BY 1;
ROLLBACK;
PREPARE p (integer) AS SELECT count(*) FROM history WHERE itemid = 1 AND clock >= $1 AND clock < $1 + 7200;
EXECUTE p (90000);
EXECUTE p (180000);
SET plan_cache_mode = force_generic_plan;
EXECUTE p (90000);
EXECUTE p (180000);
RESET plan_cache_mode;
-- a plan that left a table out is made anew when a day comes to it
PREPARE q AS SELECT count(*), sum(value) FROM history WHERE itemid = 1 AND clock > 172799 AND clock <= 180000;
EXECUTE q;
CALL zbxhist.pack('history', '1970-01-03');
EXECUTE q;
CALL zbxhist.unpack('history', '1970-01-02');
EXECUTE p (90000);
EXECUTE q;
SET constraint_exclusion = off;
EXPLAIN (COSTS OFF) SELECT * FROM history WHERE itemid = 1 AND clock > 172799 AND clock <= 180000;
RESET constraint_exclusion;
DEALLOCATE ALL;
DROP TABLE history CASCADE;
DROP FUNCTION tables_of, changed_by;
