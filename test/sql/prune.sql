--
-- An UPDATE or DELETE whose clock bounds leave one partition is planned for
-- that one, and finds the rows that wait in the parent all the same.
--
SELECT zbxhist.version();
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

-- no short cut: RETURNING, other tables, several partitions, none, statement triggers
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
SET zbxhist.enable_update_pruning = off;
SELECT plan_of('DELETE FROM trends WHERE clock = 2678400');
RESET zbxhist.enable_update_pruning;
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
