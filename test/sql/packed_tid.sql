-- Packed rows by their ctids: the batches of Zabbix's housekeeper find them without reading
-- all rows of the item, and never touch rows of another item with the same ctids.
\a \t
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE plain (LIKE history INCLUDING ALL);
SET client_min_messages = warning;
SELECT zbxhist.create_parent('history', premake => 0);
SELECT count(zbxhist.create_partition('history', '1970-01-02'::date + n)) AS days FROM generate_series(0, 4) n;
DO $$
BEGIN
    EXECUTE (SELECT format('DROP TABLE %s', p.partition) FROM zbxhist.list_partitions('history') p WHERE p.from_clock > 1000000);
END $$;
-- days begin at 86400, 172800, 259200, 345600 (all packed) and 432000; each second has two rows of each item
INSERT INTO plain SELECT i, c, i, n FROM generate_series(1, 5) i, generate_series(86400, 518399, 600) c, generate_series(0, 1) n;
INSERT INTO history SELECT * FROM plain;
CALL zbxhist.pack('history', '1970-01-02');
CALL zbxhist.pack('history', '1970-01-03');
CALL zbxhist.pack('history', '1970-01-04');
CALL zbxhist.pack('history', '1970-01-05');
ANALYZE history_packed;

CREATE FUNCTION plan_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
        line := regexp_replace(line, '\(InitPlan \w+\)\.col1|\$\d', '$', 'g');
        line := regexp_replace(line, ' \(never executed\)| \(actual.*\)', '');
        CONTINUE WHEN line ~ 'Buffers|Planning|Workers|InitPlan|Disabled';
        RETURN NEXT line;
    END LOOP;
END $$;
CREATE FUNCTION differences() RETURNS TABLE (missing bigint, left_over bigint, rows bigint) LANGUAGE sql AS $$
    SELECT (SELECT count(*) FROM (SELECT * FROM plain EXCEPT SELECT * FROM history) p),
           (SELECT count(*) FROM (SELECT * FROM history EXCEPT SELECT * FROM plain) h), count(*) FROM history
$$;

-- what is read
SELECT plan_of($$SELECT ctid, clock, ns FROM history_packed WHERE itemid = 3 AND ctid = '(172800,2)'$$);
SELECT ctid, clock, ns FROM history_packed WHERE itemid = 3 AND ctid = '(172800,2)';
SELECT plan_of($$SELECT * FROM history_packed WHERE itemid = 3 AND ctid = ANY (ARRAY(SELECT ctid FROM history_packed WHERE itemid = 3 ORDER BY clock LIMIT 5))$$);
SELECT plan_of($$SELECT * FROM history_packed WHERE itemid = 3 AND ctid = ANY ('{"(86400,1)","(345600,2)","(7,1)","(0,0)",NULL}')$$);
SELECT plan_of($$SELECT * FROM history_packed WHERE itemid = 3 AND ctid IN ('(86400,1)', '(345600,2)') AND '(345600,2)' = ctid AND clock > 5$$);
SELECT itemid, clock, ns FROM history_packed WHERE itemid = 3 AND ctid IN ('(86400,1)', '(345600,2)') AND '(345600,2)' = ctid AND clock > 5;
SELECT itemid, clock, ns FROM history_packed WHERE itemid IN (3, 4) AND ctid = ANY ('{"(86400,1)","(345600,2)","(7,1)","(0,0)","(86400,3)",NULL}') ORDER BY 1, 2;
SELECT itemid, clock, ns FROM history_packed WHERE ctid = '(345600,2)' ORDER BY 1;
SELECT clock, ns FROM history_packed WHERE itemid = 3 AND ctid = ANY ('{"(86400,1)","(345600,2)","(172800,1)"}') ORDER BY clock DESC, ns DESC;
SELECT count(*) FROM history_packed WHERE itemid = 3 AND ctid = ANY ('{}');
SELECT count(*) FROM history_packed WHERE itemid = 3 AND ctid = ANY (NULL);
SELECT count(*) FROM history_packed WHERE itemid = 3 AND ctid = NULL;
SELECT count(*) FROM history_packed WHERE itemid = 3 AND ctid <> ALL ('{"(86400,1)"}');
SELECT count(*) FROM history_packed WHERE (itemid = 3 AND ctid = '(86400,1)') OR (itemid = 4 AND ctid = '(86400,2)');
SELECT h.itemid, h.clock, h.ns FROM (VALUES (3, '(172800,1)'::tid), (4, '(172801,1)'), (5, '(345600,2)')) v (itemid, tid) JOIN history_packed h ON h.itemid = v.itemid AND h.ctid = v.tid ORDER BY 1;
PREPARE by_tid(bigint, tid[]) AS SELECT clock, ns FROM history_packed WHERE itemid = $1 AND ctid = ANY ($2);
SET plan_cache_mode = force_generic_plan;
EXECUTE by_tid(3, '{"(86400,1)","(345600,2)"}');
EXECUTE by_tid(3, NULL);
RESET plan_cache_mode;
-- workers
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT count(*), sum(clock) FROM history_packed WHERE ctid = ANY ('{"(86400,1)","(345600,2)"}');
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
SET zbxhist.enable_packed_scan_pruning = off;
SELECT itemid, clock, ns FROM history_packed WHERE itemid = 3 AND ctid IN ('(86400,1)', '(345600,2)') ORDER BY 1, 2;
RESET zbxhist.enable_packed_scan_pruning;

