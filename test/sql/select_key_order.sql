-- Rows in the order of the key (itemid, clock, ns): item after item of all tables,
-- beside a plain table.
\a \t
LOAD 'zbxhist';
SET client_min_messages = warning;
SET zbxhist.allow_packed_drop = on;
CREATE TABLE history (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, value double precision DEFAULT '0.0000' NOT NULL, ns integer DEFAULT '0' NOT NULL,
    PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history');
SELECT count(zbxhist.create_partition('history', '1970-01-02'::date + n)) AS days FROM generate_series(0, 4) n;
CREATE TABLE plain (LIKE history INCLUDING ALL);
-- groups of many items and items of many groups, days without some, the ends of bigint
INSERT INTO plain SELECT i, c, i * 1000 + c, c % 7 * 1000 FROM generate_series(-40, 200, 3) i, generate_series(86400, 431999, 3600) c WHERE (i + c / 86400) % 5 <> 0;
INSERT INTO plain SELECT i, c + i % 3, random_normal, c % 7 * 1000 FROM unnest('{7, 8, 80, 81}'::bigint[]) i, generate_series(86401, 259199, 20) c, LATERAL (SELECT sin(c * i) * 1e9 AS random_normal) r ON CONFLICT DO NOTHING;
INSERT INTO plain SELECT i, 86400 * (2 + i % 2) + n, n, n FROM unnest('{-9223372036854775808, 9223372036854775807, 1000000}'::bigint[]) i, generate_series(0, 5) n;
INSERT INTO plain VALUES (5, 100000, 1, -5), (5, 100000, 2, 2147483647), (5, 100000, 3, -2147483648), (6, 100000, 1, 0), (6, 100000, 1, 1);
INSERT INTO history SELECT * FROM plain;
CALL zbxhist.pack('history', '1970-01-02');
CALL zbxhist.pack('history', '1970-01-03');
CALL zbxhist.pack('history', '1970-01-04');
-- rows of the parent itself: late ones, and one without a partition
INSERT INTO history SELECT i, 90001, i, 3 FROM generate_series(-50, 210, 13) i;
INSERT INTO plain SELECT i, 90001, i, 3 FROM generate_series(-50, 210, 13) i;
INSERT INTO history VALUES (3, 2000000000, 1, 1);
INSERT INTO plain VALUES (3, 2000000000, 1, 1);
ANALYZE history, plain;

-- plans
EXPLAIN (COSTS OFF) SELECT * FROM history ORDER BY itemid, clock, ns LIMIT 100;
EXPLAIN (COSTS OFF) SELECT * FROM history WHERE (itemid, clock, ns) > (8, 100000, 5) AND value > 3 ORDER BY itemid, clock, ns LIMIT 100;
EXPLAIN (COSTS OFF) SELECT itemid FROM history WHERE itemid < 100 ORDER BY itemid DESC LIMIT 10;
EXPLAIN (COSTS OFF) SELECT * FROM history ORDER BY itemid, clock DESC;
EXPLAIN (COSTS OFF) SELECT * FROM history ORDER BY itemid, clock, value LIMIT 2;
-- before 17 these have a condition that they need not have; 19 gives plans names
CREATE FUNCTION explained(statement text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || statement LOOP
        CONTINUE WHEN line ~ 'IS NOT NULL|Replaces: ';
        RETURN NEXT regexp_replace(line, 'InitPlan .*', 'InitPlan');
    END LOOP;
END $$;
SELECT explained('SELECT min(itemid), max(itemid) FROM history');
DROP FUNCTION explained;
-- not of these
EXPLAIN (COSTS OFF) SELECT * FROM history WHERE clock < 86400 ORDER BY itemid;
EXPLAIN (COSTS OFF) SELECT count(*) FROM history WHERE clock < 86400 AND (itemid, clock) > (8, 100000);

CREATE TABLE query (number serial, query text);
INSERT INTO query (query) VALUES
('SELECT * FROM %s ORDER BY itemid, clock, ns'),
('SELECT * FROM %s ORDER BY itemid DESC, clock DESC, ns DESC'),
('SELECT * FROM %s ORDER BY itemid DESC, clock, ns'),
('SELECT * FROM %s ORDER BY itemid, clock DESC, ns DESC'),
('SELECT * FROM %s ORDER BY itemid, clock DESC, ns'),
('SELECT * FROM %s ORDER BY itemid, clock, ns LIMIT 100'),
('SELECT * FROM %s ORDER BY itemid, clock, ns LIMIT 100 OFFSET 5000'),
('SELECT * FROM %s ORDER BY itemid DESC, clock DESC, ns DESC LIMIT 7'),
('SELECT itemid, clock FROM %s WHERE clock BETWEEN 100000 AND 200000 ORDER BY itemid, clock, ns LIMIT 3000'),
('SELECT itemid FROM %s ORDER BY itemid LIMIT 333'),
('SELECT itemid FROM %s WHERE itemid > 20 ORDER BY itemid LIMIT 10'),
('SELECT itemid FROM %s WHERE itemid >= 8 AND itemid < 12 ORDER BY itemid DESC LIMIT 10'),
('SELECT itemid FROM %s WHERE itemid > 9223372036854775806 ORDER BY itemid LIMIT 10'),
('SELECT itemid FROM %s WHERE itemid < -9223372036854775807 ORDER BY itemid DESC LIMIT 10'),
('SELECT itemid FROM %s WHERE itemid > 9223372036854775807 ORDER BY itemid LIMIT 10'),
('SELECT itemid FROM %s WHERE itemid > 10 AND itemid < 5 ORDER BY itemid LIMIT 10'),
('SELECT * FROM %s WHERE (itemid, clock) > (8, 150000) ORDER BY itemid, clock, ns LIMIT 50'),
('SELECT * FROM %s WHERE (itemid, clock) >= (8, 150000) ORDER BY itemid, clock, ns LIMIT 50'),
('SELECT * FROM %s WHERE (itemid, clock) < (8, 150000) ORDER BY itemid DESC, clock DESC, ns DESC LIMIT 50'),
('SELECT * FROM %s WHERE (8, 150000) >= (itemid, clock) ORDER BY itemid DESC, clock DESC, ns DESC LIMIT 50'),
('SELECT * FROM %s WHERE (itemid, clock, ns) > (5, 100000, -5) ORDER BY itemid, clock, ns LIMIT 5'),
('SELECT * FROM %s WHERE (itemid, clock, ns) <= (5, 100000, -5) ORDER BY itemid DESC, clock DESC, ns DESC LIMIT 5'),
('SELECT * FROM %s WHERE (itemid, clock, ns) > (5::smallint, 100000::bigint, 2147483647::bigint) ORDER BY itemid, clock, ns LIMIT 5'),
('SELECT * FROM %s WHERE (itemid, clock) > (8, 99999999999) ORDER BY itemid, clock, ns LIMIT 5'),
('SELECT * FROM %s WHERE (itemid, clock) > (8, -99999999999) ORDER BY itemid, clock, ns LIMIT 5'),
('SELECT * FROM %s WHERE (itemid, clock) < (8, -99999999999) ORDER BY itemid DESC, clock DESC, ns DESC LIMIT 5'),
('SELECT * FROM %s WHERE (itemid, clock) > (8, NULL) ORDER BY itemid, clock, ns LIMIT 5'),
('SELECT * FROM %s WHERE (itemid, clock) > (NULL, 5) ORDER BY itemid, clock, ns LIMIT 5'),
('SELECT * FROM %s WHERE (itemid, ns) > (8, 5) ORDER BY itemid, clock, ns LIMIT 5'),
('SELECT * FROM %s WHERE (itemid, clock) > (8, 250000) AND (itemid, clock) < (11, 100000) AND itemid <> 9 ORDER BY itemid, clock, ns'),
('SELECT * FROM %s WHERE (itemid, clock) > (8, 250000) AND itemid > 8 ORDER BY itemid, clock, ns LIMIT 5'),
('SELECT * FROM %s WHERE itemid >= 8 AND (itemid, clock) > (8, 250000) AND (itemid, clock) > (7, 5) AND (itemid, clock) >= (8, 200000) ORDER BY itemid, clock, ns LIMIT 5'),
('SELECT * FROM %s WHERE (itemid, clock) > (clock, 5) AND (value, clock) > (3, 4) AND (clock, itemid) > (100000, 6) ORDER BY itemid, clock, ns LIMIT 5'),
('SELECT * FROM %s WHERE itemid IN (80, 5, 7, 999) AND value > 3 ORDER BY itemid DESC, clock, ns LIMIT 500'),
('SELECT * FROM %s WHERE itemid IN (80, 5, 7, 999) AND (itemid, clock) > (7, 200000) AND itemid < 9 ORDER BY itemid, clock, ns'),
('SELECT * FROM %s WHERE (itemid = 5 OR (itemid = 8 AND clock < 100000)) AND value > 3 ORDER BY itemid, clock, ns LIMIT 7'),
('SELECT itemid, value FROM %s WHERE value > 5e8 ORDER BY itemid, value LIMIT 40'),
('SELECT itemid::text, value FROM %s WHERE ns = 3 ORDER BY itemid, clock LIMIT 40'),
('SELECT min(itemid) FROM %s'), ('SELECT max(itemid) FROM %s'), ('SELECT min(itemid), max(itemid), 5 FROM %s WHERE itemid BETWEEN -3 AND 77'),
('SELECT min(itemid) FROM %s WHERE value > 5e8'), ('SELECT max(itemid) FROM %s WHERE clock > 1999999999'), ('SELECT max(itemid) FROM %s WHERE clock > 2000000000'),
('SELECT max(itemid), count(*) FROM %s'), ('SELECT max(itemid), max(clock) FROM %s'), ('SELECT max(itemid) FROM %s HAVING count(*) > 5'),
('SELECT DISTINCT max(itemid) FROM %s'),
('WITH RECURSIVE t AS ((SELECT itemid FROM %1$s ORDER BY itemid LIMIT 1) UNION ALL SELECT (SELECT h.itemid FROM %1$s h WHERE h.itemid > t.itemid ORDER BY h.itemid LIMIT 1) FROM t WHERE t.itemid IS NOT NULL) SELECT * FROM t'),
('SELECT n, h.* FROM generate_series(0, 100, 7) n, LATERAL (SELECT * FROM %s WHERE (itemid, clock) > (n, n * 1000 + 100000) ORDER BY itemid, clock, ns LIMIT 2) h'),
('SELECT n, h.* FROM generate_series(0, 100, 7) n, LATERAL (SELECT * FROM %s WHERE itemid <= n ORDER BY itemid DESC, clock DESC, ns DESC LIMIT 2) h'),
('SELECT a.*, b.clock FROM (SELECT * FROM %1$s ORDER BY itemid, clock, ns LIMIT 10) a JOIN (SELECT * FROM %1$s ORDER BY itemid, clock DESC, ns DESC LIMIT 10) b USING (itemid)'),
('SELECT * FROM %s ORDER BY itemid FETCH FIRST 5 ROWS WITH TIES'),
('SELECT row_number() OVER (ORDER BY itemid, clock, ns), * FROM %s ORDER BY itemid, clock, ns LIMIT 5'),
('SELECT * FROM %s h WHERE EXISTS (SELECT FROM pg_class c WHERE c.oid::bigint = h.itemid + c.oid::bigint - 7) ORDER BY itemid, clock, ns LIMIT 5'),
('SELECT itemid FROM %s ORDER BY itemid USING > LIMIT 3');
-- rows in their order; where that leaves some open, in any
CREATE FUNCTION compare() RETURNS TABLE (number integer, rows bigint, same boolean) LANGUAGE plpgsql AS $$
DECLARE
    q record;
    expected text[];
    found text[];
    sorting text;
BEGIN
    FOR q IN SELECT * FROM query ORDER BY query.number LOOP
        sorting := CASE WHEN q.query ~ 'TIES|h.itemid > t|BY itemid, value' THEN 'ORDER BY r::text' ELSE '' END;
        EXECUTE format('SELECT array_agg(r::text ' || sorting || ') FROM (' || q.query || ') r', 'plain') INTO expected;
        EXECUTE format('SELECT array_agg(r::text ' || sorting || ') FROM (' || q.query || ') r', 'history') INTO found;
        RETURN QUERY SELECT q.number, coalesce(cardinality(found), 0)::bigint, found IS NOT DISTINCT FROM expected;
    END LOOP;
END $$;
SELECT * FROM compare();
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(*) FROM compare() WHERE NOT same;
COMMIT;
-- values that are not known when it is planned
SET plan_cache_mode = force_generic_plan;
PREPARE page(bigint, integer, bigint) AS SELECT itemid, clock, ns FROM history WHERE (itemid, clock) > ($1, $2) ORDER BY itemid, clock, ns LIMIT $3;
EXECUTE page(5, 99999, 3);
EXECUTE page(9223372036854775807, 0, 2);
EXECUTE page(NULL, 0, 2);
DEALLOCATE page;
RESET plan_cache_mode;
-- page after page, all rows
CREATE FUNCTION paged(name text) RETURNS TABLE (pages integer, rows bigint, digest text) LANGUAGE plpgsql AS $$
DECLARE
    page text[];
    item bigint = -9223372036854775808;
    second integer = -2147483648;
    nano integer = -2147483648;
BEGIN
    pages := 0; rows := 0; digest := '';
    LOOP
        EXECUTE format('SELECT array_agg(r::text), (array_agg(itemid))[count(*)], (array_agg(clock))[count(*)], (array_agg(ns))[count(*)] FROM (SELECT * FROM %s WHERE (itemid, clock, ns) > ($1, $2, $3) ORDER BY itemid, clock, ns LIMIT 997) r', name)
            INTO page, item, second, nano USING item, second, nano;
        EXIT WHEN page IS NULL;
        pages := pages + 1; rows := rows + cardinality(page); digest := md5(digest || page::text);
    END LOOP;
    RETURN NEXT;
END $$;
SELECT h.pages, h.rows, h.digest = p.digest AS same FROM paged('history') h, paged('plain') p;
-- back and forth
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT itemid, clock FROM history WHERE itemid BETWEEN 5 AND 7 ORDER BY itemid, clock, ns;
FETCH 4 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH LAST FROM c;
COMMIT;
-- changes in the same transaction, a cursor before them
BEGIN;
DECLARE c CURSOR FOR SELECT itemid, clock, round(value) AS value FROM history WHERE itemid > 4 ORDER BY itemid, clock, ns;
FETCH 1 FROM c;
UPDATE history SET value = -1 WHERE itemid = 5;
DELETE FROM history WHERE itemid = 6;
INSERT INTO history VALUES (4, 86400, 4, 4), (6, 400000, 4, 4);
FETCH 3 FROM c;
SELECT itemid, clock, round(value) AS value FROM history WHERE itemid > 3 ORDER BY itemid, clock, ns LIMIT 7;
SELECT max(itemid) FROM history WHERE itemid < 7;
ROLLBACK;
-- tables whose index is on (itemid, clock) only, and without any
CREATE TABLE old (itemid bigint NOT NULL, clock integer NOT NULL, value bigint NOT NULL, ns integer NOT NULL);
CREATE INDEX ON old (itemid, clock);
SELECT zbxhist.create_parent('old'), zbxhist.create_partition('old', '1970-01-02'), zbxhist.create_partition('old', '1970-01-03');
INSERT INTO old SELECT i, 86400 + n * 7000, n, 20 - n FROM generate_series(1, 9) i, generate_series(0, 20) n;
INSERT INTO old SELECT i, 90000, n, 20 - n FROM generate_series(3, 4) i, generate_series(0, 5) n;
DO $$
DECLARE
    index regclass;
BEGIN
    FOR index IN SELECT indexrelid::regclass FROM pg_index WHERE indrelid = 'old_p19700103'::regclass LOOP EXECUTE format('DROP INDEX %s', index); END LOOP;
END $$;
SELECT itemid, clock, ns FROM old WHERE (itemid, clock) > (3, 86400) ORDER BY itemid, clock, ns LIMIT 8;
SELECT itemid, clock FROM old WHERE itemid < 4 AND clock > 172800 ORDER BY itemid DESC, clock DESC, ns DESC LIMIT 3;
SELECT min(itemid), max(itemid) FROM old WHERE clock > 172800;
-- trends have no ns
CREATE TABLE trends (itemid bigint NOT NULL, clock integer NOT NULL, num integer NOT NULL, value_min double precision NOT NULL, value_avg double precision NOT NULL,
    value_max double precision NOT NULL, PRIMARY KEY (itemid, clock));
SELECT zbxhist.create_parent('trends', '1 month'), zbxhist.create_partition('trends', '1970-01-01'), zbxhist.create_partition('trends', '1970-02-01');
INSERT INTO trends SELECT i, c, 60, i, c, i + c FROM generate_series(1, 50) i, generate_series(0, 3600000, 3600) c;
CALL zbxhist.pack('trends', '1970-01-01');
EXPLAIN (COSTS OFF) SELECT itemid, clock, num FROM trends WHERE (itemid, clock) > (7, 1000000) ORDER BY itemid, clock LIMIT 3;
SELECT itemid, clock, num FROM trends WHERE (itemid, clock) > (7, 3596400) ORDER BY itemid, clock LIMIT 3;
SELECT itemid, clock, num FROM trends WHERE (itemid, clock) < (8, 3600) ORDER BY itemid DESC, clock DESC LIMIT 3;
DROP TABLE history, plain, query, old, trends CASCADE;
DROP FUNCTION compare(), paged(text);
