-- The SELECTs of Zabbix's server and frontend, as they are sent: a parent gives the same rows
-- in the same order as a plain table, and no partition is read whose constraint excludes its
-- rows.
\a \t
LOAD 'zbxhist';
SET zbxhist.allow_packed_drop = on;
SET client_min_messages = warning;
CREATE SCHEMA plain;
CREATE SCHEMA managed;
CREATE TABLE plain.history_uint (itemid bigint NOT NULL, clock integer NOT NULL, value numeric(20) NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE plain.history_log (itemid bigint NOT NULL, clock integer NOT NULL, timestamp integer NOT NULL, source varchar(64) NOT NULL, severity integer NOT NULL,
    value text NOT NULL, logeventid integer NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE plain.trends_uint (itemid bigint NOT NULL, clock integer NOT NULL, num integer NOT NULL, value_min numeric(20) NOT NULL, value_avg numeric(20) NOT NULL,
    value_max numeric(20) NOT NULL, PRIMARY KEY (itemid, clock));
CREATE TABLE managed.history_uint (LIKE plain.history_uint INCLUDING ALL);
CREATE TABLE managed.history_log (LIKE plain.history_log INCLUDING ALL);
CREATE TABLE managed.trends_uint (LIKE plain.trends_uint INCLUDING ALL);
SELECT zbxhist.create_parent('managed.history_uint'), zbxhist.create_parent('managed.history_log'), zbxhist.create_parent('managed.trends_uint', '1 month');
SELECT zbxhist.create_partition(t, d) FROM unnest('{managed.history_uint,managed.history_log}'::regclass[]) t, unnest('{1970-01-02,1970-01-03,1970-01-04,1970-01-05}'::date[]) d;
SELECT zbxhist.create_partition('managed.trends_uint', d) FROM unnest('{1970-01-01,1970-02-01,1970-03-01}'::date[]) d;
-- 86400, 172800, 259200, 345600 begin partitions; the first day's rows and the last ones' stay in the parent
INSERT INTO plain.history_uint SELECT i, c, c * i % 1009, c % 7 * 1000 + i FROM generate_series(1, 6) i, generate_series(0, 449999, 600) c;
INSERT INTO plain.history_uint SELECT itemid, clock, value + 1, ns + 500000 FROM plain.history_uint WHERE clock % 1800 = 0;
INSERT INTO managed.history_uint SELECT * FROM plain.history_uint;
INSERT INTO plain.history_log SELECT i, c, 0, 'source', 1, 'line ' || c, 2, 0 FROM generate_series(1, 3) i, generate_series(86400, 431999, 3600) c;
INSERT INTO managed.history_log SELECT * FROM plain.history_log;
INSERT INTO plain.trends_uint SELECT i, c, 60, c % 11, c % 101, c % 1009 FROM generate_series(1, 3) i, generate_series(0, 90 * 86400, 3600) c;
INSERT INTO managed.trends_uint SELECT * FROM plain.trends_uint;
ANALYZE;

-- which tables a plan looks at
CREATE FUNCTION tables_in(plan jsonb) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(DISTINCT replace(name #>> '{}', 'history_', ''), ' ' ORDER BY replace(name #>> '{}', 'history_', '')) FROM (SELECT jsonb_path_query(plan, '$.**."Relation Name"') UNION ALL SELECT jsonb_path_query(plan, '$.**."Packed Table"')) x (name)
     -- not those that create_parent made for the days to come
     WHERE name #>> '{}' !~ '_p[^1a]'
$$;
CREATE FUNCTION compare(query text, is_ordered boolean) RETURNS TABLE (tables text, rows bigint, same boolean) LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
    expected text[];
    found text[];
BEGIN
    PERFORM set_config('search_path', 'plain', true);
    EXECUTE format('SELECT array_agg(r::text) FROM (%s) r', query) INTO expected;
    PERFORM set_config('search_path', 'managed', true);
    EXECUTE format('SELECT array_agg(r::text) FROM (%s) r', query) INTO found;
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    PERFORM set_config('search_path', 'public', true);
    IF NOT is_ordered THEN
        expected := array(SELECT unnest(expected) ORDER BY 1);
        found := array(SELECT unnest(found) ORDER BY 1);
    END IF;
    RETURN QUERY SELECT public.tables_in(plan), coalesce(cardinality(found), 0)::bigint, found IS NOT DISTINCT FROM expected;
END $$;

CREATE TABLE query (number serial, is_ordered boolean, query text);
INSERT INTO query (is_ordered, query) VALUES
-- the server's value cache
(false, 'select clock,ns,value from history_uint where itemid=3 and clock>172800 and clock<=216000'),
(false, 'select clock,ns,value from history_uint where itemid=3 and clock>172799 and clock<=259199'),
(false, 'select clock,ns,value from history_uint where itemid=3 and clock>300000'),
(false, 'select clock,ns,value from history_uint where itemid=3 and clock=174600'),
(false, 'select clock,ns,value from history_uint where itemid=3 and clock<=345599 and clock>259199 order by clock desc limit 6'),
(false, 'select clock,ns,value from history_uint where itemid=3 and clock<=400000 order by clock desc limit 4'),
(false, 'select clock,ns,value from history_uint where itemid=99 and clock<=400000 order by clock desc limit 4'),
(false, 'select clock,ns,timestamp,logeventid,severity,source,value from history_log where itemid=2 and clock>172800 and clock<=259200'),
-- trend functions
(false, 'select value_avg,num from trends_uint where itemid=2 and clock>=2678400 and clock<=2764799'),
(false, 'select sum(num) from trends_uint where itemid=2 and clock>=2678400 and clock<=2764799'),
(false, 'select max(value_max) from trends_uint where itemid=2 and clock>=2678400 and clock<=5200000'),
(false, 'select min(value_min) from trends_uint where itemid=2 and clock=2682000'),
-- the frontend, 7.0
(true,  'SELECT * FROM history_uint h WHERE h.itemid=''3'' AND h.clock>300000 ORDER BY h.clock DESC,h.ns DESC LIMIT 2'),
(true,  'SELECT * FROM history_uint h WHERE h.itemid=''3'' ORDER BY h.clock DESC,h.ns DESC LIMIT 2'),
(false, 'SELECT h.itemid, MAX(h.clock) AS clock FROM history_uint h WHERE h.itemid IN (1,2,99) AND h.clock>200000 GROUP BY h.itemid'),
(true,  'SELECT * FROM history_uint h WHERE h.itemid=''3'' AND h.clock=''174600'' ORDER BY h.ns DESC LIMIT 1'),
(true,  'SELECT MAX(h.clock) FROM history_uint h WHERE h.itemid=''3'' AND h.clock>300000'),
(false, 'SELECT itemid FROM history_uint WHERE itemid IN (1,2,99) AND clock>300000 GROUP BY itemid'),
(false, 'SELECT DISTINCT itemid FROM history_uint WHERE itemid IN (1,2,99) AND clock>300000'),
(true,  'SELECT * FROM history_uint WHERE itemid=''3'' AND clock=''174600'' AND ns<=''999999999'' ORDER BY ns DESC LIMIT 1'),
(true,  'SELECT * FROM history_uint WHERE itemid=''3'' AND clock<''174600'' AND clock>=''88200'' ORDER BY clock DESC,ns DESC LIMIT 1'),
(true,  'SELECT itemid,COUNT(*) AS count,AVG(value) AS avg,MIN(value) AS min,MAX(value) AS max,round(900.0*(clock-180000)/7200,0) AS i,MAX(clock) AS clock FROM history_uint WHERE itemid=''3'' AND clock>=''180000'' AND clock<=''187200'' GROUP BY itemid,round(900.0*(clock-180000)/7200,0) ORDER BY itemid,i'),
(false, 'SELECT itemid,COUNT(*) AS count,AVG(value) AS avg,MIN(value) AS min,MAX(value) AS max,round(900*MOD(CAST(clock AS BIGINT)+3600,7200)/(7200),0) AS i,MAX(clock) AS clock FROM history_uint WHERE itemid=''3'' AND clock>=''180000'' AND clock<=''187200'' GROUP BY itemid,round(900*MOD(CAST(clock AS BIGINT)+3600,7200)/(7200),0)'),
(true,  'SELECT itemid,SUM(num) AS count,AVG(value_avg) AS avg,MIN(value_min) AS min,MAX(value_max) AS max,round(900.0*(clock-2678400)/86400,0) AS i,MAX(clock) AS clock FROM trends_uint WHERE itemid=''2'' AND clock>=''2678400'' AND clock<=''2764800'' GROUP BY itemid,round(900.0*(clock-2678400)/86400,0) ORDER BY itemid,i'),
(false, 'SELECT itemid,CAST(clock AS BIGINT)-MOD(CAST(clock AS BIGINT),300) AS tick,AVG(value) AS value,MAX(clock) AS clock,COUNT(*) AS num FROM history_uint WHERE itemid IN (1,3) AND clock BETWEEN 180000 AND 187200 GROUP BY itemid,CAST(clock AS BIGINT)-MOD(CAST(clock AS BIGINT),300)'),
(false, 'SELECT h.itemid,h.value,h.clock,h.ns,s.tick FROM history_uint h JOIN (SELECT h2.itemid,h2.clock,MAX(h2.ns) AS ns,s2.tick FROM history_uint h2 JOIN (SELECT itemid,CAST(clock AS BIGINT)-MOD(CAST(clock AS BIGINT),300) AS tick,MAX(clock) AS clock FROM history_uint WHERE itemid IN (1,3) AND clock BETWEEN 180000 AND 187200 GROUP BY itemid,CAST(clock AS BIGINT)-MOD(CAST(clock AS BIGINT),300)) s2 ON h2.itemid=s2.itemid AND h2.clock=s2.clock WHERE h2.clock BETWEEN 180000 AND 187200 GROUP BY h2.itemid,h2.clock,s2.tick) s ON h.itemid=s.itemid AND h.clock=s.clock AND h.ns=s.ns WHERE h.clock BETWEEN 180000 AND 187200'),
(false, 'SELECT itemid,MAX(value) AS value,MAX(clock) AS clock FROM history_uint WHERE itemid IN (1,3) AND clock>=300000 GROUP BY itemid'),
(false, 'SELECT itemid,SUM(value) AS value,MAX(clock) AS clock FROM history_uint WHERE itemid IN (1,3) AND clock>=180000 AND clock<=187200 GROUP BY itemid'),
(false, 'SELECT avg(value) AS value FROM history_uint WHERE clock>300000 AND itemid=''3'' HAVING COUNT(*)>0'),
-- history.get, trend.get
(true,  'SELECT h.* FROM history_uint h WHERE h.itemid=''3'' AND h.clock>=''180000'' AND h.clock<=''187200'' ORDER BY h.clock DESC,h.ns DESC LIMIT 5'),
(true,  'SELECT h.itemid,h.clock,h.value FROM history_uint h WHERE h.itemid IN (1,3) AND h.clock>=''180000'' AND h.clock<=''187200'' AND h.ns=''1003'' ORDER BY h.clock,h.itemid'),
(false, 'SELECT h.* FROM history_log h WHERE h.itemid=''2'' AND h.clock>=''180000'' AND UPPER(h.value) LIKE ''%LINE 18%'' ESCAPE ''!'''),
(false, 'SELECT COUNT(*) AS rowscount FROM history_uint h WHERE h.itemid=''3'' AND h.clock>=''180000'''),
(false, 'SELECT t.* FROM trends_uint t WHERE t.clock>=''2678400'' AND t.clock<=''2764800'' AND t.itemid IN (1,2)');
SELECT number, c.*, left(query, 70) AS query FROM query, compare(query, is_ordered) c ORDER BY number;

-- the same with days packed; what is added now stays in the parent
INSERT INTO plain.history_uint SELECT i, c + 1, c, c FROM generate_series(1, 6) i, generate_series(86400, 431999, 7200) c;
INSERT INTO plain.trends_uint SELECT i, c + 1, c, c, c, c FROM generate_series(1, 3) i, generate_series(0, 58 * 86400, 86400) c;
CALL zbxhist.pack('managed.history_uint', '1970-01-02');
CALL zbxhist.pack('managed.history_uint', '1970-01-03');
CALL zbxhist.pack('managed.history_uint', '1970-01-05');
CALL zbxhist.pack('managed.history_log', '1970-01-03');
CALL zbxhist.pack('managed.trends_uint', '1970-02-01');
INSERT INTO managed.history_uint SELECT i, c + 1, c, c FROM generate_series(1, 6) i, generate_series(86400, 431999, 7200) c;
INSERT INTO managed.trends_uint SELECT i, c + 1, c, c, c, c FROM generate_series(1, 3) i, generate_series(0, 58 * 86400, 86400) c;
ANALYZE managed.history_uint, managed.history_log, managed.trends_uint;
SELECT count(*) FROM ONLY managed.history_uint WHERE clock BETWEEN 86400 AND 431999;
SELECT number, c.* FROM query, compare(query, is_ordered) c ORDER BY number;
SET zbxhist.enable_packed_scan_pruning = off;
SELECT count(*), bool_and(same) FROM query, compare(query, is_ordered) c;
RESET zbxhist.enable_packed_scan_pruning;
-- whatever plan: no index, no nested loop, in parallel
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SET enable_nestloop = off;
SELECT count(*), bool_and(same) FROM query, compare(query, is_ordered) c;
RESET enable_nestloop;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT count(*), bool_and(same) FROM query, compare(query, is_ordered) c;
RESET enable_hashjoin;
RESET enable_mergejoin;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 1;
SELECT count(*), bool_and(same) FROM query, compare(query, is_ordered) c WHERE number % 2 = 0;
DROP SCHEMA plain, managed CASCADE;
DROP TABLE query;
DROP FUNCTION compare, tables_in;
