-- A SELECT of an item's rows is read without the planner: it gives the same rows in the same
-- order, the same errors, names and types as a plain table and as the planner's plan.
\a \t
LOAD 'zbxhist';
SET client_min_messages = warning;
SET zbxhist.allow_packed_drop = on;
SET timezone = 'UTC';
CREATE TABLE history (itemid bigint NOT NULL, clock integer DEFAULT 0 NOT NULL, value text DEFAULT '' NOT NULL, ns integer DEFAULT 0 NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE plain (LIKE history INCLUDING ALL);
SELECT zbxhist.create_parent('history', premake => 0);
SELECT count(zbxhist.create_partition('history', '1970-01-02'::date + n)) AS days FROM generate_series(0, 5) n;
DO $$
BEGIN
    EXECUTE (SELECT format('DROP TABLE %s', p.partition) FROM zbxhist.list_partitions('history') p WHERE p.from_clock > 1000000);
END $$;
-- days begin at 86400, 172800 (both are packed), 259200, 345600, 432000, 518400 (empty); the first 10000 seconds and the last ones are the parent's own
INSERT INTO plain SELECT i, c, 'value ' || c || ' of ' || i, n * 1000 FROM generate_series(1, 4) i, generate_series(5000, 518399, 3600) c, generate_series(0, 1) n;
INSERT INTO plain VALUES (5, 300000, repeat('long', 3000), -2147483648), (5, 300000, 'last of a second', 2147483647), (5, 100000, 'packed', 999999999), (5, 800000, 'after all', 1), (-7, -5, 'before 1970', 0), (-7, 2147483647, 'last', 5), (-7, -2147483648, 'first', 5),
    (9223372036854775807, 300000, 'last item', 0);
INSERT INTO history SELECT * FROM plain;
CALL zbxhist.pack('history', '1970-01-02');
CALL zbxhist.pack('history', '1970-01-03');
-- rows that wait in the parent
SET zbxhist.enable_routing = off;
INSERT INTO plain VALUES (1, 300001, 'waits', 7), (2, 86400, 'late', 3);
INSERT INTO history VALUES (1, 300001, 'waits', 7), (2, 86400, 'late', 3);
RESET zbxhist.enable_routing;
ANALYZE plain;

-- what EXPLAIN says
EXPLAIN (COSTS OFF) SELECT * FROM history h WHERE h.itemid='3' AND h.clock>90000 ORDER BY h.clock DESC,h.ns DESC LIMIT 2;
EXPLAIN (COSTS OFF, VERBOSE) select clock,ns,value from history where itemid=3 and clock>90000 and clock<=500000;
-- 18 and later count in decimals, and tell what is not disabled
CREATE FUNCTION explained(options text, statement text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE output text;
BEGIN
    FOR output IN EXECUTE format('EXPLAIN (%s) %s', options, statement) LOOP
        RETURN QUERY SELECT regexp_replace(line, '(rows=\d+)\.00', '\1') FROM regexp_split_to_table(output, '\n') line WHERE line !~ 'Disabled';
    END LOOP;
END $$;
SELECT explained('COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF', 'SELECT clock FROM history WHERE itemid = 1 AND clock BETWEEN 172700 AND 270000');
SELECT explained('COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF', 'SELECT * FROM history WHERE itemid IN (1, 2, 3, 99) AND clock < 260000 ORDER BY itemid, clock DESC');
SELECT explained('COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF', 'SELECT value FROM history WHERE itemid IN (1, 2, 3, 99) AND clock < 260000 ORDER BY clock DESC LIMIT 5');
SELECT explained('COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF', 'SELECT clock FROM history WHERE itemid = 1 AND clock < 0 LIMIT 0');
SELECT explained('COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF', 'SELECT clock FROM history WHERE itemid = 1 AND clock BETWEEN 172700 AND 270000 AND value LIKE ''%1%'' AND ns <> 0');
SELECT explained('COSTS OFF, ANALYZE, VERBOSE, TIMING OFF, SUMMARY OFF, BUFFERS OFF', 'SELECT count(*), max(value) FROM history WHERE itemid IN (1, 2) AND clock BETWEEN 270000 AND 290000');
SELECT explained('FORMAT json', 'SELECT clock FROM history WHERE itemid = 1 ORDER BY clock DESC LIMIT 3');
SELECT explained('FORMAT xml', 'SELECT clock FROM history WHERE 1 = itemid AND ns < 5');
SELECT explained('FORMAT yaml, COSTS OFF', 'SELECT clock FROM history WHERE itemid = 1');
CREATE FUNCTION query_ids(statement text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (VERBOSE, FORMAT json) ' || statement INTO plan;
    RETURN plan -> 0 -> 'Query Identifier';
END $$;
SET compute_query_id = on;
SELECT count(DISTINCT query_ids(q)) AS different, min(abs(query_ids(q))) > 0 AS given FROM unnest(ARRAY['SELECT clock FROM history WHERE itemid = 1', 'SELECT clock FROM history WHERE itemid = 2', 'SELECT ns FROM history WHERE itemid = 2']) q;
RESET compute_query_id;

-- what is recognised
CREATE DOMAIN whole AS integer;
CREATE FUNCTION is_read(statement text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || statement INTO plan;
    RETURN plan @? '$[0].**."Custom Plan Provider" ? (@ == "ZbxhistItemRows")';
END $$;
SELECT is_read(format('SELECT %s', rest)), rest FROM unnest(ARRAY[
    'clock FROM history WHERE itemid = 3',
    'value, value AS again, item FROM public.history AS h (item) WHERE h.item = 3',
    '* FROM history WHERE 3 = itemid AND 5 < clock AND clock::integer <= 7 AND ns BETWEEN 1 AND 2',
    '* FROM history WHERE (itemid = 3::smallint AND (clock >= 5::bigint AND clock < 9999999999)) AND clock > -5',
    '* FROM history WHERE itemid = ''3''::bigint AND clock = ''5''::text::integer ORDER BY ns DESC LIMIT ''1''',
    '* FROM history WHERE itemid = 3 AND clock = 5 ORDER BY itemid, clock DESC, ns FETCH FIRST 2 ROWS ONLY',
    '* FROM history WHERE itemid = 3 ORDER BY itemid DESC, clock LIMIT 2',
    '* FROM history WHERE itemid = 3 ORDER BY clock, itemid, ns LIMIT NULL',
    'value FROM history WHERE itemid = 3 ORDER BY clock USING >',
    '* FROM history WHERE itemid = NULL AND clock > NULL LIMIT ALL',
    '* FROM history WHERE itemid IN (3, 4) AND clock > 5 LIMIT 7',
    '* FROM history WHERE itemid IN (''3'', 4::bigint, NULL) ORDER BY itemid, clock DESC, ns DESC',
    '* FROM history WHERE itemid = ANY (''{3,4}'') AND clock = 5 ORDER BY itemid DESC, clock',
    '* FROM history WHERE itemid = ANY (ARRAY[3, 4]) ORDER BY itemid',
    'value FROM history WHERE itemid IN (3, 4) ORDER BY clock',
    '* FROM history WHERE itemid IN (3, 4) ORDER BY clock DESC, itemid, ns DESC LIMIT 5',
    '* FROM history WHERE itemid IN (3, 4) AND clock = 5 ORDER BY ns LIMIT 5',
    '* FROM history WHERE itemid IN (3, 4) AND itemid = 3 AND itemid > 2',
    '* FROM history WHERE itemid = 3.5 AND clock > 5.5 AND ns < 6.5::double precision',
    '* FROM history WHERE itemid = 3 AND to_timestamp(clock) > ''1970-01-04 00:00+00''::timestamptz',
    '* FROM history WHERE itemid = 3 AND clock <> 5',
    '* FROM history WHERE itemid = 3 AND clock + 0 > 5 AND clock > ns',
    '* FROM history WHERE itemid IN (3, 4) AND upper(value) LIKE ''%X%'' ORDER BY clock DESC LIMIT 2',
    '* FROM history WHERE clock IN (3, 4) AND itemid = 3 AND value <> ALL (''{a,b}'')',
    'count(*) FROM history WHERE itemid = 3 AND clock > 259200',
    'max(value) AS highest, count(ns), count(*), avg(clock), max(ns) FROM history WHERE itemid IN (3, 4) AND clock BETWEEN 300000 AND 400000 AND value > ''x''',
    'sum(ns) FROM history WHERE itemid = 3 AND clock = 90000',
    -- and what is not
    '* FROM history',
    '* FROM history WHERE clock > 5',
    '* FROM history WHERE itemid > 3',
    '* FROM history WHERE itemid = 3 OR clock = 5',
    '* FROM history WHERE NOT itemid = 3',
    '* FROM history WHERE itemid = 3 AND clock > extract(epoch FROM now())::integer',
    '* FROM history WHERE itemid = clock',
    '* FROM history WHERE itemid = 3 AND (clock, ns) > (5, 6)',
    '* FROM history WHERE itemid = 3 AND clock IS NOT NULL',
    '* FROM history WHERE itemid = (SELECT 3)',
    '* FROM history WHERE itemid NOT IN (3, 4)',
    '* FROM history WHERE itemid = 3 AND (value > ''x'' OR ns > 0)',
    '* FROM history WHERE itemid = 3 AND random() < ns',
    '* FROM history WHERE itemid = 3 AND is_read(value) = true',
    '* FROM history h WHERE itemid = 3 AND h > ROW(1, 2, ''x'', 3)',
    '* FROM history WHERE itemid = 3 AND tableoid > 5',
    '* FROM history WHERE itemid = 3 AND ns > 5::whole',
    '* FROM history WHERE itemid = 3 AND 1 = 1',
    '* FROM history WHERE itemid = 3 AND ns > NULL',
    '* FROM history WHERE itemid IN (3, ns)',
    '* FROM history WHERE itemid = ALL (ARRAY[3, 4])',
    '* FROM history WHERE itemid = ANY (ARRAY[[3, 4], [5, 6]])',
    '* FROM history WHERE itemid = ANY (ARRAY(SELECT 3))',
    '* FROM history WHERE itemid IN (SELECT 3)',
    '* FROM history WHERE itemid IN (3, 4) ORDER BY clock, ns DESC',
    '* FROM history WHERE itemid IN (3, 4) ORDER BY clock LIMIT 1000',
    '* FROM history WHERE itemid = 3 ORDER BY clock DESC, ns',
    '* FROM history WHERE itemid = 3 ORDER BY ns',
    '* FROM history WHERE itemid = 3 ORDER BY ns, clock',
    '* FROM history WHERE itemid = 3 ORDER BY clock, ns, value',
    '* FROM history WHERE itemid = 3 ORDER BY value',
    '* FROM history WHERE itemid = 3 ORDER BY -clock',
    '* FROM history WHERE itemid = 3 LIMIT 2 OFFSET 1',
    '* FROM history WHERE itemid = 3 ORDER BY clock FETCH FIRST 2 ROWS WITH TIES',
    '* FROM history WHERE itemid = 3 LIMIT (SELECT 1)',
    '* FROM history WHERE itemid = 3 FOR UPDATE',
    '* FROM ONLY history WHERE itemid = 3',
    'h FROM history h WHERE itemid = 3',
    'FROM history WHERE itemid = 3',
    'ctid FROM history WHERE itemid = 3',
    'tableoid, * FROM history WHERE itemid = 3',
    'clock + 1 FROM history WHERE itemid = 3',
    '1 FROM history WHERE itemid = 3',
    'count(*) FROM history WHERE itemid = 3 AND clock > 90000 AND clock < 9999999',
    'count(*) FROM history WHERE itemid > 3 AND clock > 259200',
    'max(clock), max(clock) FROM history WHERE itemid = 3 AND clock > 259200',
    'count(*) + 1 FROM history WHERE itemid = 3 AND clock > 259200',
    'count(*), 1 FROM history WHERE itemid = 3 AND clock > 259200',
    'count(DISTINCT ns) FROM history WHERE itemid = 3 AND clock > 259200',
    'count(ns + 1) FROM history WHERE itemid = 3 AND clock > 259200',
    'count(*) FILTER (WHERE ns > 0) FROM history WHERE itemid = 3 AND clock > 259200',
    'string_agg(value, '','') FROM history WHERE itemid = 3 AND clock > 259200',
    'count(*) FROM history WHERE itemid = 3 AND clock > 259200 HAVING count(*) > 1',
    'count(*) FROM history WHERE itemid = 3 AND clock > 259200 LIMIT 1',
    'count(*) FROM history WHERE itemid = 3 AND clock > 259200 ORDER BY 1',
    'count(*) FROM history WHERE itemid = 3 AND clock > 259200 GROUP BY itemid',
    'DISTINCT clock FROM history WHERE itemid = 3',
    'clock FROM history WHERE itemid = 3 GROUP BY clock',
    'row_number() OVER (), clock FROM history WHERE itemid = 3',
    'generate_series(1, 2), clock FROM history WHERE itemid = 3',
    'clock FROM history WHERE itemid = 3 UNION ALL SELECT 1',
    '* FROM (SELECT * FROM history) h WHERE itemid = 3',
    'h.* FROM history h, plain WHERE h.itemid = 3',
    'h.* FROM history h JOIN plain USING (itemid) WHERE h.itemid = 3',
    '* FROM plain WHERE itemid = 3',
    '* FROM history_p19700104 WHERE itemid = 3']) rest;
SET zbxhist.enable_item_scan = off;
SELECT is_read('SELECT * FROM history WHERE itemid = 3');
RESET zbxhist.enable_item_scan;

-- what a statement gives, as one text: its rows with names of columns, or an error
CREATE FUNCTION answer(statement text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    line record;
    result text[] := '{}';
BEGIN
    FOR line IN EXECUTE statement LOOP result := result || format('{"clock":%s %s %s', to_json(line) ->> 'clock', left(to_json(line)::text, 60), md5(line::text)); END LOOP;
    RETURN result;
EXCEPTION WHEN OTHERS THEN RETURN ARRAY[SQLSTATE, SQLERRM];
END $$;
CREATE TABLE question (number serial, targets text, conditions text, ordering text, maximum text, how text);
-- how: rows are compared in their order, without it, by what they are ordered by, or counted
INSERT INTO question (targets, conditions, ordering, maximum, how)
SELECT t, c, o, l, CASE WHEN l <> '' AND o = '' THEN 'count' WHEN o = '' THEN 'any' WHEN o LIKE '%ns%' THEN 'rows' WHEN l = '' THEN 'any' ELSE 'clocks' END
  FROM unnest(ARRAY['*', 'clock, ns, value', 'value, clock AS clock', 'clock, clock AS second, itemid']) WITH ORDINALITY t (t, tn),
       unnest(ARRAY['itemid = 1', 'itemid = 3 AND clock > 90000', 'itemid = 2 AND clock > 86399 AND clock <= 176000', 'itemid = ''4'' AND clock BETWEEN 259199 AND 345601', 'itemid = 5', 'itemid = 1 AND clock = 300001',
                    'itemid = 5 AND clock = ''300000''', 'itemid = 5 AND clock = 300000 AND ns > 0', 'itemid = 5 AND clock >= 300000 AND ns <= ''999999999''', 'itemid = 1 AND ns = 1000 AND clock < 400000', 'itemid = -7', 'itemid = -7 AND clock < 0', 'itemid = -7 AND clock > 2147483646',
                    'itemid = -7 AND clock > 2147483647', 'itemid = -7 AND clock < -2147483648::bigint', 'itemid = -7 AND clock >= -9223372036854775808', 'itemid = 9223372036854775807', '2 = itemid AND 500000 < clock', 'itemid = 99', 'itemid = 1 AND clock > 400000 AND clock < 300000', 'itemid = 1 AND clock > NULL',
                    'itemid = NULL', 'itemid = 1 AND clock = 87800::smallint', 'itemid = 1 AND clock > 99999999999::integer', 'itemid = 1 AND clock < 99999999999', 'itemid = 1 AND ns < NULL', 'itemid = ''x''', 'itemid = 1 AND clock > ''abc''::text::integer', 'itemid = 3 AND clock >= 518400',
                    'itemid = 3 AND itemid = 3', 'itemid = 3 AND itemid = 4', 'itemid = 5.0 AND clock >= 299999.5', 'itemid = 5.5', 'itemid = 5 AND ns < 0.5 AND clock = 300000', 'itemid = 5 AND ns > 9999999999', 'itemid = 5 AND ns <> 0', 'itemid = 5 AND ns = 999999999.0 AND ns > 5', 'itemid = 1 AND clock::double precision < 90000.5',
                    'itemid = 1 AND to_timestamp(clock) >= ''1970-01-04 11:20+00''::timestamptz AND clock < 350000']) WITH ORDINALITY c (c, cn),
       unnest(ARRAY['', 'ORDER BY clock', 'ORDER BY clock DESC', 'ORDER BY clock, ns', 'ORDER BY itemid, clock DESC, ns DESC']) WITH ORDINALITY o (o, n),
       unnest(ARRAY['', 'LIMIT 1', 'LIMIT 3', 'LIMIT 0', 'LIMIT 1000', 'LIMIT -1', 'LIMIT NULL']) WITH ORDINALITY l (l, ln)
 WHERE (tn * 7 + cn * 3 + n * 5 + ln) % 4 = 0
-- several items
UNION ALL SELECT '*', c, o, l, CASE WHEN l <> '' AND o = '' THEN 'count' WHEN o NOT LIKE '%ns%' THEN 'any' ELSE 'rows' END FROM
    unnest(ARRAY['itemid IN (1, 5, 2, 99, 1)', 'itemid IN (4, 3) AND clock > 250000 AND clock < 350000', 'itemid = ANY (''{5,-7,NULL,1}''::bigint[]) AND clock < 300001', 'itemid = ANY (ARRAY[5, 1]) AND ns > 0', 'itemid = ANY (NULL::bigint[])', 'itemid = ANY (''{}'')', 'itemid IN (NULL, 5)',
                 'itemid IN (5::smallint, 9223372036854775807)', 'itemid IN (5, 99999999999::integer)', 'itemid IN (1, 5, 2) AND itemid > 1 AND itemid <= 5', 'itemid IN (1, 5, 2) AND itemid = ANY (''{7,5}'') AND clock > 200000.5', 'itemid = ANY (ARRAY[[1, 2], [5, 1]]) AND clock = 300000']) c,
    unnest(ARRAY['', 'ORDER BY itemid, clock, ns', 'ORDER BY itemid DESC, clock DESC, ns DESC', 'ORDER BY itemid DESC, clock, ns']) o, unnest(ARRAY['', 'LIMIT 1', 'LIMIT 130', 'LIMIT 0']) l
UNION ALL SELECT t, c, o, l, 'rows' FROM unnest(ARRAY['*', 'value']) t,
    unnest(ARRAY['itemid IN (1, 5, 2, 99, 1)', 'itemid IN (4, 3) AND clock > 250000 AND clock < 350000', 'itemid = ANY (''{5,-7,NULL,1}''::bigint[]) AND clock < 300001', 'itemid = ANY (ARRAY[5, 1]) AND ns > 0', 'itemid = ANY (''{}'')', 'itemid IN (5, 99999999999::integer)', 'itemid IN (5, 1) AND clock = 300000']) c,
    unnest(ARRAY['ORDER BY clock, itemid, ns', 'ORDER BY clock DESC, ns DESC, itemid', 'ORDER BY ns, itemid DESC, clock']) o, unnest(ARRAY['', 'LIMIT 1', 'LIMIT 130', 'LIMIT 0', 'LIMIT -1', 'LIMIT NULL']) l
UNION ALL SELECT 'itemid, clock', 'itemid IN (1, 2, 5) AND clock > 200000', 'ORDER BY itemid' || d, '', 'any' FROM unnest(ARRAY['', ' DESC', ', clock', ', clock DESC']) d
-- other conditions
UNION ALL SELECT t, c, o, l, CASE WHEN l <> '' AND o = '' THEN 'count' WHEN o = '' THEN 'any' ELSE 'rows' END FROM unnest(ARRAY['*', 'clock, ns']) WITH ORDINALITY t (t, tn),
    unnest(ARRAY['itemid = 1 AND value LIKE ''%00 of 1''', 'itemid = 5 AND length(value) > 20', 'itemid IN (1, 5, 2) AND value = ANY (''{waits,late,packed,last of a second}'')', 'itemid = 3 AND ns <> 0 AND clock <> 300200 AND clock > 250000', 'itemid = 4 AND value > ''value 3'' AND ns < 500', 'itemid = 2 AND clock IN (87800, 300200, 5)',
                 'itemid = 1 AND 10 / (ns - 1000) < 5 AND clock > 300000', 'itemid IN (4, 3) AND upper(value) LIKE ''VALUE 9%''', 'itemid = 5 AND value <> ALL (''{a,b,c,d,e,f,g,h,i,packed}'')', 'itemid = 2 AND clock % 7200 = ns', 'itemid = 1 AND random() < 2 AND clock < 95000', 'itemid = -7 AND value > NULL', 'itemid = 3 AND clock > ns AND 400000 > clock + 0',
                 'itemid = 2 AND ns = ANY (''{3,1000}'') AND clock > 80000 AND clock < 110000',
                 'itemid = 1 AND 10 / ns < 5 AND ns <> 0 AND clock > 400000', 'itemid = 1 AND value::integer > 0 AND ns < 0', 'itemid = 1 AND 10 / ns > 0 AND ns < NULL', 'itemid = 1 AND 10 / ns > 0 AND 1 = 2']) WITH ORDINALITY c (c, cn),
    unnest(ARRAY['', 'ORDER BY clock, ns, itemid', 'ORDER BY clock DESC, ns DESC, itemid']) WITH ORDINALITY o (o, n), unnest(ARRAY['', 'LIMIT 2', 'LIMIT 0']) WITH ORDINALITY l (l, ln) WHERE (tn + cn + n + ln) % 2 = 0
-- aggregates
UNION ALL SELECT t, c, '', '', 'rows' FROM unnest(ARRAY['count(*)', 'count(value) AS n, min(ns) AS clock, count(*)', 'max(value), sum(ns), avg(clock), max(value)', 'max(clock), count(*)', 'max(clock)', 'count(*) + 1', 'count(DISTINCT ns)', 'count(*) FILTER (WHERE ns > 0)', 'min(value), 1']) t,
    unnest(ARRAY['itemid = 1', 'itemid = 3 AND clock > 260000 AND clock <= 345600', 'itemid = 2 AND clock BETWEEN 300000 AND 400000 AND ns = 1000', 'itemid IN (1, 5) AND clock > 300000 AND value > ''value 4''', 'itemid = 99', 'itemid = 1 AND clock > 99999999999::integer', 'itemid = 5 AND clock <= 100000', 'itemid = 2 AND clock < 90000',
                 'itemid = ANY (''{}'')', 'itemid = 1 AND clock > NULL', 'itemid = 1 AND clock > 300000 AND 10 / (ns - ns) < 5', 'itemid = 1 AND 10 / ns < 5 AND ns <> 0', 'itemid = 1 AND clock > 400000 AND value::integer > 0 AND ns < 0']) c
-- rows of one second and the order of ns
UNION ALL SELECT '*', 'itemid = 5 AND clock = 300000', o, l, 'rows' FROM unnest(ARRAY['ORDER BY ns', 'ORDER BY ns DESC', 'ORDER BY clock, ns DESC']) o, unnest(ARRAY['', 'LIMIT 1']) l;
CREATE FUNCTION answers(relation text) RETURNS TABLE (number integer, answer text[]) LANGUAGE sql
BEGIN ATOMIC
    SELECT q.number, answer(concat_ws(' ', 'SELECT', q.targets, 'FROM', relation, 'WHERE', q.conditions, q.ordering, q.maximum)) FROM question q;
END;
-- same answers? LIMIT may take either of the rows that are alike by ORDER BY
CREATE FUNCTION same(how text, a text[], b text[]) RETURNS boolean LANGUAGE sql
RETURN CASE how WHEN 'rows' THEN a = b WHEN 'any' THEN ARRAY(SELECT unnest(a) ORDER BY 1) = ARRAY(SELECT unnest(b) ORDER BY 1)
    WHEN 'clocks' THEN ARRAY(SELECT substring(r FROM '"clock":-?[0-9]+') FROM unnest(a) r) = ARRAY(SELECT substring(r FROM '"clock":-?[0-9]+') FROM unnest(b) r) ELSE cardinality(a) = cardinality(b) END;
CREATE PROCEDURE ask(INOUT questions bigint, INOUT rows bigint, INOUT errors bigint, INOUT different bigint[]) LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMP TABLE expected AS SELECT * FROM answers('plain');
    CREATE TEMP TABLE read AS SELECT * FROM answers('history');
    SET LOCAL zbxhist.enable_item_scan = off;
    CREATE TEMP TABLE planned AS SELECT * FROM answers('history');
    RESET zbxhist.enable_item_scan;
    SELECT count(*), sum(cardinality(e.answer)) FILTER (WHERE e.answer[1] LIKE '{%'), count(*) FILTER (WHERE cardinality(e.answer) = 2 AND e.answer[1] NOT LIKE '{%'),
           (array_agg(q.number ORDER BY q.number) FILTER (WHERE NOT same(q.how, e.answer, r.answer) OR NOT same(q.how, p.answer, r.answer)))[:5]
      INTO questions, rows, errors, different FROM question q JOIN expected e USING (number) JOIN read r USING (number) JOIN planned p USING (number);
    DROP TABLE expected, read, planned;
END $$;
CALL ask(0, 0, 0, NULL);
SELECT count(*) FILTER (WHERE is_read(concat_ws(' ', 'SELECT', q.targets, 'FROM history WHERE', q.conditions, q.ordering, q.maximum))) AS read, count(*) FROM question q
 WHERE cardinality(answer(concat_ws(' ', 'EXPLAIN SELECT', q.targets, 'FROM history WHERE', q.conditions, q.ordering, q.maximum))) <> 2;
-- own changes, before they are committed, and taken back
BEGIN;
INSERT INTO plain SELECT i, c, 'own', 5 FROM generate_series(1, 5) i, generate_series(4000, 600000, 50000) c;
INSERT INTO history SELECT i, c, 'own', 5 FROM generate_series(1, 5) i, generate_series(4000, 600000, 50000) c;
UPDATE plain SET value = 'changed' WHERE clock % 5000 = 0;
UPDATE history SET value = 'changed' WHERE clock % 5000 = 0;
CALL ask(0, 0, 0, NULL);
SAVEPOINT one;
DELETE FROM plain WHERE itemid = 1 AND clock < 270000;
DELETE FROM history WHERE itemid = 1 AND clock < 270000;
INSERT INTO plain VALUES (1, 100000, 'in a subtransaction', 1), (3, 400000, 'in a subtransaction', 1);
INSERT INTO history VALUES (1, 100000, 'in a subtransaction', 1), (3, 400000, 'in a subtransaction', 1);
CALL ask(0, 0, 0, NULL);
ROLLBACK TO one;
DELETE FROM plain WHERE itemid = 2;
DELETE FROM history WHERE itemid = 2;
CALL ask(0, 0, 0, NULL);
ROLLBACK;
CALL ask(0, 0, 0, NULL);
-- names and types
CREATE TABLE of_plain AS SELECT itemid, value AS "Value", ns, clock, ns AS again FROM plain WHERE itemid = 5 AND clock = 300000 ORDER BY ns;
CREATE TABLE of_history AS SELECT itemid, value AS "Value", ns, clock, ns AS again FROM history WHERE itemid = 5 AND clock = 300000 ORDER BY ns;
SELECT p.attname, p.atttypid::regtype, p.atttypid = h.atttypid AND p.atttypmod = h.atttypmod AND p.attcollation = h.attcollation AS same
  FROM pg_attribute p JOIN pg_attribute h USING (attnum, attname) WHERE p.attrelid = 'of_plain'::regclass AND h.attrelid = 'of_history'::regclass AND attnum > 0 ORDER BY attnum;
SELECT count(*) FROM of_plain NATURAL JOIN of_history;
SELECT itemid, value AS "Value", ns FROM history WHERE itemid = 1 \gdesc

-- prepared statements: parameters of other types, nulls, limits; custom plans and a generic one
PREPARE read(bigint, integer, bigint, bigint) AS SELECT clock, ns FROM history WHERE itemid = $1 AND clock > $2 AND $3 >= clock ORDER BY clock DESC, ns DESC LIMIT $4;
PREPARE with_cast(bigint) AS SELECT clock FROM history WHERE itemid = 5 AND clock > $1::integer ORDER BY clock;
PREPARE listed(bigint[], integer) AS SELECT itemid, clock, ns FROM history WHERE itemid = ANY ($1) AND clock = $2 ORDER BY itemid DESC, ns;
PREPARE in_list(integer, bigint) AS SELECT itemid, ns FROM history WHERE itemid IN ($1, $2, 5) AND clock = 300000;
PREPARE sorted(bigint[], integer) AS SELECT ns, itemid FROM history WHERE itemid = ANY ($1) AND clock > 299999 AND clock < 310000 ORDER BY clock DESC, ns DESC LIMIT $2;
PREPARE filtered(bigint, text) AS SELECT clock, ns FROM history WHERE itemid = $1 AND clock > 500000 AND value <> $2 ORDER BY clock DESC, ns DESC;
PREPARE counted(bigint, text) AS SELECT count(*), min(value) FROM history WHERE itemid = $1 AND clock > 300000 AND clock < 312000 AND value <> $2;
PREPARE divided(integer) AS SELECT count(*) FROM history WHERE itemid = 99 AND clock > 300000 AND 10 / $1 > 0;
SET plan_cache_mode = force_custom_plan;
EXECUTE filtered(1, 'value 516200 of 1');
EXECUTE counted(1, 'waits');
EXECUTE sorted('{2,5,1,1}', 3);
EXECUTE listed('{2,5,1,1}', 300001);
EXECUTE in_list(1, NULL);
EXECUTE read(1, 90000, 345600, 3);
EXECUTE read(1, NULL, 345600, 3);
EXECUTE read(5, 0, 9999999999, NULL);
EXECUTE read(1, 90000, 345600, -1);
EXECUTE with_cast(300000);
EXECUTE with_cast(99999999999);
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE read(1, 90000, 345600, 3);
EXPLAIN (COSTS OFF) EXECUTE listed('{2,5,1,1}', 300001);
EXPLAIN (COSTS OFF, VERBOSE) EXECUTE filtered(1, 'x');
EXPLAIN (COSTS OFF, VERBOSE) EXECUTE counted(1, 'x');
EXECUTE filtered(1, 'value 516200 of 1');
EXECUTE filtered(1, NULL);
EXECUTE counted(1, 'waits');
EXECUTE counted(1, NULL);
EXECUTE counted(NULL, 'waits');
EXECUTE divided(0);
EXECUTE sorted('{2,5,1,1}', 3);
EXECUTE sorted('{2,5,NULL}', -1);
EXECUTE listed('{2,5,1,1}', 300001);
EXECUTE listed('{5,NULL,7}', 300000);
EXECUTE listed(NULL, 300000);
EXECUTE in_list(1, 9223372036854775807);
EXECUTE read(1, 90000, 345600, 3);
EXECUTE read(1, NULL, 345600, 3);
EXECUTE read(NULL, 0, 345600, 3);
EXECUTE read(5, 0, 9999999999, NULL);
EXECUTE read(1, 90000, 345600, 0);
EXECUTE read(1, 90000, 345600, -1);
EXECUTE with_cast(300000);
EXECUTE with_cast(99999999999);
-- ... while hours come and go
PREPARE newest AS SELECT clock, value FROM history WHERE itemid = 1 ORDER BY clock DESC LIMIT 1;
EXECUTE newest;
SELECT zbxhist.create_partition('history', '1970-01-08');
EXECUTE newest;
INSERT INTO history VALUES (1, 700000, 'of a new day', 0);
EXECUTE newest;
CALL zbxhist.pack('history', '1970-01-08');
SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE name = 'newest';
EXECUTE newest;
BEGIN;
DELETE FROM history WHERE clock = 700000;
EXECUTE newest;
INSERT INTO history VALUES (1, 700001, 'of my own', 0);
EXECUTE newest;
ROLLBACK;
EXECUTE newest;
RESET plan_cache_mode;

-- cursors; one that may be read backwards is the planner's
BEGIN;
DECLARE forward NO SCROLL CURSOR FOR SELECT clock, ns FROM history WHERE itemid = 2 AND clock > 80000 ORDER BY clock, ns;
DECLARE held NO SCROLL CURSOR WITH HOLD FOR SELECT clock, ns FROM history WHERE itemid = 2 AND clock > 500000 ORDER BY clock, ns;
DECLARE usual SCROLL CURSOR FOR SELECT clock, ns FROM history WHERE itemid = 2 AND clock > 500000 ORDER BY clock, ns;
FETCH 3 FROM forward;
INSERT INTO history VALUES (2, 87000, 'not seen', 0);
MOVE 2 IN forward;
FETCH 2 FROM forward;
DELETE FROM history WHERE itemid = 2;
FETCH 1 FROM forward;
MOVE ALL IN forward;
FETCH 1 FROM forward;
FETCH 2 FROM usual;
FETCH BACKWARD 1 FROM usual;
SAVEPOINT one;
FETCH BACKWARD 1 FROM forward;
ROLLBACK TO one;
CLOSE usual;
COMMIT;
FETCH 2 FROM held;
CLOSE held;
INSERT INTO history SELECT * FROM plain WHERE itemid = 2;

-- functions: in SQL, in PL/pgSQL, and called by the statement whose rows they see
CREATE FUNCTION newest_clock(item bigint) RETURNS integer LANGUAGE sql AS 'SELECT clock FROM history WHERE itemid = item ORDER BY clock DESC LIMIT 1';
CREATE FUNCTION count_rows(item bigint, since integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    found history;
    result integer := 0;
BEGIN
    FOR found IN SELECT * FROM history WHERE itemid = item AND clock >= since LOOP result := result + 1; END LOOP;
    RETURN result;
END $$;
SELECT newest_clock(i), count_rows(i, 300000), (SELECT count(*) FROM plain WHERE itemid = i AND clock >= 300000) FROM generate_series(1, 3) i;
BEGIN;
INSERT INTO history SELECT 50, c, count_rows(50, 0), 0 FROM generate_series(90000, 470000, 90000) c RETURNING clock, value;
INSERT INTO history VALUES (51, 300000, '', 0), (51, 300001, count_rows(51, 0), 0), (51, 90000, count_rows(51, 0), 0);
SELECT clock, value FROM history WHERE itemid = 51 ORDER BY clock;
ROLLBACK;

-- privileges, of the table and of its columns
CREATE ROLE zbxhist_select_reader;
SET ROLE zbxhist_select_reader;
SELECT clock FROM history WHERE itemid = 5;
RESET ROLE;
GRANT SELECT (itemid, clock) ON history TO zbxhist_select_reader;
SET ROLE zbxhist_select_reader;
SELECT clock FROM history WHERE itemid = 5 AND clock > 300000;
SELECT clock FROM history WHERE itemid = 5 AND ns > 0;
SELECT clock FROM history WHERE itemid = 5 AND value <> '' AND clock = 300000;
SELECT count(*) FROM history WHERE itemid = 5 AND clock = 300000;
SELECT max(ns) FROM history WHERE itemid = 5 AND clock = 300000;
SELECT clock FROM history WHERE itemid = 5 AND clock = 300000 ORDER BY ns;
SELECT value FROM history WHERE itemid = 5;
EXPLAIN (COSTS OFF) SELECT clock FROM history WHERE itemid = 5;
PREPARE of_reader AS SELECT clock FROM history WHERE itemid = 5 AND clock > 300000;
EXECUTE of_reader;
RESET ROLE;
REVOKE SELECT (clock) ON history FROM zbxhist_select_reader;
SET ROLE zbxhist_select_reader;
EXECUTE of_reader;
RESET ROLE;
EXECUTE of_reader;
-- row security
GRANT SELECT ON history TO zbxhist_select_reader;
ALTER TABLE history ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON history USING (clock < 200000);
EXECUTE of_reader;
SET ROLE zbxhist_select_reader;
EXECUTE of_reader;
SELECT clock FROM history WHERE itemid = 5 ORDER BY clock;
RESET ROLE;
DROP POLICY few ON history;
ALTER TABLE history DISABLE ROW LEVEL SECURITY;
CREATE VIEW behind_barrier WITH (security_barrier) AS SELECT * FROM history WHERE ns >= 0;
SELECT clock FROM behind_barrier WHERE itemid = 5 ORDER BY clock;
DROP VIEW behind_barrier;

-- tables that change under prepared statements
PREPARE whole AS SELECT * FROM history WHERE itemid = 5 AND clock >= 300000;
PREPARE two AS SELECT clock, value FROM history WHERE itemid = 5 AND clock <= 300000 ORDER BY clock LIMIT 1;
PREPARE named AS SELECT ns, clock FROM history WHERE itemid = 5 AND clock >= 300001;
EXECUTE two;
EXECUTE named;
ALTER TABLE history ADD COLUMN extra text DEFAULT 'added';
EXECUTE whole;
EXECUTE named;
SELECT extra, ns FROM history WHERE itemid = 5 ORDER BY clock, ns;
ALTER TABLE history RENAME COLUMN value TO val;
EXECUTE two;
SELECT clock, left(val, 8) AS val FROM history WHERE itemid = 5 ORDER BY clock, ns;
ALTER TABLE history RENAME COLUMN val TO value;
ALTER TABLE history DROP COLUMN extra;
EXECUTE named;
SELECT clock, left(value, 8) AS value, ns FROM history WHERE itemid = 5 ORDER BY clock, ns;
SELECT left(answer(format('SELECT * FROM %s WHERE itemid = 5 AND clock = 100000', t))::text, 100) FROM unnest('{plain,history}'::text[]) t;
CREATE SCHEMA other;
CREATE TABLE other.history (LIKE plain INCLUDING ALL);
INSERT INTO other.history VALUES (5, 300001, 'of another schema', 6);
SET search_path = other, public, zbxhist_partitions;
EXECUTE named;
RESET search_path;
EXECUTE named;
DROP SCHEMA other CASCADE;
-- a clock that may be null; a child that is neither a partition nor packed
ALTER TABLE history RENAME COLUMN clock TO at;
SELECT answer('EXECUTE named');
SELECT is_read('SELECT at FROM history WHERE itemid = 5');
SELECT at FROM history WHERE itemid = 5 ORDER BY at;
ALTER TABLE history RENAME COLUMN at TO clock;
SELECT is_read('SELECT clock FROM history WHERE itemid = 5');
CREATE TABLE child () INHERITS (history);
INSERT INTO child VALUES (5, 300500, 'of a child', 0);
SELECT is_read('SELECT clock FROM history WHERE itemid = 5');
EXECUTE named;
SELECT clock, ns FROM history WHERE itemid = 5 ORDER BY clock, ns;
DROP TABLE child;
EXECUTE named;
-- one of a partition, and one of packed days, under plans from before
PREPARE counts AS SELECT count(*), max(clock) FROM history WHERE itemid = 5;
PREPARE items AS SELECT itemid, max(clock) FROM history WHERE itemid >= 0 GROUP BY itemid HAVING itemid = 98 OR max(clock) > 900000 ORDER BY itemid;
EXECUTE counts;
EXECUTE items;
SELECT partition, from_clock FROM zbxhist.list_partitions('history') ORDER BY from_clock LIMIT 1 \gset
CREATE TABLE child () INHERITS (:partition);
CREATE TABLE packed_child () INHERITS (history_packed);
INSERT INTO child VALUES (5, :from_clock, 'of a child', 999), (98, :from_clock, 'of a child', 0);
INSERT INTO packed_child VALUES (5, 900002, 'of a child', 0), (99, 900002, 'of a child', 0);
EXECUTE counts;
EXECUTE items;
SELECT clock FROM history WHERE itemid = 5 AND value = 'of a child' ORDER BY clock;
SELECT clock FROM zbxhist.range(NULL::history, 5, 0, 1000000) WHERE value = 'of a child';
UPDATE history SET value = 'changed' WHERE itemid = 5 AND value = 'of a child';
DELETE FROM history WHERE itemid = 98;
DROP TABLE child, packed_child;
EXECUTE counts;
-- a serializable transaction relies on what it has read
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT clock FROM history WHERE itemid = 3 AND clock > 440000 ORDER BY clock DESC LIMIT 1;
SELECT DISTINCT relation::regclass AS relation FROM pg_locks WHERE mode = 'SIReadLock' AND pid = pg_backend_pid() ORDER BY 1;
ROLLBACK;
DEALLOCATE ALL;
DROP TABLE history CASCADE;
DROP PROCEDURE ask;
DROP FUNCTION explained, query_ids, is_read, answers, answer, same, newest_clock, count_rows;
DROP TABLE plain, question, of_plain, of_history;
DROP DOMAIN whole;
DROP ROLE zbxhist_select_reader;
