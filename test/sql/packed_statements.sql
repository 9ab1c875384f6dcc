-- DELETE, UPDATE and TRUNCATE of packed rows do the same as on a plain table, for every kind
-- of statement and table, or are refused.
\a \t
LOAD 'zbxhist';
SET zbxhist.allow_packed_drop = on;
SET client_min_messages = warning;
CREATE SCHEMA plain;
CREATE SCHEMA managed;
CREATE TABLE plain.history (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE plain.history_uint (itemid bigint NOT NULL, clock integer NOT NULL, value numeric(20) NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE plain.history_text (itemid bigint NOT NULL, clock integer NOT NULL, value text NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE plain.trends (itemid bigint NOT NULL, clock integer NOT NULL, num integer NOT NULL, value_min double precision NOT NULL, value_avg double precision NOT NULL,
    value_max double precision NOT NULL, PRIMARY KEY (itemid, clock));
CREATE TABLE managed.history (LIKE plain.history INCLUDING ALL);
CREATE TABLE managed.history_uint (LIKE plain.history_uint INCLUDING ALL);
CREATE TABLE managed.history_text (LIKE plain.history_text INCLUDING ALL);
CREATE TABLE managed.trends (LIKE plain.trends INCLUDING ALL);
SELECT zbxhist.create_parent('managed.history'), zbxhist.create_parent('managed.history_uint'), zbxhist.create_parent('managed.history_text'), zbxhist.create_parent('managed.trends', '1 month');
SELECT count(zbxhist.create_partition(t, '1970-01-02'::date + n)) FROM unnest('{managed.history,managed.history_uint,managed.history_text}'::regclass[]) t, generate_series(0, 3) n;
SELECT zbxhist.create_partition('managed.trends', '1970-01-01');
-- some share their second
INSERT INTO plain.history SELECT i, c - c % 1800 % 7, i + c / 7.0, c % 5 * 1000 + c % 3600 FROM generate_series(1, 30) i, generate_series(86400, 431999, 900) c;
INSERT INTO plain.history SELECT itemid, clock, value, ns + 50000 FROM plain.history WHERE clock % 3600 = 0;
INSERT INTO plain.history_uint SELECT itemid, clock, CASE itemid % 3 WHEN 0 THEN 18446744073709551615 ELSE clock * itemid END, ns FROM plain.history;
INSERT INTO plain.history_text SELECT itemid, clock, repeat(md5(clock::text), itemid::integer), ns FROM plain.history WHERE itemid < 8;
INSERT INTO plain.trends SELECT i, c, 60, i, i + 0.5, i + 1 FROM generate_series(1, 30) i, generate_series(0, 30 * 86400, 3600) c;
INSERT INTO managed.history SELECT * FROM plain.history;
INSERT INTO managed.history_uint SELECT * FROM plain.history_uint;
INSERT INTO managed.history_text SELECT * FROM plain.history_text;
INSERT INTO managed.trends SELECT * FROM plain.trends;
CALL zbxhist.pack('managed.history', '1970-01-02');
CALL zbxhist.pack('managed.history', '1970-01-03');
CALL zbxhist.pack('managed.history', '1970-01-05');
CALL zbxhist.pack('managed.history_uint', '1970-01-02');
CALL zbxhist.pack('managed.history_uint', '1970-01-03');
CALL zbxhist.pack('managed.history_text', '1970-01-02');
CALL zbxhist.pack('managed.history_text', '1970-01-03');
CALL zbxhist.pack('managed.trends', '1970-01-01');
-- late rows, in the parent
INSERT INTO plain.history SELECT i, c + 11, i, 0 FROM generate_series(1, 30) i, generate_series(86400, 431999, 14400) c;
INSERT INTO managed.history SELECT i, c + 11, i, 0 FROM generate_series(1, 30) i, generate_series(86400, 431999, 14400) c;

-- runs a statement on both sides and compares what it says and what is left
CREATE FUNCTION on_both(statement text, tab text DEFAULT 'history') RETURNS TABLE (rows bigint, tag boolean, same boolean) LANGUAGE plpgsql AS $$
DECLARE
    expected bigint;
BEGIN
    PERFORM set_config('search_path', 'plain', true);
    EXECUTE statement;
    GET DIAGNOSTICS expected = ROW_COUNT;
    PERFORM set_config('search_path', 'managed', true);
    EXECUTE statement;
    GET DIAGNOSTICS rows = ROW_COUNT;
    tag := rows = expected;
    EXECUTE format('SELECT NOT EXISTS (SELECT FROM (TABLE plain.%1$I EXCEPT ALL TABLE managed.%1$I) x) AND NOT EXISTS (SELECT FROM (TABLE managed.%1$I EXCEPT ALL TABLE plain.%1$I) x)', tab) INTO same;
    PERFORM set_config('search_path', 'public', true);
    RETURN NEXT;
END $$;
-- the housekeeper, "clear history"
SELECT * FROM on_both('delete from history where itemid=1 and clock<200000');
SELECT * FROM on_both('delete from history where itemid=1 and clock<200000');
SELECT * FROM on_both('DELETE FROM history WHERE itemid IN (2,3,99)');
SELECT * FROM on_both('DELETE FROM history_uint WHERE itemid IN (2,3,99)', 'history_uint');
SELECT * FROM on_both('DELETE FROM history_text WHERE itemid=2 AND clock BETWEEN 100000 AND 180000', 'history_text');
SELECT * FROM on_both('DELETE FROM trends WHERE itemid IN (2,3)', 'trends');
SELECT * FROM on_both('delete from history where itemid=4');
-- by ctid, some of an item's rows: which ones is not the same on both sides
SELECT count(*) FROM managed.history WHERE itemid = 5;
WITH d AS (DELETE FROM managed.history WHERE itemid = 5 AND ctid = any(array(SELECT ctid FROM managed.history WHERE itemid = 5 LIMIT 100)) RETURNING itemid) SELECT count(*), min(itemid), max(itemid) FROM d;
WITH d AS (DELETE FROM managed.history WHERE itemid = 5 AND ctid = any(array(SELECT ctid FROM managed.history WHERE itemid = 5 LIMIT 5000)) RETURNING itemid) SELECT count(*), min(itemid), max(itemid) FROM d;
SELECT same FROM on_both('delete from history where itemid=5');
-- by clock alone, by value, by row of the same second, by join, by subquery, by an OR
SELECT * FROM on_both('DELETE FROM history WHERE clock BETWEEN 90000 AND 95000');
SELECT * FROM on_both('DELETE FROM history WHERE value > 40000 AND itemid = 6');
SELECT * FROM on_both('DELETE FROM history WHERE itemid = 7 AND ns >= 50000');
SELECT * FROM on_both('DELETE FROM history h USING generate_series(8, 9) i WHERE h.itemid = i AND h.clock % 2 = 0');
SELECT * FROM on_both('DELETE FROM history WHERE itemid = (SELECT 10) AND clock = ANY (ARRAY(SELECT 172800 UNION SELECT 90000))');
SELECT * FROM on_both('DELETE FROM history WHERE (itemid = 11 AND clock = 172800) OR (itemid = 12 AND clock < 100000)');
SELECT * FROM on_both('DELETE FROM history_uint WHERE itemid = 3 OR value = 18446744073709551615', 'history_uint');
SELECT * FROM on_both('DELETE FROM history_text WHERE length(value) > 96', 'history_text');
-- updates: of trends, of any column that is not a part of the key
SELECT * FROM on_both('update trends set num=3,value_min=1.25,value_avg=1.25,value_max=1.25 where itemid=7 and clock=1206000', 'trends');
SELECT * FROM on_both('update trends set num=num+1 where itemid in (8,9) and clock>=86400', 'trends');
SELECT * FROM on_both('UPDATE history SET value = -value WHERE itemid = 13 AND clock % 7 = 0');
SELECT * FROM on_both('UPDATE history SET value = value + 1 WHERE itemid = 14');
SELECT * FROM on_both('UPDATE history_uint SET value = value / 3 WHERE itemid = 16', 'history_uint');
SELECT * FROM on_both('UPDATE history_text SET value = repeat(value, 1000) WHERE itemid = 1 AND clock < 90000', 'history_text');
SELECT * FROM on_both('UPDATE history h SET value = i FROM generate_series(16, 17) i WHERE h.itemid = i AND h.clock > 172800');
-- rows that a join finds twice are changed, counted and returned once
SELECT * FROM on_both('UPDATE history h SET value = 9 FROM generate_series(1, 3) i WHERE h.itemid = 17 AND h.clock % 10 > 2 * i');
SELECT * FROM on_both('WITH u AS (UPDATE history h SET value = 10 FROM generate_series(16, 17) i, generate_series(1, 2) WHERE h.itemid = i RETURNING h.itemid, h.clock, h.ns) SELECT * FROM u');
BEGIN;
SELECT * FROM on_both('WITH d AS (DELETE FROM history h USING (VALUES (16, 100000), (16, 90000), (17, 0)) x (itemid, clock) WHERE h.itemid = x.itemid AND h.clock >= x.clock RETURNING h.*) SELECT * FROM d');
ROLLBACK;
-- twice in a transaction, with what is undone in between
BEGIN;
DELETE FROM managed.history WHERE itemid = 18 AND clock < 100000;
SELECT count(*) FROM managed.history WHERE itemid = 18;
SAVEPOINT s;
DELETE FROM managed.history WHERE itemid = 18;
SELECT count(*) FROM managed.history WHERE itemid = 18;
ROLLBACK TO s;
UPDATE managed.history SET value = 0 WHERE itemid = 18;
DELETE FROM managed.history WHERE itemid = 18 AND value = 0 AND clock < 172800;
COMMIT;
DELETE FROM plain.history WHERE itemid = 18 AND clock < 172800;
UPDATE plain.history SET value = 0 WHERE itemid = 18;
SELECT * FROM on_both('DELETE FROM history WHERE itemid = 98');
-- RETURNING
DELETE FROM managed.history_packed WHERE itemid = 20 AND clock BETWEEN 172800 AND 174600 RETURNING tableoid::regclass, ctid, *;
UPDATE managed.history_packed SET value = 1 WHERE itemid = 21 AND clock BETWEEN 172800 AND 174600 RETURNING tableoid::regclass, ctid, *;
DELETE FROM plain.history WHERE itemid = 20 AND clock BETWEEN 172800 AND 174600 AND clock <> 172811;
UPDATE plain.history SET value = 1 WHERE itemid = 21 AND clock BETWEEN 172800 AND 174600 AND clock <> 172811;
-- functions
SELECT zbxhist.delete_values('managed.history', 22, 174600, 0, 'less');
SELECT zbxhist.delete_values('managed.history', 22, 400000, 0, 'greater_or_equal');
SELECT zbxhist.delete_values('managed.history', 23, 172800, 50000, 'equal'), zbxhist.delete_item(24);
DELETE FROM plain.history WHERE (itemid = 22 AND (clock < 174600 OR clock >= 400000)) OR (itemid = 23 AND clock = 172800 AND ns = 50000) OR itemid = 24;
DELETE FROM plain.history_uint WHERE itemid = 24;
DELETE FROM plain.trends WHERE itemid = 24;
SELECT zbxhist.add(NULL::managed.history, '{25,25}', '{172800,172801}', '{0,0}', '{5,6}'::float8[], 'update');
INSERT INTO plain.history VALUES (25, 172800, 5, 0), (25, 172801, 6, 0) ON CONFLICT (itemid, clock, ns) DO UPDATE SET value = EXCLUDED.value;
SELECT tab, c.* FROM unnest('{history,history_uint,history_text,trends}'::text[]) tab, on_both(format('DELETE FROM %I WHERE itemid = 97', tab), tab) c;

-- how
EXPLAIN (COSTS OFF) DELETE FROM managed.history_packed WHERE itemid = 1 AND clock < 200000;
EXPLAIN (COSTS OFF) DELETE FROM managed.history_packed WHERE itemid IN (1, 2) AND ns = 5;
EXPLAIN (COSTS OFF) DELETE FROM managed.history_packed WHERE itemid = 1 RETURNING clock;
EXPLAIN (COSTS OFF) UPDATE managed.history_packed SET value = 1 WHERE itemid = 1;
EXPLAIN (COSTS OFF) DELETE FROM managed.history_packed;
-- what is refused
UPDATE managed.history SET ns = ns + 1 WHERE itemid = 26 AND clock < 100000;
UPDATE managed.history SET clock = clock + 1 WHERE itemid = 26 AND clock < 100000;
UPDATE managed.history SET itemid = 200 WHERE itemid = 26 AND clock < 100000;
UPDATE managed.history SET value = 1, clock = clock WHERE itemid = 26;
UPDATE managed.history_packed SET ns = 1 WHERE itemid = 26;
INSERT INTO managed.history_packed VALUES (1, 86400, 1, 1);
COPY managed.history_packed FROM '/dev/null';
-- several parts of a statement change the same group, and the same rows
CREATE FUNCTION change(statement text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN EXECUTE statement; RETURN true; END $$;
BEGIN;
SELECT * FROM on_both('WITH a AS (DELETE FROM history WHERE itemid = 12 AND value > 0 RETURNING 1), b AS (UPDATE history SET value = -7 WHERE itemid = 13 RETURNING 1) SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b)');
SELECT * FROM on_both('WITH a AS (UPDATE history SET value = -8 WHERE itemid = 14 AND clock < 130000) UPDATE history SET value = -9 WHERE itemid = 14 AND clock >= 130000');
SELECT * FROM on_both('WITH a AS (UPDATE history SET value = -8 WHERE itemid = 14 RETURNING 1) DELETE FROM history WHERE itemid = 13 AND (SELECT count(*) FROM a) > 0');
SELECT * FROM on_both('WITH a AS (UPDATE history SET value = -5 WHERE itemid = 16 RETURNING 1) UPDATE history SET value = -6 WHERE itemid = 16 AND (SELECT count(*) FROM a) > 0');
SELECT * FROM on_both('WITH a AS (DELETE FROM history WHERE itemid = 17 AND value IS NOT NULL RETURNING *) UPDATE history h SET value = a.value FROM a WHERE h.itemid = 17 AND h.clock = a.clock AND h.ns = a.ns');
SELECT * FROM on_both('WITH a AS (DELETE FROM history WHERE itemid = 18 AND value IS NOT NULL RETURNING *) INSERT INTO history (itemid, clock, value, ns) SELECT itemid, clock, value + 1, ns FROM a');
SELECT * FROM on_both('WITH a AS (DELETE FROM history WHERE itemid = 19) UPDATE history SET value = 3 WHERE itemid IN (18, 20)');
-- ... or a function does
SELECT * FROM on_both($$UPDATE history SET value = 4 WHERE itemid = 20 AND (clock > 90000 OR public.change('UPDATE history SET value = 5 WHERE itemid = 21'))$$);
ROLLBACK;
DROP FUNCTION change;
-- a trigger on the foreign table sees each row
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING '% % %', TG_OP, OLD.itemid, OLD.clock; RETURN OLD; END $$;
CREATE TRIGGER note BEFORE DELETE ON managed.history_packed FOR EACH ROW EXECUTE FUNCTION note();
SELECT * FROM on_both('DELETE FROM history WHERE itemid = 28 AND clock BETWEEN 172800 AND 173800');
DROP TRIGGER note ON managed.history_packed;
DROP FUNCTION note;
-- a stale snapshot: what another transaction changed meanwhile is in isolation tests
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) > 0 AS any FROM managed.history WHERE itemid = 29;
DELETE FROM managed.history WHERE itemid = 29;
SELECT count(*) FROM managed.history WHERE itemid = 29;
ROLLBACK;
-- everything
BEGIN;
SELECT * FROM on_both('DELETE FROM history');
SELECT * FROM on_both('DELETE FROM history_uint WHERE clock < 172800', 'history_uint');
ROLLBACK;
BEGIN;
TRUNCATE managed.history;
SELECT count(*) FROM managed.history;
ROLLBACK;
SELECT * FROM on_both('DELETE FROM history WHERE itemid = 96');
TRUNCATE managed.history, plain.history;
SELECT * FROM on_both('DELETE FROM history WHERE itemid = 96');
INSERT INTO managed.history VALUES (1, 86400, 1, 1);
SELECT tableoid::regclass, * FROM managed.history;
-- rows of one key, in tables without one, are changed each for itself
CREATE TABLE keyless (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL, ns integer NOT NULL);
CREATE INDEX ON keyless (itemid, clock);
SELECT zbxhist.create_parent('keyless');
SELECT zbxhist.create_partition('keyless', '1970-01-02'), zbxhist.create_partition('keyless', '1970-01-03');
INSERT INTO keyless SELECT 1, 86400 + n / 4, n % 4 / 3, 0 FROM generate_series(0, 11) n;
INSERT INTO keyless SELECT 1, 86400, n, 0 FROM generate_series(1, 4) n;
INSERT INTO keyless VALUES (1, 172800, 1, 0), (2, 172800, 1, 0);
CALL zbxhist.pack('keyless', '1970-01-02');
UPDATE keyless SET value = value + 10 WHERE itemid = 1 AND clock = 86400 AND value > 0 RETURNING value;
DELETE FROM keyless WHERE ctid IN (SELECT ctid FROM keyless WHERE itemid = 1 AND clock = 86400 AND value = 0 LIMIT 2) AND itemid = 1;
SELECT clock, value, count(*) FROM keyless GROUP BY 1, 2 ORDER BY 1, 2;
-- packed rows are not locked, and none is given out as if it were; those of partitions are
CREATE TABLE names (itemid bigint, name text);
INSERT INTO names VALUES (1, 'one'), (2, 'two');
SELECT clock, count(*), sum(value) FROM (SELECT * FROM keyless FOR UPDATE) k GROUP BY 1 ORDER BY 1;
SELECT value FROM keyless WHERE itemid = 1 AND clock = 86400 ORDER BY value LIMIT 1 FOR NO KEY UPDATE;
SELECT value FROM keyless WHERE itemid = 1 AND clock = 86400 FOR SHARE NOWAIT;
SELECT value FROM keyless WHERE itemid = 1 AND clock = 86400 FOR KEY SHARE SKIP LOCKED;
SELECT value FROM keyless_packed FOR UPDATE;
SELECT k.value, n.name FROM names n JOIN keyless k USING (itemid) WHERE k.clock < 100000 FOR UPDATE;
SELECT k.value, n.name FROM names n JOIN keyless k USING (itemid) WHERE k.clock < 100000 FOR UPDATE OF k;
WITH locked AS (SELECT * FROM keyless WHERE itemid = 1 FOR UPDATE) SELECT count(*) FROM locked;
SELECT count(*) FROM (SELECT k.value, n.name FROM names n JOIN keyless k USING (itemid) WHERE k.clock < 100000 FOR UPDATE OF n) x;
SELECT value FROM keyless WHERE itemid = 1 AND clock = 172800 FOR UPDATE;
SELECT value FROM keyless WHERE itemid = 2 FOR SHARE;
SELECT k.itemid, k.value, n.name FROM names n LEFT JOIN keyless k ON k.itemid = n.itemid AND k.value < 0 ORDER BY 1, 3 FOR UPDATE OF n;
SELECT value FROM keyless k WHERE itemid > 0 AND clock > 100000 AND EXISTS (SELECT FROM names n WHERE n.itemid = k.itemid) FOR UPDATE SKIP LOCKED;
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM keyless WHERE itemid = 1 ORDER BY clock, value;
FETCH c;
UPDATE keyless SET value = 0 WHERE CURRENT OF c;
ROLLBACK;
-- a cursor without FOR UPDATE whose rows are read by one node has no place in the parent
CREATE TABLE keyed (itemid bigint NOT NULL, clock integer NOT NULL, value integer, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('keyed'), zbxhist.create_partition('keyed', '1970-01-02');
INSERT INTO keyed VALUES (1, 5, 1, 0), (1, 86400, 2, 0), (1, 86401, 3, 0);
CREATE FUNCTION change_current(query text, change text) RETURNS SETOF keyed LANGUAGE plpgsql AS $$
DECLARE
    c refcursor := 'c';
BEGIN
    EXECUTE format('DECLARE c %s WHERE itemid = 1 AND clock = 86400', query);
    MOVE NEXT IN c;
    EXECUTE change || ' WHERE CURRENT OF c';
    RETURN QUERY SELECT * FROM keyed ORDER BY clock;
EXCEPTION WHEN invalid_cursor_state THEN
    RAISE WARNING '%', sqlerrm;
END $$;
SELECT change_current('CURSOR FOR SELECT * FROM keyed', 'UPDATE keyed SET value = 9');
SELECT change_current('CURSOR FOR SELECT * FROM keyed', 'UPDATE ONLY keyed SET value = 9');
SELECT change_current('CURSOR FOR SELECT *, ctid FROM keyed', 'DELETE FROM ONLY keyed');
SELECT change_current('NO SCROLL CURSOR FOR SELECT * FROM keyed', 'DELETE FROM keyed');
SELECT change_current('NO SCROLL CURSOR FOR SELECT * FROM keyed', 'DELETE FROM ONLY keyed');
SELECT change_current('CURSOR FOR SELECT * FROM ONLY keyed WHERE clock = 5 --', 'DELETE FROM ONLY keyed');
SELECT change_current('CURSOR FOR SELECT * FROM keyed WHERE itemid = 1 AND clock > 0 AND clock % 2 = 0 FOR UPDATE --', 'DELETE FROM keyed');
DROP FUNCTION change_current;
DROP TABLE keyed CASCADE;
DROP TABLE keyless, names CASCADE;
DROP SCHEMA plain, managed CASCADE;
DROP FUNCTION on_both;