-- ctids of a partition are no clocks: in a packed day and in a partition, one row of each item, and a part of an OR
SELECT DISTINCT ON (itemid) itemid, clock, ns FROM history WHERE ctid IN ('(0,1)', '(0,3)', '(86400,2)') AND (clock < 172800 OR clock >= 432000) ORDER BY itemid, clock DESC, ns DESC;
SELECT max(clock) FROM history WHERE itemid = 1 AND ctid = '(0,1)';
SELECT DISTINCT itemid FROM history WHERE itemid IN (1, 2) AND ctid = '(0,1)';
BEGIN;
WITH d AS (DELETE FROM history WHERE itemid = 1 AND (clock = 86400 OR ctid = '(0,1)') RETURNING clock, ns) SELECT * FROM d ORDER BY 1, 2;
DELETE FROM history WHERE itemid = 1 AND (clock = 87000 OR ctid = '(0,3)');
\echo :ROW_COUNT
ROLLBACK;

-- the housekeeper
DROP TABLE history_p19700106;
DELETE FROM plain WHERE clock >= 432000;
SELECT plan_of($$delete from history where itemid=3 and ctid = any(array(select ctid from history where itemid=3 limit 100))$$);
DELETE FROM plain WHERE itemid = 3 AND clock < 86400 + 50 * 600;
SELECT * FROM differences();
-- batch after batch, as many as of a plain table
CREATE FUNCTION clean_up(relation text, item bigint, batch integer) RETURNS integer[] LANGUAGE plpgsql AS $$
DECLARE
    deleted integer;
    result integer[];
BEGIN
    LOOP
        EXECUTE format('delete from %1$s where itemid=%2$s and ctid = any(array(select ctid from %1$s where itemid=%2$s limit %3$s))', relation, item, batch);
        GET DIAGNOSTICS deleted = ROW_COUNT;
        result := result || deleted;
        EXIT WHEN deleted < batch;
    END LOOP;
    RETURN result;
END $$;
SELECT clean_up('plain', 3, 500), clean_up('history', 3, 500);
SELECT * FROM differences();
SELECT clean_up('plain', 4, 100000), clean_up('history', 4, 100000);
SELECT clean_up('plain', 99, 10), clean_up('history', 99, 10);
SELECT * FROM differences();
-- in a session that has not loaded the library before
\c -
SET client_min_messages = warning;
SELECT clean_up('plain', 5, 250), clean_up('history', 5, 250);
SELECT * FROM differences();
-- rows of a partition and late ones as well
SELECT zbxhist.create_partition('history', '1970-01-06');
INSERT INTO plain SELECT i, c, i, 5 FROM generate_series(1, 2) i, unnest('{100000,200000,432000,432001}'::integer[]) c;
INSERT INTO history SELECT * FROM plain WHERE ns = 5;
SELECT clean_up('plain', 2, 100000), clean_up('history', 2, 100000);
SELECT * FROM differences();

