-- What is looked at to find the newest or oldest rows of many items: partitions that
-- are empty once, and each item of an index about twice where a list cannot hold all,
-- and once more for its row.
\a \t
LOAD 'zbxhist';
SET client_min_messages = warning;
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history', premake => 0);
SELECT count(zbxhist.create_partition('history', '1970-01-02'::date + n)) AS days FROM generate_series(0, 5) n;
INSERT INTO history SELECT i, 86400 + n * 600, 1, 0 FROM generate_series(1, 12000) i, generate_series(1, 2) n;

-- a row that comes to an empty partition meanwhile is not for the statement, and nobody
-- looks there again (what is read for the first item is opened once more to be kept)
CREATE FUNCTION store(itemid bigint, clock integer) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO history VALUES (store.itemid, store.clock, 2, 0);
    RETURN itemid;
END $$;
CREATE FUNCTION tables_read(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, FORMAT json) ' || statement INTO plan;
    RETURN jsonb_path_query_first(plan, '$.** ? (exists (@."Tables Read"))')->>'Tables Read';
END $$;
SELECT tables_read('SELECT i.itemid, h.clock, h.value FROM (SELECT i AS itemid, CASE i WHEN 3 THEN store(i, 86400 * 5) END FROM generate_series(1, 6) i OFFSET 0) i,
    LATERAL (SELECT * FROM history h WHERE h.itemid = i.itemid AND clock < 1000000 ORDER BY clock DESC LIMIT 1) h');
-- what is not empty is read
SELECT tables_read('SELECT i.itemid, h.clock, h.value FROM generate_series(1, 6) i (itemid),
    LATERAL (SELECT * FROM history h WHERE h.itemid = i.itemid AND clock < 1000000 ORDER BY clock DESC LIMIT 1) h');
SELECT i.itemid, h.clock, h.value FROM generate_series(1, 4) i (itemid),
    LATERAL (SELECT * FROM history h WHERE h.itemid = i.itemid AND clock < 1000000 ORDER BY clock DESC LIMIT 1) h;

-- a list of 4096 items is filled five times
SET work_mem = '64kB';
BEGIN;
SELECT count(*), sum(min::bigint) FROM (SELECT itemid, min(clock) FROM history WHERE clock < 100000 GROUP BY itemid) h;
SELECT idx_scan BETWEEN 12000 AND 40000 AS thrice_each FROM pg_stat_xact_user_tables WHERE relid = 'history_p19700102'::regclass;
COMMIT;
RESET work_mem;
-- clocks as far apart as they can be
SET zbxhist.enable_routing = off;
INSERT INTO history SELECT i, CASE i % 3 WHEN 0 THEN 2147483647 WHEN 1 THEN -2147483648 ELSE 0 END, 3, 0 FROM generate_series(20001, 20200) i;
RESET zbxhist.enable_routing;
BEGIN;
SELECT count(*), sum(min::bigint) FROM (SELECT itemid, min(clock) FROM history WHERE clock > -2147483648 OR itemid > 0 GROUP BY itemid) h;
SELECT count(*), sum(min::bigint) FROM (SELECT itemid, min(clock) FROM history GROUP BY itemid) h;
SELECT count(*), sum(max::bigint) FROM (SELECT itemid, max(clock) FROM history GROUP BY itemid) h;
COMMIT;
SET zbxhist.allow_packed_drop = on;
DROP TABLE history CASCADE;
DROP FUNCTION store, tables_read;
