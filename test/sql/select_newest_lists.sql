-- The newest row of each item of a list that a subquery gives, of each that a
-- LATERAL subquery is executed for, and the newest clocks, which are known without
-- rows.  All as of a plain table.
\a \t
LOAD 'zbxhist';
SET client_min_messages = warning;
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value text NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE plain (LIKE history INCLUDING ALL);
CREATE TABLE items (itemid bigint PRIMARY KEY, hostid integer, other numeric);
SELECT zbxhist.create_parent('history', premake => 0);
SELECT count(zbxhist.create_partition('history', '1970-01-02'::date + n)) AS days FROM generate_series(0, 6) n;
DO $$
BEGIN
    EXECUTE (SELECT format('DROP TABLE %s', p.partition) FROM zbxhist.list_partitions('history') p WHERE p.from_clock > 1000000);
END $$;
-- days begin at 86400, 172800 (both are packed), 259200, 345600, 432000; 518400 and 604800 are empty;
-- items have values each ten minutes, two hours or day, or ended somewhere
INSERT INTO plain
SELECT i, c, 'value ' || c, i FROM generate_series(1, 60) i, generate_series(86400, 518399, 600) c
WHERE CASE i % 4 WHEN 0 THEN c % 7200 = 0 WHEN 1 THEN c % 86400 = i * 600 WHEN 2 THEN c < 86400 + i * 7000 AND c % 1800 = 0 ELSE i % 8 = 3 OR c % 7200 = 0 END;
INSERT INTO plain VALUES (-5, 510000, 'before all others', 0), (9223372036854775807, 100000, 'last', 0), (-9223372036854775808, 500000, 'first', 0), (1000, 90000, 'old', 0), (1001, 518000, 'new', 0);
INSERT INTO history SELECT * FROM plain;
INSERT INTO items SELECT i, i % 5, i FROM generate_series(1, 70) i UNION ALL VALUES (-5, 3, NULL), (9223372036854775807, 3, 1), (-9223372036854775808, 3, 1);
CALL zbxhist.pack('history', '1970-01-02');
CALL zbxhist.pack('history', '1970-01-03');
ANALYZE plain, items;