-- UPDATE, RETURNING and joins
UPDATE history SET value = -1 WHERE itemid = 1 AND ctid = '(172800,2)' RETURNING itemid, clock, ns, ctid;
UPDATE plain SET value = -1 WHERE itemid = 1 AND clock = 172800 AND ns = 1;
DELETE FROM history h USING (VALUES (1, '(172800,1)'::tid), (2, '(172800,1)')) v (itemid, tid) WHERE h.itemid = v.itemid AND h.ctid = v.tid RETURNING h.*;
DELETE FROM plain WHERE itemid = 1 AND clock = 172800 AND ns = 0;
DELETE FROM history h WHERE (itemid, ctid) IN (SELECT itemid, ctid FROM history WHERE itemid = 1 AND clock = 259200);
DELETE FROM plain WHERE itemid = 1 AND clock = 259200;
SELECT * FROM differences();
-- by nothing but a ctid, which rows of other items have as well: refused, where it comes to a packed row
INSERT INTO history VALUES (7, 432002, 7, 0);
DELETE FROM history WHERE ctid = (SELECT ctid FROM history WHERE itemid = 7);
DELETE FROM history WHERE ctid = '(86400,1)';
DELETE FROM history WHERE ctid = ANY (ARRAY(SELECT ctid FROM history WHERE itemid = 1 LIMIT 10));
DELETE FROM history WHERE itemid IN (1, 2) AND ctid IN (SELECT ctid FROM history WHERE itemid = 1 LIMIT 10);
DELETE FROM history WHERE (itemid = 1 OR itemid = 2) AND ctid = '(86400,1)';
DELETE FROM history h WHERE ctid = '(86400,1)' AND NOT EXISTS (SELECT FROM pg_class c WHERE c.oid::bigint = h.itemid);
UPDATE history SET value = 0 WHERE ctid = '(86400,1)';
WITH batch AS (SELECT ctid FROM history WHERE clock < 100000 LIMIT 10) DELETE FROM history h USING batch WHERE h.ctid = batch.ctid;
SELECT * FROM differences();
-- one of a row that has gone finds nothing, nor another row of that second
CREATE FUNCTION stale(c integer, numbers integer[]) RETURNS TABLE (ns integer, deleted bigint, rest integer[]) LANGUAGE plpgsql AS $$
DECLARE
    tids tid[] := ARRAY(SELECT h.ctid FROM history h WHERE h.itemid = 9 AND h.clock = c ORDER BY h.ns);
BEGIN
    FOR n IN 1 .. cardinality(tids) LOOP
        DELETE FROM history h WHERE h.itemid = 9 AND h.ctid = tids[n];
        GET DIAGNOSTICS deleted = ROW_COUNT;
        ns := numbers[n];
        DELETE FROM history h WHERE h.itemid = 9 AND h.ctid = tids[n];
        rest := ARRAY(SELECT h.ns FROM history h WHERE h.itemid = 9 AND h.ctid = ANY (tids) ORDER BY h.ns);
        RETURN NEXT;
    END LOOP;
END $$;
SELECT zbxhist.create_partition('history', '1970-01-07');
INSERT INTO history SELECT 9, 518400, 1, n FROM unnest('{1,2,3,999999999}'::integer[]) n;
CALL zbxhist.pack('history', '1970-01-07');
SELECT count(DISTINCT tableoid), count(*) FROM history_packed WHERE itemid = 9;
SELECT * FROM stale(518400, '{1,2,3,999999999}');
-- rows of one number each have their own
SELECT zbxhist.create_partition('history', '1970-01-08');
INSERT INTO history SELECT 9, 604801, n, n FROM unnest('{1,65536,131071,2}'::integer[]) n;
CALL zbxhist.pack('history', '1970-01-08');
SELECT ctid, ns FROM history WHERE itemid = 9 ORDER BY ns;
UPDATE history SET value = -1 WHERE itemid = 9 AND ctid = '(604801,4)' RETURNING ns;
DELETE FROM history WHERE itemid = 9 AND ctid = ANY ('{"(604801,2)","(604801,3)"}') RETURNING ns;
SELECT ctid, ns, value FROM history WHERE itemid = 9 ORDER BY ns;
SET zbxhist.allow_packed_drop = on;
DROP TABLE history, plain CASCADE;
DROP FUNCTION plan_of, differences, clean_up, stale;
