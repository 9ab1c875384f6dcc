-- Zabbix's look-up of duplicates, and its graph of first and last values: rows of packed days,
-- partitions and the parent are found by their keys, as in a plain table.
\a \t
LOAD 'zbxhist';
SET client_min_messages = warning;
SET zbxhist.allow_packed_drop = on;
CREATE SCHEMA packed_keys;
SET search_path = packed_keys, zbxhist_partitions;
CREATE TABLE plain (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE history (LIKE plain INCLUDING ALL);
CREATE TABLE plain_trends (itemid bigint NOT NULL, clock integer NOT NULL, num integer NOT NULL, PRIMARY KEY (itemid, clock));
CREATE TABLE trends (LIKE plain_trends INCLUDING ALL);
SELECT zbxhist.create_parent('history'), zbxhist.create_parent('trends');
-- days 1 to 3 will be packed, day 4 has two hours, day 5 is a partition; some rows are in the parent
SELECT count(zbxhist.create_partition(parent, '1970-01-01'::date + day)) FROM unnest('{history,trends}'::regclass[]) parent, unnest('{1,2,3,5}'::integer[]) day;
SELECT count(zbxhist_internal.create_range('history', clock, clock + 3600)) FROM unnest('{345600,349200}'::bigint[]) clock;
INSERT INTO plain SELECT i, c + i % 7, c % 1009 + i, (c * 7 + i) % 1000 FROM generate_series(86400, 345599, 900) c, generate_series(1, 40) i;
INSERT INTO plain SELECT i, c + i % 7, c % 1009 + i, n * 5 FROM generate_series(345600, 352799, 60) c, generate_series(1, 40) i, generate_series(0, 1) n;
INSERT INTO plain SELECT i, c + i % 7, c % 1009 + i, i FROM generate_series(432000, 518399, 900) c, generate_series(1, 40) i;
INSERT INTO plain_trends SELECT i, c, i FROM generate_series(86400, 518399, 3600) c, generate_series(1, 40) i WHERE c < 345600 OR c >= 432000;
INSERT INTO history SELECT * FROM plain;
INSERT INTO trends SELECT * FROM plain_trends;
CALL zbxhist.pack('history', '1970-01-02');
CALL zbxhist.pack('history', '1970-01-03');
CALL zbxhist.pack('history', '1970-01-04');
CALL zbxhist.pack('trends', '1970-01-02');
CALL zbxhist.pack('trends', '1970-01-03');
CALL zbxhist.pack('trends', '1970-01-04');
SET zbxhist.enable_routing = off;
INSERT INTO plain SELECT i, c, 1, 77 FROM unnest('{100000,346000,440000,600000}'::integer[]) c, generate_series(1, 40, 3) i;
INSERT INTO history SELECT * FROM plain WHERE ns = 77 AND clock IN (100000, 346000, 440000, 600000);
RESET zbxhist.enable_routing;
ANALYZE plain, plain_trends, history, trends;

-- keys that are there, and others
CREATE TABLE key AS
  SELECT row_number() OVER () AS number, k.* FROM (
    SELECT itemid, clock, ns FROM plain TABLESAMPLE bernoulli (2) REPEATABLE (1)
    UNION ALL SELECT itemid, clock + 1, ns FROM plain TABLESAMPLE bernoulli (1) REPEATABLE (2)
    UNION ALL SELECT itemid + 40, clock, ns FROM plain TABLESAMPLE bernoulli (1) REPEATABLE (3)
    UNION ALL SELECT itemid, clock, ns FROM plain WHERE ns = 77 AND itemid < 20
    UNION ALL SELECT itemid, clock, ns + 1 FROM plain TABLESAMPLE bernoulli (1) REPEATABLE (4)) k ORDER BY md5(k::text);
SELECT count(*) >= 1000 AS are_many FROM key;

-- says whether a query, in which T is the table, gives the same rows, in the same order, of both tables
CREATE FUNCTION rows_of(query text, name text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('SELECT count(*) || '' '' || coalesce(md5(string_agg(q::text, ''|'')), '''') FROM (%s) q', regexp_replace(query, '\mT\M', name, 'g')) INTO result;
    RETURN result;
END $$;
CREATE FUNCTION compare(query text, plain text DEFAULT 'plain', managed text DEFAULT 'history') RETURNS text LANGUAGE sql
RETURN CASE WHEN rows_of(query, plain) <> rows_of(query, managed) THEN 'DIFFERS: ' || left(query, 200) WHEN rows_of(query, plain) LIKE '0 %' THEN 'no rows' ELSE 'same' END;
-- the forms of a look-up of some keys
CREATE FUNCTION look_up(form text, first bigint, last bigint) RETURNS text LANGUAGE sql
RETURN (SELECT CASE form
    WHEN 'or' THEN string_agg(format('(itemid=%s and clock=%s and ns=%s)', itemid, clock, ns), ' or ' ORDER BY number)
    WHEN 'quoted' THEN string_agg(format('(itemid=''%s'' and clock=''%s'' and ns=''%s'')', itemid, clock, ns), ' or ' ORDER BY number)
    WHEN 'without ns' THEN string_agg(format('(itemid=%s and clock=%s)', itemid, clock), ' or ' ORDER BY number)
    WHEN 'ranges' THEN string_agg(format('(itemid=%s and clock>%s and clock<=%s)', itemid, clock - 1000, clock + itemid * 50), ' or ' ORDER BY number)
    WHEN 'items' THEN string_agg(format('((itemid=%s or itemid in (%s,%s)) and clock=%s)', itemid, itemid + 1, itemid + 2, clock), ' or ' ORDER BY number)
    WHEN 'some' THEN string_agg(CASE WHEN number % 7 = 0 THEN format('itemid=%s', itemid) ELSE format('(%s=clock and itemid=%s)', clock, itemid) END, ' or ' ORDER BY number)
    WHEN 'other' THEN string_agg(CASE WHEN number % 50 = 0 THEN format('(clock=%s and value>5)', clock) ELSE format('(itemid=%s and clock=%s)', itemid, clock) END, ' or ' ORDER BY number)
    WHEN 'nested' THEN string_agg(format('(itemid=%s and (clock=%s or clock=%s))', itemid, clock, clock + 900), ' or ' ORDER BY number)
    WHEN 'row in' THEN format('(itemid,clock,ns) in (%s)', string_agg(format('(%s,%s,%s)', itemid, clock, ns), ',' ORDER BY number))
    WHEN 'values' THEN format('(itemid,clock,ns) in (values %s)', string_agg(format('(%s,%s,%s)', itemid, clock, ns), ',' ORDER BY number))
    WHEN 'any values' THEN format('(clock,itemid) = any (values %s)', string_agg(format('(%s,%s::bigint)', clock, itemid), ',' ORDER BY number))
    END FROM key WHERE number BETWEEN first AND last);
SELECT form, n, string_agg(DISTINCT compare(format('SELECT itemid, clock, ns, value FROM T WHERE %s ORDER BY %s', look_up(form, n * i + 1, n * i + n), sort)), ', ') AS rows
  FROM unnest('{or,quoted,without ns,ranges,items,some,other,nested,row in,values,any values}'::text[]) form, unnest('{1,3,40}'::integer[]) n,
       generate_series(1, 2) i, unnest('{"itemid, clock, ns","itemid, clock DESC, ns DESC","clock, itemid, ns"}'::text[]) sort
 GROUP BY form, n ORDER BY form, n;
SELECT form, compare(format('SELECT itemid, clock, ns, value FROM T WHERE %s ORDER BY itemid, clock, ns', look_up(form, 1, 1000))) AS rows
  FROM unnest('{or,row in,values}'::text[]) form;
SELECT compare(format('SELECT * FROM T WHERE %s ORDER BY itemid, clock', look_up('without ns', 1, 200)), 'plain_trends', 'trends') AS trends;
-- each table asked for all keys
SET zbxhist.enable_item_scan = off;
SELECT form, compare(format('SELECT itemid, clock, ns, value FROM T WHERE %s ORDER BY itemid, clock, ns', look_up(form, 1, 1000))) AS rows
  FROM unnest('{or,row in,values}'::text[]) form;
RESET zbxhist.enable_item_scan;
-- with other conditions, which leave some keys, or none
SELECT left(more, 30) AS more, compare(format('SELECT * FROM T WHERE (%s) AND %s ORDER BY itemid, clock, ns', look_up('without ns', 1, 300), more)) AS rows
  FROM unnest(ARRAY['clock > 300000', 'itemid IN (1, 5, 39)', 'itemid = 5', 'clock < 90000 AND value > 10', 'clock > 1000000', 'itemid IS NOT NULL', 'NOT clock = 346000',
                    format('(%s)', look_up('ranges', 100, 400)), 'ctid IS NOT NULL']) more;
-- lists that are read by keys, or nearly so: how many keys there are, and whether rows are the same
CREATE FUNCTION keys_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || regexp_replace(query, '\mT\M', 'history', 'g') INTO plan;
    RETURN (SELECT string_agg(m[1], ' ') FROM regexp_matches(plan::text, '"Keys": (\d+)', 'g') m);
END $$;
CREATE TABLE list AS SELECT row_number() OVER (ORDER BY itemid, clock, ns) AS n, itemid, clock, ns FROM plain WHERE (itemid, ns) IN ((1, 77), (4, 77), (2, 10)) OR (itemid = 3 AND clock IN (87303, 345603, 432903));
SELECT format('(%s,%s,%s)', itemid, clock, ns) AS one FROM list WHERE n = 1 \gset
SELECT string_agg(format('(%s,%s,%s)', itemid, clock, ns), ',') AS some FROM list \gset
SELECT string_agg(format('itemid=%s and clock=%s', itemid, clock), ' or ') AS pairs FROM list \gset
SELECT number, keys_of(query) AS keys, compare(query) AS rows FROM unnest(ARRAY[
    $$SELECT * FROM T WHERE (itemid, clock, ns) IN (ONE) ORDER BY 1, 2, 4$$,
    $$SELECT * FROM T WHERE (itemid, clock, ns) IN (SOME, SOME, ONE) ORDER BY 1, 2, 4$$,
    $$SELECT * FROM T WHERE (itemid, clock, ns) IN (SOME, (NULL, 87303, 5), (3, NULL, 4), (3, 87303, NULL)) ORDER BY 1, 2, 4$$,
    $$SELECT * FROM T WHERE (itemid, clock, ns) IN (SOME, (3, 99999999999, 5), (3, 87303, -99999999999), (-3, -5, -7)) ORDER BY 1, 2, 4$$,
    $$SELECT * FROM T WHERE (itemid, clock, ns) IN (SOME, (1 + 1, 87303::bigint, '5')) ORDER BY 1, 2, 4$$,
    $$SELECT * FROM T WHERE (itemid, clock, ns) IN (SOME, (3, 87303.0, 5)) ORDER BY 1, 2, 4$$,
    $$SELECT * FROM T WHERE (itemid, clock, ns) IN (SOME, (extract(year FROM now())::integer, 5, 7)) ORDER BY 1, 2, 4$$,
    $$SELECT * FROM T WHERE (itemid, clock, ns) IN (VALUES SOME ORDER BY 1, 2, 3 LIMIT 3) ORDER BY 1, 2, 4$$,
    $$SELECT * FROM T WHERE (itemid, clock, ns) IN (VALUES SOME UNION ALL VALUES ONE) ORDER BY 1, 2, 4$$,
    $$SELECT * FROM T WHERE (ns, itemid, clock) IN (SELECT v.c, v.a, v.b FROM (VALUES SOME) v(a, b, c)) ORDER BY 1, 2, 4$$,
    $$SELECT * FROM T WHERE (itemid, clock, ns) NOT IN (VALUES SOME) AND clock BETWEEN 86000 AND 90000 ORDER BY 1, 2, 4$$,
    $$SELECT * FROM T WHERE NOT ((itemid, clock, ns) IN (SOME)) AND clock BETWEEN 86000 AND 90000 ORDER BY 1, 2, 4$$,
    $$SELECT * FROM T WHERE (itemid, clock, ns) IN (SOME) OR itemid = 5 AND clock = 432005 ORDER BY 1, 2, 4$$,
    $$SELECT * FROM T WHERE (itemid, clock, ns) IN (SOME) OR itemid = 5 AND clock > 517000 ORDER BY 1, 2, 4$$,
    $$SELECT * FROM T WHERE (itemid, clock, ns) IN (SOME) OR value < 5 AND clock = 432905 AND 5 = itemid AND 5 = itemid ORDER BY 1, 2, 4$$,
    $$SELECT * FROM T WHERE (itemid, clock, ns) IN (SOME) OR itemid = 5 AND clock = 432905 AND itemid = 6 ORDER BY 1, 2, 4$$,
    $$SELECT * FROM T WHERE (itemid, clock, ns) IN (SOME) OR itemid = 3 AND clock = 345603 ORDER BY 1, 2, 4$$,
    $$SELECT * FROM T WHERE (itemid, clock, ns) IN (SOME) OR itemid = 3 AND ns = 4 ORDER BY 1, 2, 4$$,
    $$SELECT * FROM T WHERE ((itemid, clock, ns) IN (SOME) OR PAIRS) AND (clock < 90000 OR value > 300) AND itemid IN (SELECT n FROM list) ORDER BY 1, 2, 4$$,
    $$SELECT count(*), sum(ns), avg(value), max(clock) FROM T WHERE (itemid, clock, ns) IN (SOME)$$,
    $$SELECT itemid, max(clock) FROM T WHERE (itemid, clock) IN (SELECT 3, 87303) OR PAIRS GROUP BY itemid ORDER BY 1$$,
    $$SELECT itemid, count(*) FROM T WHERE PAIRS GROUP BY itemid HAVING count(*) > 1 ORDER BY 1$$,
    $$SELECT DISTINCT itemid FROM T WHERE PAIRS ORDER BY 1 DESC LIMIT 2$$,
    $$SELECT T.itemid, ctid IS NULL, clock FROM T WHERE PAIRS ORDER BY 1, 3$$,
    $$SELECT length(T::text) > 0, clock FROM T WHERE PAIRS ORDER BY 2$$,
    $$WITH w AS MATERIALIZED (SELECT * FROM T WHERE PAIRS) SELECT a.* FROM w a JOIN w b USING (itemid) ORDER BY 1, 2, 3, 4$$,
    $$SELECT n, (SELECT max(clock) FROM T WHERE (itemid, clock) IN (VALUES (list.itemid, list.clock), (1, 2))) FROM list ORDER BY n$$,
    $$SELECT n FROM list WHERE EXISTS (SELECT FROM T WHERE (PAIRS) AND T.itemid = list.itemid AND T.clock = list.clock) ORDER BY n$$,
    $$SELECT h.*, n FROM T h JOIN (VALUES SOME, ONE, (3, 4, NULL)) v(i, c, n) ON h.itemid = v.i AND v.c = h.clock AND h.ns = v.n ORDER BY 1, 2, 4$$,
    $$SELECT h.*, v.* FROM T h, (VALUES (87303, 3, 'a'), (345603, 3, 'b'), (432903, 3, 'c')) v WHERE h.itemid = v.column2 AND h.clock = v.column1 AND h.value > 0 ORDER BY 1, 2, 4$$,
    $$SELECT h.*, v.* FROM (SELECT 3 AS i, 345603 AS c) v JOIN T h ON h.itemid = v.i AND h.clock = v.c ORDER BY 1, 2, 4$$,
    $$SELECT h.itemid, v.* FROM T h LEFT JOIN (VALUES SOME) v(i, c, n) ON h.itemid = v.i AND h.clock = v.c AND h.ns = v.n WHERE h.clock < 87500 ORDER BY 1, 2, 3, 4$$,
    $$SELECT h.itemid, v.* FROM (VALUES SOME, (3, 4, 5)) v(i, c, n) LEFT JOIN T h ON h.itemid = v.i AND h.clock = v.c AND h.ns = v.n ORDER BY 1, 2, 3, 4$$,
    $$SELECT list.n, h.* FROM list LEFT JOIN T h ON h.itemid = list.itemid AND h.clock >= list.clock WHERE (h.itemid, h.clock) IN (VALUES (3, 432903), (4, 440000)) ORDER BY 1, 2, 3, 5$$,
    $$SELECT a.*, b.ns FROM T a JOIN T b ON a.itemid = b.itemid WHERE (a.itemid = 3 AND a.clock = 87303 OR a.itemid = 1 AND a.clock = 100000) AND (b.itemid, b.clock) IN (VALUES (3, 345603), (1, 440000)) ORDER BY 1, 2, 4, 5$$])
  WITH ORDINALITY queries(template, number),
       replace(replace(replace(template, 'SOME', :'some'), 'ONE', :'one'), 'PAIRS', :'pairs') query;
-- plans that are kept, and cursors, which go either way
PREPARE keys AS SELECT count(*) FROM history WHERE (itemid, clock, ns) IN (:some);
PREPARE parameters(integer) AS SELECT count(*) FROM history WHERE (itemid, clock, ns) IN (:some) AND itemid <> $1 OR itemid = 5 AND clock = $1 OR itemid = 5 AND clock = 86405;
SET plan_cache_mode = force_generic_plan;
EXECUTE keys;
EXECUTE parameters(432905);
BEGIN;
INSERT INTO history SELECT itemid, clock, 5, ns + 1000 FROM list;
DELETE FROM history WHERE itemid = 3 AND clock = 345603 AND ns < 1000;
EXECUTE keys;
SELECT count(*) FROM history WHERE :pairs;
DECLARE c SCROLL CURSOR FOR SELECT itemid, clock FROM history WHERE :pairs;
MOVE ALL IN c;
FETCH BACKWARD 2 FROM c;
MOVE ABSOLUTE 0 IN c;
FETCH 2 FROM c;
ROLLBACK;
CALL zbxhist.pack('history', '1970-01-06');
EXECUTE keys;
EXECUTE parameters(432905);
CALL zbxhist.unpack('history', '1970-01-06');
EXECUTE keys;
RESET plan_cache_mode;
DEALLOCATE keys;
DEALLOCATE parameters;
-- in the order of items, the first keys being of no packed day
SELECT sort, compare(format('SELECT itemid, clock, ns, value FROM T WHERE (itemid = 1 AND clock = 440000) OR (itemid = 3 AND clock BETWEEN 500000 AND 600000) OR (itemid = 3 AND clock BETWEEN 86000 AND 90000) OR (itemid = 9 AND clock = 87302) ORDER BY %s', sort)) AS rows
  FROM unnest('{"itemid, clock, ns","itemid, clock DESC, ns DESC"}'::text[]) sort;
SELECT count(*) FROM (SELECT FROM history_packed WHERE (itemid = 1 AND clock = 440000) OR (itemid = 3 AND clock BETWEEN 86000 AND 90000) ORDER BY itemid, clock) h;
-- aggregates, and changes of such rows
SELECT compare(format('SELECT itemid, count(*), sum(ns), max(clock) FROM T WHERE %s GROUP BY itemid ORDER BY itemid', look_up('ranges', 1, 50))) AS aggregate;
BEGIN;
SELECT format('DELETE FROM plain WHERE %s', look_up('or', 1, 60)) AS delete_plain, format('DELETE FROM history WHERE %s', look_up('or', 1, 60)) AS delete \gset
:delete_plain;
:delete;
SELECT compare('SELECT * FROM T ORDER BY itemid, clock, ns') AS after_delete;
ROLLBACK;

-- it is read by keys, and that does not cost what starts JIT
CREATE FUNCTION plan_of(query text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT json) ' || query INTO plan;
    RETURN plan;
END $$;
CREATE FUNCTION counter(plan jsonb, name text) RETURNS numeric LANGUAGE sql
RETURN (SELECT sum(n::text::numeric) FROM jsonb_path_query(plan, format('strict $.**.%s', to_json(name))::jsonpath, silent => true) n);
SELECT form, counter(plan, 'Keys') >= 1000 AS are_keys, counter(plan, 'Tables Read') <= 7 AS few_tables, (plan #>> '{0,Plan,Total Cost}')::numeric < 100000 AS is_cheap
  FROM unnest('{or,quoted,without ns,row in}'::text[]) form, plan_of(format('SELECT itemid, clock, ns FROM history WHERE %s ORDER BY itemid, clock, ns', look_up(form, 1, 1100))) plan;
SELECT form, counter(plan, 'Segments Read') < 1000 AS few_segments, (plan #>> '{0,Plan,Total Cost}')::numeric < 100000 AS is_cheap
  FROM unnest('{or,without ns,row in}'::text[]) form, plan_of(format('SELECT itemid, clock, ns FROM history_packed WHERE %s ORDER BY itemid, clock, ns', look_up(form, 1, 1000))) plan;
-- one segment for each item, whose rows are there once
SELECT counter(plan, 'Segments Read') AS segments, counter(plan, 'Actual Rows') > 0 AS has_rows
  FROM plan_of('SELECT * FROM history_packed WHERE (itemid = 3 AND clock = 87303) OR (itemid = 7 AND clock BETWEEN 90000 AND 100000) OR (itemid = 3 AND clock = 90003)') plan;
-- items with clocks of their own are looked for one after the other
EXPLAIN (COSTS OFF) SELECT clock FROM history WHERE (itemid = 3 AND clock = 87303) OR (itemid = 7 AND clock < 90000);

-- first and last values, as Zabbix asks for them, and with the other ns of a second
CREATE FUNCTION graph(version text, call text, items text, first integer, last integer, step integer) RETURNS text LANGUAGE sql
RETURN replace(format(CASE version
    WHEN '6.0' THEN 'SELECT h.itemid,h.value,h.clock,h.ns,s.tick FROM T h JOIN (SELECT h2.itemid,h2.clock,%2$s(h2.ns) AS ns,s2.tick FROM T h2 JOIN (SELECT itemid,%1$s AS tick,%2$s(clock) AS clock FROM T WHERE itemid IN (%3$s) AND clock>=''%4$s'' AND clock<=''%5$s'' GROUP BY itemid,%1$s) s2 ON h2.itemid=s2.itemid AND h2.clock=s2.clock GROUP BY h2.itemid,h2.clock,s2.tick) s ON h.itemid=s.itemid AND h.clock=s.clock AND h.ns=s.ns'
    WHEN '6.0 without ns' THEN 'SELECT h.itemid,h.value,h.clock,h.ns,s.tick FROM T h JOIN (SELECT itemid,%1$s AS tick,%2$s(clock) AS clock FROM T WHERE itemid IN (%3$s) AND clock>=''%4$s'' AND clock<=''%5$s'' GROUP BY itemid,%1$s) s ON h.itemid=s.itemid AND h.clock=s.clock'
    ELSE 'SELECT h.itemid,h.value,h.clock,h.ns,s.tick FROM T h JOIN (SELECT h2.itemid,h2.clock,' || CASE version WHEN '7.0' THEN call WHEN 'other ns' THEN translate(call, 'AIXN', 'IANX') END || '(h2.ns) AS ns,s2.tick FROM T h2 JOIN (SELECT itemid,%1$s AS tick,%2$s(clock) AS clock FROM T WHERE itemid IN (%3$s) AND clock BETWEEN %4$s AND %5$s GROUP BY itemid,%1$s) s2 ON h2.itemid=s2.itemid AND h2.clock=s2.clock WHERE h2.clock BETWEEN %4$s AND %5$s GROUP BY h2.itemid,h2.clock,s2.tick) s ON h.itemid=s.itemid AND h.clock=s.clock AND h.ns=s.ns WHERE h.clock BETWEEN %4$s AND %5$s'
    END, 'CAST(clock AS BIGINT)-MOD(CAST(clock AS BIGINT),%6$s)', call, items, first, last), '%6$s', step::text);
SELECT version, call, string_agg(DISTINCT compare(graph(version, call, items, first, last, step) || ' ORDER BY h.itemid, h.clock, h.ns'), ', ') AS rows
  FROM unnest('{6.0,6.0 without ns,7.0,other ns}'::text[]) version, unnest('{MIN,MAX}'::text[]) call, unnest('{"''3''","1,2,3,4,5,6,7,8,9"}'::text[]) items,
       (VALUES (86400, 172799), (86400, 345599), (345600, 352799), (340000, 450000), (90000, 700000)) clocks(first, last), unnest('{900,7200}'::integer[]) step
 GROUP BY version, call ORDER BY version, call;
-- no join is left: each item is read once, and a row given out for each interval
SELECT version, string_agg(DISTINCT node ->> 'Node Type' || coalesce(' ' || (node ->> 'Custom Plan Provider') || ', ' || (node ->> 'Order'), ''), '; ') AS nodes,
       sum((node ->> 'Actual Rows')::numeric)::integer AS rows, bool_and((node ->> 'Plan Rows')::numeric BETWEEN (node ->> 'Actual Rows')::numeric / 2 AND 2 * (node ->> 'Actual Rows')::numeric) AS rows_known
  FROM unnest('{6.0,6.0 without ns,7.0}'::text[]) version, plan_of(replace(graph(version, 'MAX', '1,2,3,4,5,6,7,8,9', 86400, 172799, 7200), ' T ', ' history ')) plan,
       jsonb_path_query(plan, 'strict $.** ? (exists(@."Node Type"))', silent => true) node
 GROUP BY version ORDER BY version;
EXPLAIN (COSTS OFF) SELECT DISTINCT h.itemid, h.num, h.clock, 0 AS ns, s.tick FROM trends h JOIN (SELECT itemid, clock - clock % 86400 AS tick, min(clock) AS clock FROM trends WHERE itemid IN (3, 5) AND clock BETWEEN 86400 AND 259199 GROUP BY itemid, clock - clock % 86400) s ON h.itemid = s.itemid AND h.clock = s.clock WHERE h.clock BETWEEN 86400 AND 259199;
-- it is told in which order rows come of what it is joined with, what rows have to satisfy, and by whom they are read
SELECT compare(query) AS rows, (SELECT count(*) FROM plan_of(regexp_replace(query, '\mT\M', 'history', 'g')) plan, jsonb_path_query(plan, 'strict $.** ? (@."Order" starts with "newest of each")', silent => true)) AS scans
  FROM (VALUES ('min(clock)', 'itemid IN (1, 3, 5)', 'clock / 3600', ''), ('max(clock)', 'itemid = 3', 'clock / -3600', ''), ('max(clock)', 'itemid = 3 AND clock > 90000', 'itemid / 2', ''), ('max(clock)', 'itemid = 3', 'clock', ''),
               ('max(clock)', 'itemid IN (1, 3, 5)', 'clock / 3600', 'h.value > 400'), ('max(clock)', 'itemid IN (1, 3, 5)', 'clock / 3600', 'h.clock < 100000'), ('max(clock)', 'itemid IN (1, 3, 5)', 'clock / 3600', 's.key % 3 = 0 OR h.ns < 100'),
               -- these stay joins
               ('max(clock)', 'itemid IN (1, 3, 5)', 'clock % 3600', ''), ('max(clock)', 'itemid IN (1, 3, 5) AND value > 400', 'clock / 3600', ''), ('max(clock)', 'itemid IN (1, 3, 5)', 'clock / 3600 + itemid', ''),
               ('max(clock)', 'clock < 100000', 'clock / 3600', ''), ('max(clock) FILTER (WHERE ns > 100)', 'itemid = 3', 'clock / 3600', ''), ('max(clock) - 0', 'itemid = 3', 'clock / 3600', ''), ('max(clock)', 'itemid = 3', 'ns', ''),
               ('max(clock)', 'itemid IN (SELECT 3)', 'clock / 3600', ''), ('(max(clock) + min(clock)) / 2', 'itemid = 3', 'clock / 3600', '')) v(call, items, key, more),
       format('SELECT h.*, s.key FROM T h JOIN (SELECT itemid, %3$s AS key, %1$s AS clock FROM T WHERE %2$s GROUP BY itemid, %3$s) s ON h.itemid = s.itemid AND h.clock = s.clock %4$s ORDER BY 1, 2, 4, 5', call, items, key, 'WHERE ' || nullif(more, '')) query;
-- conditions from around it are not put in before rows are chosen
SELECT compare(format('SELECT g.* FROM (SELECT h.* FROM T h JOIN (SELECT itemid, min(clock) AS clock FROM T WHERE itemid IN (1, 2, 3) GROUP BY itemid, clock / 7200) s USING (itemid, clock)) g %s ORDER BY 1, 2, 4', more)) AS rows
  FROM unnest(ARRAY['WHERE clock > 90000', 'WHERE clock % 7 = 2', 'JOIN (VALUES (86402), (93603)) v(clock) ON v.clock = g.clock + 0', 'WHERE clock = 93602', 'WHERE EXISTS (SELECT FROM T o WHERE o.itemid = g.itemid AND o.clock = g.clock AND o.ns > 500)']) more;
-- when the numbers are parameters
PREPARE graph(bigint, bigint) AS SELECT h.value FROM history h JOIN (SELECT itemid, max(clock) AS clock FROM history WHERE itemid IN ($1, $2, 3) AND clock BETWEEN 86400 AND 172799 GROUP BY itemid, clock / 43200) s ON h.itemid = s.itemid AND h.clock = s.clock;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE graph(1, 2);
EXECUTE graph(1, 2);
RESET plan_cache_mode;
DEALLOCATE graph;
-- whoever may not read the table by name reads what a view shows of it
CREATE VIEW shown AS SELECT * FROM history;
CREATE ROLE packed_keys_reader;
GRANT USAGE ON SCHEMA packed_keys TO packed_keys_reader;
GRANT SELECT ON history TO packed_keys_reader;
SET ROLE packed_keys_reader;
SELECT count(*) FROM history h JOIN (SELECT itemid, max(clock) AS clock FROM history WHERE itemid = 3 GROUP BY itemid) s ON h.itemid = s.itemid AND h.clock = s.clock;
SELECT count(*) FROM history h JOIN (SELECT itemid, max(clock) AS clock FROM shown WHERE itemid = 3 GROUP BY itemid) s ON h.itemid = s.itemid AND h.clock = s.clock;
RESET ROLE;
REVOKE SELECT ON history FROM packed_keys_reader;
GRANT SELECT ON shown TO packed_keys_reader;
SET ROLE packed_keys_reader;
SELECT count(*) FROM shown h JOIN (SELECT itemid, max(clock) AS clock FROM history WHERE itemid = 3 GROUP BY itemid) s ON h.itemid = s.itemid AND h.clock = s.clock;
SELECT count(*) FROM shown h JOIN (SELECT itemid, max(clock) AS clock FROM shown WHERE itemid = 3 GROUP BY itemid) s ON h.itemid = s.itemid AND h.clock = s.clock;
RESET ROLE;
DROP VIEW shown;
DROP OWNED BY packed_keys_reader;
DROP ROLE packed_keys_reader;
-- joins of other kinds
SELECT compare(query) FROM unnest(ARRAY[
    'SELECT h.itemid, s.clock FROM T h LEFT JOIN (SELECT itemid, max(clock) AS clock FROM T WHERE itemid IN (1, 2) AND clock < 200000 GROUP BY itemid) s ON h.itemid = s.itemid AND h.clock = s.clock ORDER BY h.itemid, h.clock, h.ns, 2',
    'SELECT h.itemid, s.n FROM T h JOIN (SELECT itemid, count(*) AS n, max(ns) + 86399 AS clock FROM T WHERE itemid IN (1, 2) AND ns < 5 GROUP BY itemid) s ON h.itemid = s.itemid AND h.clock > s.clock ORDER BY h.itemid, h.clock, h.ns',
    'SELECT h.itemid, h.clock FROM T h JOIN (SELECT itemid, clock FROM T WHERE itemid = 1 UNION ALL SELECT itemid, clock FROM T WHERE itemid = 2 AND clock < 100000) s ON h.itemid = s.itemid AND h.clock = s.clock ORDER BY h.itemid, h.clock, h.ns',
    'SELECT h.itemid, h.clock FROM T h WHERE h.itemid NOT IN (SELECT itemid FROM T WHERE itemid < 35) ORDER BY h.itemid, h.clock, h.ns',
    'SELECT h.itemid, h.clock FROM T h WHERE h.clock > 90000 OR h.itemid IN (SELECT itemid FROM T WHERE itemid < 5) ORDER BY h.itemid, h.clock, h.ns',
    'SELECT h.itemid, h.clock FROM T h JOIN (SELECT itemid FROM T WHERE itemid < 5 GROUP BY ROLLUP (itemid)) s ON h.itemid = s.itemid ORDER BY h.itemid, h.clock, h.ns',
    'SELECT h.itemid, h.clock FROM T h WHERE (h.itemid, h.clock) IN (SELECT itemid, min(clock) FROM T WHERE clock > 340000 AND itemid > 30 GROUP BY itemid) ORDER BY h.itemid, h.clock, h.ns',
    'SELECT (SELECT count(*) FROM T h JOIN (SELECT itemid, clock FROM T WHERE itemid = o.itemid AND clock > 400000) s ON h.itemid = s.itemid AND h.clock = s.clock) FROM (VALUES (1), (2)) o(itemid)']) query;
-- of nested subqueries each is looked at once, not twice for each level
SELECT compare(repeat('SELECT h.itemid, max(h.clock) AS clock FROM T h JOIN (', 30) || 'SELECT itemid, max(clock) AS clock FROM T WHERE itemid IN (1, 2) AND clock < 200000 GROUP BY itemid'
    || repeat(') s ON h.itemid = s.itemid AND h.clock = s.clock GROUP BY h.itemid', 30) || ' ORDER BY 1, 2') AS nested;
DROP TABLE history, trends CASCADE;
DROP SCHEMA packed_keys CASCADE;