-- which of them are read item by item
CREATE FUNCTION orders(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || statement INTO plan;
    RETURN (SELECT string_agg(o #>> '{}', ', ') FROM jsonb_path_query(plan, 'strict $.**."Order"', '{}', true) o);
END $$;
SELECT orders(query), query FROM unnest(ARRAY[
    'SELECT DISTINCT ON (itemid) * FROM history WHERE itemid = ANY (ARRAY(SELECT itemid FROM items WHERE hostid = 3)) ORDER BY itemid, clock DESC',
    'SELECT DISTINCT ON (itemid) * FROM history WHERE itemid = (SELECT max(itemid) FROM items) AND clock > (SELECT 5) ORDER BY itemid, clock DESC',
    'SELECT * FROM history WHERE itemid = (SELECT max(itemid) FROM items) ORDER BY clock DESC LIMIT 2',
    'SELECT * FROM items i, LATERAL (SELECT * FROM history h WHERE h.itemid = i.itemid ORDER BY clock DESC LIMIT 1) h',
    'SELECT * FROM (VALUES (1), (3)) v (hostid), LATERAL (SELECT itemid, max(clock) FROM history WHERE itemid = ANY (ARRAY(SELECT itemid FROM items i WHERE i.hostid = v.hostid)) GROUP BY itemid) h',
    -- none
    'SELECT DISTINCT ON (itemid) * FROM history WHERE itemid IN (SELECT itemid FROM items) ORDER BY itemid, clock DESC',
    'SELECT DISTINCT ON (itemid) * FROM history WHERE itemid NOT IN (SELECT itemid FROM items) ORDER BY itemid, clock DESC',
    'SELECT DISTINCT ON (itemid) * FROM history h WHERE itemid = ANY (ARRAY(SELECT itemid FROM items WHERE hostid = h.clock)) ORDER BY itemid, clock DESC',
    'SELECT DISTINCT ON (itemid) * FROM history WHERE itemid = ANY (ARRAY(SELECT itemid FROM items WHERE random() < 2)) ORDER BY itemid, clock DESC',
    'SELECT DISTINCT ON (itemid) * FROM history WHERE EXISTS (SELECT FROM items) ORDER BY itemid, clock DESC',
    'SELECT DISTINCT ON (itemid) * FROM history WHERE itemid = ANY (SELECT itemid FROM items) OR clock > 5 ORDER BY itemid, clock DESC',
    'SELECT DISTINCT ON (itemid) *, (SELECT hostid FROM items i WHERE i.itemid = h.itemid) FROM history h ORDER BY itemid, clock DESC',
    'SELECT itemid, max(clock) FROM history GROUP BY itemid HAVING max(clock) > (SELECT 5)']) query;

-- subqueries whose conditions become those of a join
SELECT (SELECT count(*) FROM items i WHERE EXISTS (SELECT 1 FROM history h WHERE h.itemid = i.itemid AND h.clock > 5 ORDER BY h.clock DESC LIMIT 1)) =
    (SELECT count(*) FROM items i WHERE EXISTS (SELECT 1 FROM plain h WHERE h.itemid = i.itemid AND h.clock > 5)) AS same_limit,
    (SELECT count(*) FROM items i WHERE EXISTS (SELECT DISTINCT itemid FROM history h WHERE h.itemid = i.itemid AND h.clock < 90000 + i.hostid)) =
    (SELECT count(*) FROM items i WHERE EXISTS (SELECT 1 FROM plain h WHERE h.itemid = i.itemid AND h.clock < 90000 + i.hostid)) AS same_distinct,
    (SELECT count(*) FROM items i WHERE EXISTS (SELECT h.itemid FROM history h WHERE h.itemid = i.itemid AND h.clock < 90000 + i.hostid GROUP BY h.itemid)) =
    (SELECT count(*) FROM items i WHERE EXISTS (SELECT 1 FROM plain h WHERE h.itemid = i.itemid AND h.clock < 90000 + i.hostid)) AS same_group;

-- clocks are known from directories of packed days alone; items of a list are looked for
CREATE FUNCTION known(statement text) RETURNS TABLE (items text, known text) LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, FORMAT json) ' || statement INTO plan;
    RETURN QUERY SELECT n->>'Items Read', n->>'Items Known' FROM jsonb_path_query_first(plan, '$.** ? (exists (@."Items Read"))') n;
END $$;
SELECT * FROM known('SELECT itemid, max(clock) FROM history GROUP BY itemid');
SELECT * FROM known('SELECT itemid, min(clock) FROM history GROUP BY itemid');
SELECT * FROM known('SELECT DISTINCT ON (itemid) clock, itemid FROM history ORDER BY itemid, clock DESC');
SELECT * FROM known('SELECT DISTINCT itemid FROM history WHERE clock >= 259200');
SELECT * FROM known('SELECT itemid, max(clock) FROM history WHERE clock BETWEEN 300000 AND 400000 GROUP BY itemid');
-- some end within segments, of which only the rows tell
SELECT items = known AS all_known FROM known('SELECT itemid, max(clock) FROM history WHERE clock < 100000 GROUP BY itemid');
SELECT * FROM known('SELECT DISTINCT ON (itemid) clock, ns FROM history ORDER BY itemid, clock DESC, ns DESC');
SELECT * FROM known('SELECT itemid, max(clock) FROM history WHERE itemid IN (1, 2, 3) GROUP BY itemid');
-- conditions from outside
SELECT * FROM known('SELECT * FROM (SELECT itemid, max(clock) FROM history GROUP BY itemid) h WHERE itemid % 20 = 3');
SELECT count(*), sum(max) FROM (SELECT itemid, max(clock) FROM history GROUP BY itemid) h WHERE itemid % 20 = 3;
SELECT count(*), sum(max) FROM (SELECT itemid, max(clock) FROM plain GROUP BY itemid) h WHERE itemid % 20 = 3;

-- the same rows as of a plain table
CREATE FUNCTION differences() RETURNS TABLE (queries bigint, rows bigint, different bigint) LANGUAGE plpgsql AS $$
DECLARE
    query text;
    result text[];
    expected text[];
BEGIN
    queries := 0;
    rows := 0;
    different := 0;
    FOR query IN
        SELECT format(form, format('%s AND %s', lower, upper))
        FROM unnest(ARRAY['SELECT DISTINCT ON (itemid) itemid, clock, ns, value FROM %%1$s WHERE %s AND itemid IN (SELECT itemid FROM items WHERE hostid > 1) ORDER BY itemid, clock DESC, ns DESC',
                          'SELECT itemid, max(clock) FROM %%1$s WHERE itemid = ANY (ARRAY(SELECT CASE WHEN mod(itemid, 3) > 0 THEN itemid END FROM items)) AND %s GROUP BY itemid ORDER BY itemid',
                          'SELECT itemid, min(clock) FROM %%1$s WHERE %s GROUP BY itemid ORDER BY itemid',
                          'SELECT itemid, max(clock) FROM %%1$s WHERE %s GROUP BY itemid ORDER BY itemid',
                          'SELECT v.hostid, h.* FROM generate_series(0, 3) v (hostid), LATERAL (SELECT itemid, max(clock) FROM %%1$s WHERE %s AND itemid = ANY (ARRAY(SELECT itemid FROM items i WHERE i.hostid = v.hostid)) GROUP BY itemid) h ORDER BY 1, 2',
                          'SELECT i.itemid, h.* FROM (SELECT * FROM items ORDER BY other, itemid) i, LATERAL (SELECT clock, ns, value FROM %%1$s WHERE itemid = i.itemid AND %s ORDER BY clock DESC, ns DESC LIMIT 1) h',
                          'SELECT i.itemid, h.* FROM (SELECT * FROM items ORDER BY mod(itemid, 7), itemid DESC) i, LATERAL (SELECT clock, ns FROM %%1$s WHERE %s AND itemid = i.itemid ORDER BY clock DESC, ns DESC LIMIT i.hostid) h',
                          'SELECT i.itemid, h.* FROM items i, LATERAL (SELECT clock FROM %%1$s WHERE %s AND clock < i.hostid * 130000 AND itemid IN (i.itemid, 5) AND itemid = i.itemid ORDER BY clock, ns LIMIT 2) h ORDER BY 1, 2']) form,
             unnest(ARRAY['0 < clock', 'clock > 345600', 'clock >= (SELECT 172900)']) lower,
             unnest(ARRAY['clock < 172800', 'clock <= 345600', 'clock <= 2000000000']) upper
    LOOP
        EXECUTE format('SELECT array_agg(r::text) FROM (' || query || ') r', 'plain') INTO expected;
        EXECUTE format('SELECT array_agg(r::text) FROM (' || query || ') r', 'history') INTO result;
        queries := queries + 1;
        rows := rows + coalesce(cardinality(result), 0);
        IF result IS DISTINCT FROM expected THEN
            different := different + 1;
            RAISE WARNING '% %', query, result;
        END IF;
    END LOOP;
    RETURN NEXT;
END $$;
SELECT * FROM differences();
-- where all see all rows nobody looks at the tables; then some of them are gone
VACUUM history_p19700104, history_p19700105, history_p19700106;
SELECT different FROM differences();
BEGIN;
DELETE FROM history WHERE clock > 440000 AND itemid % 3 = 0 OR itemid IN (7, 1001);
DELETE FROM plain WHERE clock > 440000 AND itemid % 3 = 0 OR itemid IN (7, 1001);
INSERT INTO history VALUES (8, 510000, 'mine', 7), (2000, 100, 'mine', 0), (2001, 600000, 'mine', 0);
INSERT INTO plain VALUES (8, 510000, 'mine', 7), (2000, 100, 'mine', 0), (2001, 600000, 'mine', 0);
SELECT different FROM differences();
SAVEPOINT s;
WITH gone AS (DELETE FROM history WHERE itemid BETWEEN 20 AND 40 AND clock > 440000 RETURNING *) INSERT INTO history SELECT itemid, clock - 1, value, ns FROM gone;
UPDATE plain SET clock = clock - 1 WHERE itemid BETWEEN 20 AND 40 AND clock > 440000;
SELECT different FROM differences();
ROLLBACK TO s;
SELECT different FROM differences();
COMMIT;
SELECT different FROM differences();
-- what comes while a statement runs is not for it, and what its own commands did before is
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT i, h.clock, h.value FROM generate_series(3, 11, 4) i, LATERAL (SELECT * FROM history WHERE itemid = i ORDER BY clock DESC, ns DESC LIMIT 1) h;
FETCH 1 FROM c;
INSERT INTO history VALUES (7, 604900, 'later', 0), (11, 518399, 'later', 0), (11, 700000, 'later', 0);
DELETE FROM history WHERE itemid = 11 AND clock BETWEEN 510000 AND 518000;
FETCH ALL FROM c;
FETCH BACKWARD 2 FROM c;
FETCH FORWARD ALL FROM c;
FETCH ABSOLUTE 2 FROM c;
CLOSE c;
SELECT i, h.clock, h.value FROM generate_series(3, 11, 4) i, LATERAL (SELECT * FROM history WHERE itemid = i ORDER BY clock DESC, ns DESC LIMIT 1) h;
ROLLBACK;
-- a function that stores rows while the statement reads
CREATE FUNCTION store(itemid bigint, clock integer) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO history VALUES (store.itemid, store.clock, 'stored', 0);
    RETURN itemid;
END $$;
BEGIN;
SELECT i.itemid, h.clock, h.value FROM (SELECT store(n, 605000 + n) AS itemid FROM generate_series(11, 15) n OFFSET 0) i, LATERAL (SELECT * FROM history WHERE itemid = i.itemid ORDER BY clock DESC, ns DESC LIMIT 1) h;
SELECT i.itemid, h.clock, h.value FROM generate_series(11, 15) i (itemid), LATERAL (SELECT * FROM history WHERE itemid = i.itemid ORDER BY clock DESC, ns DESC LIMIT 1) h;
ROLLBACK;
-- partitions come, go and are packed between two executions of one plan
SET plan_cache_mode = force_generic_plan;
PREPARE newest(integer, integer) AS SELECT count(*), sum(h.clock::bigint), sum(length(h.value)) FROM items i, LATERAL (SELECT * FROM history WHERE itemid = i.itemid AND clock > $2 ORDER BY clock DESC, ns DESC LIMIT 1) h WHERE i.hostid <> $1;
PREPARE listed(integer) AS SELECT count(*), sum(max::bigint) FROM (SELECT itemid, max(clock) FROM history WHERE itemid IN (SELECT itemid FROM items WHERE hostid <> $1) GROUP BY itemid) h;
EXECUTE newest(0, 0);
EXECUTE listed(0);
CALL zbxhist.pack('history', '1970-01-04');
CALL zbxhist.unpack('history', '1970-01-02');
EXECUTE newest(0, 0);
EXECUTE newest(NULL, 0);
EXECUTE newest(0, NULL);
EXECUTE listed(0);
INSERT INTO history VALUES (1, 520000, 'in an empty partition', 0);
SET zbxhist.enable_routing = off;
INSERT INTO history VALUES (2, 2000000000, 'in the parent', 0);
RESET zbxhist.enable_routing;
EXECUTE newest(0, 0);
EXECUTE listed(0);
EXECUTE listed(NULL);
RESET plan_cache_mode;
INSERT INTO plain SELECT * FROM history ON CONFLICT DO NOTHING;
SELECT different FROM differences();
-- REPEATABLE READ and SERIALIZABLE
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT different FROM differences();
COMMIT;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT different FROM differences();
COMMIT;
-- a role that may not read what the subquery reads; none who may not read the table
CREATE ROLE zbxhist_newest_lists;
GRANT SELECT ON history TO zbxhist_newest_lists;
SET ROLE zbxhist_newest_lists;
SELECT DISTINCT ON (itemid) itemid FROM history WHERE itemid IN (SELECT itemid FROM items) ORDER BY itemid, clock DESC;
RESET ROLE;
REVOKE SELECT ON history FROM zbxhist_newest_lists;
GRANT SELECT ON items TO zbxhist_newest_lists;
SET ROLE zbxhist_newest_lists;
SELECT DISTINCT ON (itemid) itemid FROM history WHERE itemid IN (SELECT itemid FROM items) ORDER BY itemid, clock DESC;
RESET ROLE;

-- random rows, some late, some of them deleted, against a plain table
TRUNCATE plain;
DELETE FROM history;
SELECT setseed(0.15);
DO $$
DECLARE
    sum record;
BEGIN
    FOR n IN 1..5 LOOP
        PERFORM set_config('zbxhist.enable_routing', (n % 3 <> 0)::text, false);
        WITH new AS (
            INSERT INTO plain SELECT (random() * 30)::integer * (random() * 3)::integer, 86400 + (random() * 430000)::integer / (1 + (random() * 2000)::integer) , 'round ' || n, (random() * 2)::integer
            FROM generate_series(1, 400) ON CONFLICT DO NOTHING RETURNING *)
        INSERT INTO history SELECT * FROM new;
        SELECT * INTO sum FROM differences();
        IF sum.different > 0 THEN
            RAISE WARNING 'round %: %', n, sum;
        END IF;
        DELETE FROM history WHERE (itemid + clock) % 11 = n;
        DELETE FROM plain WHERE (itemid + clock) % 11 = n;
    END LOOP;
END $$;
RESET zbxhist.enable_routing;
SELECT rows > 0 AS has_rows, different FROM differences();
-- 18 says that it passes over the foreign table
SET client_min_messages = error;
VACUUM history, history_p19700105, history_p19700106;
SET client_min_messages = warning;
SELECT different FROM differences();
SET zbxhist.allow_packed_drop = on;
DROP TABLE history, plain, items CASCADE;
DROP ROLE zbxhist_newest_lists;
DROP FUNCTION orders, known, differences, store;
