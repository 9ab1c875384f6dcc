-- Rows of several items of packed days, in the order of items and in others, rows of many groups and
-- of late ones: the same as from a plain table.
\a \t
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE plain (LIKE history INCLUDING ALL);
SET client_min_messages = warning;
SELECT zbxhist.create_parent('history', premake => 0);
SELECT count(zbxhist.create_partition('history', '1970-01-02'::date + n)) AS days FROM generate_series(0, 3) n;
DO $$
BEGIN
    EXECUTE (SELECT format('DROP TABLE %s', p.partition) FROM zbxhist.list_partitions('history') p WHERE p.from_clock > 1000000);
END $$;
-- days begin at 86400, 172800, 259200 (packed) and 345600; item 4 has rows on the second day only
INSERT INTO plain SELECT i, c, i + c % 1009, n FROM generate_series(1, 3) i, generate_series(86400, 431999, 600) c, generate_series(0, 1) n;
INSERT INTO plain SELECT 4, c, 4, 0 FROM generate_series(172800, 259199, 600) c;
INSERT INTO history SELECT * FROM plain;
CALL zbxhist.pack('history', '1970-01-02');
CALL zbxhist.pack('history', '1970-01-03');
CALL zbxhist.pack('history', '1970-01-04');
ANALYZE plain;
ANALYZE history_packed;
SET enable_hashagg = off;
SET max_parallel_workers_per_gather = 0;

CREATE TABLE query (number serial, query text);
INSERT INTO query (query) VALUES
('SELECT DISTINCT ON (itemid) * FROM %s WHERE itemid IN (1, 3, 4) ORDER BY itemid, clock DESC, ns DESC'),
('SELECT DISTINCT ON (itemid) * FROM %s WHERE itemid IN (4, 1, 4, 99, NULL, 2) ORDER BY itemid, clock, ns'),
('SELECT * FROM %s WHERE itemid IN (1, 4, 3) ORDER BY itemid, clock, ns'),
('SELECT * FROM %s WHERE itemid IN (1, 4, 3) ORDER BY itemid, clock DESC, ns DESC'),
('SELECT * FROM %s WHERE itemid IN (1, 4, 3) AND clock >= 200000 AND clock < 300000 ORDER BY itemid, clock, ns LIMIT 500 OFFSET 20'),
('SELECT * FROM %s WHERE itemid IN (3, 4) AND clock = 200400 ORDER BY itemid, ns DESC'),
('SELECT itemid, count(*), min(clock), sum(value) FROM %s WHERE itemid = ANY (ARRAY(SELECT n FROM generate_series(1, 9) n)) GROUP BY itemid ORDER BY itemid'),
('SELECT * FROM %s WHERE (itemid = 1 AND clock = 200400 AND ns = 0) OR (itemid = 3 AND clock = 90000) OR (itemid = 2 AND clock = 90000 AND ns = 1) ORDER BY itemid, clock, ns'),
('SELECT * FROM %s WHERE itemid IN (1, 3) AND value > 1000 ORDER BY itemid, clock, ns'),
('SELECT * FROM %s WHERE itemid IN (1, 3) AND itemid IN (3, 4) ORDER BY itemid, clock, ns'),
('SELECT * FROM %s WHERE itemid = ANY (''{}'') ORDER BY itemid, clock, ns'),
('SELECT h.* FROM generate_series(1, 2) n, LATERAL (SELECT DISTINCT ON (itemid) * FROM %s WHERE itemid = ANY (ARRAY[n, n + 2]) ORDER BY itemid, clock DESC, ns DESC) h'),
('SELECT a.itemid, count(*) FROM %s a JOIN plain b ON a.itemid = b.itemid AND a.clock = b.clock AND a.ns = b.ns WHERE a.itemid IN (1, 4) AND b.itemid IN (1, 4) GROUP BY 1 ORDER BY 1');
CREATE FUNCTION compare() RETURNS TABLE (number integer, rows bigint, same boolean) LANGUAGE plpgsql AS $$
DECLARE
    q record;
    expected text[];
    found text[];
