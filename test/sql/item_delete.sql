--
-- DELETE of an item: planned for no rows, and run on all tables if the item has
-- some.  Rows and row counts are those of a plain table.
--
CREATE SCHEMA item_delete;
SET search_path = item_delete;
CREATE TABLE history (
    itemid bigint NOT NULL, clock integer DEFAULT 0 NOT NULL, value double precision DEFAULT 0 NOT NULL,
    ns integer DEFAULT 0 NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE plain (LIKE history INCLUDING ALL);
INSERT INTO plain SELECT i, c, i, 0 FROM generate_series(1, 12) i, generate_series(86400, 431999, 43200) c;
SELECT zbxhist.create_parent('history', retention => '100 years', pack_after => NULL);
SELECT zbxhist.create_partition('history', day) FROM unnest('{1970-01-02, 1970-01-03, 1970-01-04}'::date[]) day;
INSERT INTO history TABLE plain;
CALL zbxhist.pack('history', '1970-01-02');
CREATE VIEW difference AS
(TABLE history EXCEPT ALL TABLE plain) UNION ALL (TABLE plain EXCEPT ALL TABLE history);

-- what Zabbix's housekeeper sends, of an item without values and of one with some
EXPLAIN (COSTS OFF) DELETE FROM history WHERE itemid = 99 AND ctid = ANY (ARRAY(SELECT ctid FROM history WHERE itemid = 99 LIMIT 5000));
CREATE FUNCTION deleted(statement text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
BEGIN
    EXECUTE statement;
    GET DIAGNOSTICS n = ROW_COUNT;
    RETURN n;
END $$;
-- each with both tables; the numbers of rows
CREATE FUNCTION of_both(condition text) RETURNS TABLE (history bigint, plain bigint) LANGUAGE sql VOLATILE AS $$
    SELECT deleted(format('DELETE FROM %I WHERE %s', 'history', replace(condition, '@', 'history'))),
           deleted(format('DELETE FROM %I WHERE %s', 'plain', replace(condition, '@', 'plain'))) $$;
SELECT * FROM of_both('itemid = 99 AND ctid = ANY (ARRAY(SELECT ctid FROM @ WHERE itemid = 99 LIMIT 5000))');
SELECT * FROM of_both('itemid = 1 AND ctid = ANY (ARRAY(SELECT ctid FROM @ WHERE itemid = 1 LIMIT 5000))');
SELECT * FROM of_both('itemid = 99');
SELECT * FROM of_both('itemid = 2');
SELECT * FROM of_both('itemid = 2');
SELECT * FROM of_both('itemid = 3 AND value > 5');
SELECT * FROM of_both('itemid = 3::bigint AND (clock < 90000 OR clock > 400000)');
SELECT * FROM of_both('itemid = 4 AND itemid = 5');
SELECT * FROM of_both('itemid = 5 AND clock NOT IN (SELECT clock FROM @ WHERE itemid = 6 AND clock > 200000)');
SELECT * FROM of_both('itemid = NULL');
SELECT count(*) FROM difference;
-- the tag, and what is planned as ever
\set QUIET off
DELETE FROM history WHERE itemid = 99;
DELETE FROM history WHERE itemid = 6;
DELETE FROM plain WHERE itemid = 6;
DELETE FROM history WHERE itemid = 99 RETURNING *;
WITH gone AS (DELETE FROM history WHERE itemid = 7 RETURNING itemid, clock) SELECT count(*) FROM gone;
DELETE FROM plain WHERE itemid = 7;
SELECT count(*) FROM difference;

-- rows of the same transaction, an older snapshot, a prepared statement
PREPARE remove AS DELETE FROM history WHERE itemid = 8 AND ctid = ANY (ARRAY(SELECT ctid FROM history WHERE itemid = 8 LIMIT 5000));
BEGIN;
EXECUTE remove;
EXECUTE remove;
INSERT INTO history VALUES (8, 172800, 1, 1), (8, 999999999, 1, 1);
EXECUTE remove;
ROLLBACK;
BEGIN ISOLATION LEVEL REPEATABLE READ;
EXECUTE remove;
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
DELETE FROM history WHERE itemid = 99;
EXECUTE remove;
COMMIT;
EXECUTE remove;
DELETE FROM plain WHERE itemid = 8;
-- in a statement that stores such rows
WITH stored AS (INSERT INTO history VALUES (9, 86400 * 3 + 7, 1, 1) RETURNING itemid)
DELETE FROM history WHERE itemid = (SELECT itemid FROM stored);
CREATE FUNCTION removes() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM history WHERE itemid = 50; RETURN NULL; END $$;
CREATE TABLE cause (n integer);
CREATE TRIGGER removes AFTER INSERT ON cause FOR EACH ROW EXECUTE FUNCTION removes();
WITH stored AS (INSERT INTO history VALUES (50, 86400 * 3 + 7, 1, 1)) INSERT INTO cause VALUES (1);
SELECT count(*) FROM history WHERE itemid = 50;

-- triggers fire once, and privileges are asked for
CREATE FUNCTION says() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE NOTICE '% % %', TG_TABLE_NAME, TG_LEVEL, TG_OP; RETURN NULL; END $$;
CREATE TRIGGER says AFTER DELETE ON history FOR EACH STATEMENT EXECUTE FUNCTION says();
DELETE FROM history WHERE itemid = 99;
DELETE FROM history WHERE itemid = 10 AND clock = 172800;
DROP TRIGGER says ON history;
CREATE ROLE regress_item_delete;
GRANT USAGE ON SCHEMA item_delete TO regress_item_delete;
GRANT SELECT ON history TO regress_item_delete;
SET ROLE regress_item_delete;
DELETE FROM history WHERE itemid = 99;
RESET ROLE;
GRANT DELETE ON history TO regress_item_delete;
SET ROLE regress_item_delete;
DELETE FROM history WHERE itemid = 99;
DELETE FROM history WHERE itemid = 99 AND EXISTS (SELECT FROM plain);
DELETE FROM history WHERE itemid = 11 AND clock = 172800;
RESET ROLE;
BEGIN READ ONLY;
DELETE FROM history WHERE itemid = 99;
ROLLBACK;
DELETE FROM plain WHERE (itemid, clock) IN ((10, 172800), (11, 172800));
DELETE FROM plain WHERE itemid = 9;
INSERT INTO plain VALUES (9, 86400 * 3 + 7, 1, 1);
SELECT * FROM difference;
\set QUIET on
SET client_min_messages = warning;
SET zbxhist.allow_packed_drop = on;
DROP SCHEMA item_delete CASCADE;
DROP ROLE regress_item_delete;