BEGIN
    FOR q IN SELECT * FROM query ORDER BY query.number LOOP
        EXECUTE format('SELECT array_agg(r::text) FROM (' || q.query || ') r', 'plain') INTO expected;
        EXECUTE format('SELECT array_agg(r::text) FROM (' || q.query || ') r', 'history') INTO found;
        RETURN QUERY SELECT q.number, coalesce(cardinality(found), 0)::bigint, found IS NOT DISTINCT FROM expected;
    END LOOP;
END $$;
SET enable_sort = off;
SELECT * FROM compare();
RESET enable_sort;
SELECT count(*) FROM compare() WHERE NOT same;
-- late rows, and rows that are gone
DELETE FROM plain WHERE itemid = 3 AND clock < 172800 OR itemid = 1 AND clock = 345000;
DELETE FROM history WHERE itemid = 3 AND clock < 172800 OR itemid = 1 AND clock = 345000;
INSERT INTO plain SELECT i, 200000, 0, 7 FROM generate_series(1, 5) i;
INSERT INTO history SELECT * FROM plain WHERE ns = 7;
SET enable_sort = off;
SELECT count(*) FROM compare() WHERE NOT same;
-- a cursor, both ways
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT itemid, clock, ns FROM history_packed WHERE itemid IN (1, 4) AND clock BETWEEN 258600 AND 259200 ORDER BY itemid, clock DESC, ns DESC;
FETCH ALL FROM c;
FETCH BACKWARD 2 FROM c;
COMMIT;
-- an item with several groups in a day, one that begins with a group or not, and numbers that are no items', between any clocks, either way
CREATE TABLE spread (LIKE plain INCLUDING ALL);
CREATE TABLE spread_plain (LIKE plain INCLUDING ALL);
SELECT zbxhist.create_parent('spread', premake => 0);
SELECT count(zbxhist.create_partition('spread', '1970-01-02'::date + n)) AS days FROM generate_series(0, 2) n;
SELECT setseed(0.5);
INSERT INTO spread_plain SELECT 100, c, c % 97 + random(), 0 FROM generate_series(86400, 345599, 20) c;
INSERT INTO spread_plain SELECT i, c, random(), abs(i % 5) FROM unnest('{-9223372036854775808,-1,0,98,99,101,9223372036854775807}'::bigint[]) i, generate_series(86400, 345599, 9000 + abs(i % 7)::integer * 1000) c WHERE i <> 99 OR c > 172800;
INSERT INTO spread SELECT * FROM spread_plain;
CALL zbxhist.pack('spread', '1970-01-02');
CALL zbxhist.pack('spread', '1970-01-03');
CALL zbxhist.pack('spread', '1970-01-04');
SELECT count(*) > 1 AS has_groups FROM zbxhist_packed.spread_p19700102 WHERE first_itemid = 100;
CREATE FUNCTION rows_of(tab text, item bigint, first bigint, last bigint, direction text, n text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('SELECT md5(string_agg(r::text, '','')) FROM (SELECT * FROM %I WHERE itemid = %s AND clock >= %s AND clock <= %s ORDER BY clock %s, ns %s LIMIT %s) r', tab, item, first, last, direction, direction, n) INTO result;
    RETURN coalesce(result, 'none');
END $$;
SELECT direction, n, count(*), count(*) FILTER (WHERE rows_of('spread_plain', i, c, c + l, direction, n) <> 'none') AS with_rows,
       bool_and(rows_of('spread', i, c, c + l, direction, n) = rows_of('spread_plain', i, c, c + l, direction, n)) AS same
  FROM unnest('{-9223372036854775808,-2,0,98,99,100,101,102,9223372036854775807}'::bigint[]) i,
       unnest('{-2147483648,86400,172799,200001,345000}'::bigint[]) c, unnest('{0,3600,90000,2147900000}'::bigint[]) l,
       unnest('{ASC,DESC}'::text[]) direction, unnest('{2,ALL}'::text[]) n
 WHERE n = '2' OR l < 90000 OR c = 172799
 GROUP BY 1, 2 ORDER BY 1, 2;
SET zbxhist.allow_packed_drop = on;
DROP TABLE history, plain, query, spread, spread_plain CASCADE;
DROP FUNCTION compare, rows_of;
