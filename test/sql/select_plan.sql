-- Plans of the SELECTs of Zabbix's server and frontend on a parent: which tables are read,
-- whether by index, and whether the indexes give the order, so that a LIMIT ends the scan.
-- select_zabbix.sql compares the rows.
\a \t
LOAD 'zbxhist';
SET client_min_messages = warning;
CREATE TABLE history_uint (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, value numeric(20) DEFAULT '0' NOT NULL, ns integer DEFAULT '0' NOT NULL,
    PRIMARY KEY (itemid, clock, ns));
CREATE TABLE trends (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, num integer DEFAULT '0' NOT NULL, value_min double precision NOT NULL,
    value_avg double precision NOT NULL, value_max double precision NOT NULL, PRIMARY KEY (itemid, clock));
SELECT zbxhist.create_parent('history_uint'), zbxhist.create_parent('trends', '1 month');
SELECT count(zbxhist.create_partition('history_uint', '1970-01-02'::date + n)) AS days FROM generate_series(0, 39) n;
SELECT count(zbxhist.create_partition('trends', ('1970-01-01'::date + n * interval '1 month')::date)) AS months FROM generate_series(0, 11) n;
-- days begin at multiples of 86400, months at 0, 2678400, 5097600, 7776000 ...
INSERT INTO history_uint SELECT i, c, c * i % 1009, c % 7 * 1000 + i FROM generate_series(1, 20) i, generate_series(86400, 41 * 86400 - 1, 7200) c;
INSERT INTO trends SELECT i, c, 60, c % 11, c % 101, c % 1009 FROM generate_series(1, 20) i, generate_series(0, 364 * 86400, 21600) c;
VACUUM ANALYZE;
SELECT count(*) AS in_parents FROM (SELECT FROM ONLY history_uint UNION ALL SELECT FROM ONLY trends) r;

-- the nodes of a plan
CREATE FUNCTION nodes_of(query text) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN QUERY SELECT node - 'Plans' FROM jsonb_path_query(plan, '$.**{2 to last} ? (exists (@."Node Type"))') node;
END $$;
-- partitions, as dates; those that create_parent made for the present do not count
CREATE FUNCTION dates_of(relations text[]) RETURNS text LANGUAGE sql AS $$
    SELECT CASE WHEN count(*) > 5 THEN min(day) || ' to ' || max(day) || ', ' || count(*) ELSE string_agg(day, ' ' ORDER BY day) END
    FROM (SELECT DISTINCT substring(relation FROM '_p1970(\d+)$') AS day FROM unnest(relations) relation) r WHERE day IS NOT NULL
$$;
-- parent: its own rows are looked at, too; indexed: no table is read as a whole;
-- stops: reading ends with the LIMIT, nothing is collected before
CREATE FUNCTION shape(query text) RETURNS TABLE (partitions text, parent boolean, indexed boolean, stops boolean) LANGUAGE sql AS $$
    SELECT dates_of(array_agg(node ->> 'Relation Name')),
           bool_or(node ->> 'Relation Name' IN ('history_uint', 'trends')),
           NOT bool_or(node ->> 'Node Type' = 'Seq Scan'),
           bool_or(node ->> 'Node Type' = 'Limit') AND NOT bool_or(node ->> 'Node Type' ~ 'Sort|Bitmap|Hash')
    FROM nodes_of(query) node
$$;

CREATE TABLE query (number serial, query text);
INSERT INTO query (query) VALUES
-- the server's value cache: ranges, one second, the last values within windows, within all
('select clock,ns,value from history_uint where itemid=3 and clock>1728000 and clock<=1731600'),
('select clock,ns,value from history_uint where itemid=3 and clock>1727999 and clock<=1814399'),
('select clock,ns,value from history_uint where itemid=3 and clock>3456000'),
('select clock,ns,value from history_uint where itemid=3 and clock=1728000'),
('select clock,ns,value from history_uint where itemid=3 and clock<=1731600 and clock>1728000 order by clock desc limit 2'),
('select clock,ns,value from history_uint where itemid=3 and clock<=1771200 and clock>1684800 order by clock desc limit 2'),
('select clock,ns,value from history_uint where itemid=3 and clock<=1731600 order by clock desc limit 2'),
('select clock,ns,value from history_uint where itemid=99 and clock<=1731600 order by clock desc limit 2'),
('select clock,ns,value from history_uint where itemid=3 and clock>1641600 and clock<=1728000 order by clock desc limit 10'),
-- duplicates after a 23505, two terms of a thousand
('select itemid,clock,ns from history_uint where (itemid=1 and clock=1728000 and ns=6001) or (itemid=2 and clock=1728000 and ns=6002)'),
('select itemid,clock,ns from history_uint where (itemid=1 and clock=1728000 and ns=6001) or (itemid=2 and clock=1555200 and ns=2)'),
-- writing trends: is there any since an hour, in a window, and those of the hour
('select distinct itemid from trends where clock>=30000000 and itemid in (1,2,3)'),
('select distinct itemid from trends where clock>=28000000 and clock<28500000 and itemid in (1,2,3)'),
('select itemid,num,value_min,value_avg,value_max from trends where clock=28512000 and itemid in (1,2) order by itemid,clock'),
-- trend functions
('select value_avg,num from trends where itemid=2 and clock>=2678400 and clock<=2764799'),
('select sum(num) from trends where itemid=2 and clock>=2678400 and clock<=5097600'),
('select max(value_max) from trends where itemid=2 and clock=2678400'),
-- the frontend: last values, by item and for all items at once
('SELECT * FROM history_uint h WHERE h.itemid=''3'' AND h.clock>3452400 ORDER BY h.clock DESC,h.ns DESC LIMIT 2'),
('SELECT * FROM history_uint h WHERE h.itemid=''3'' ORDER BY h.clock DESC,h.ns DESC LIMIT 2'),
('SELECT h.itemid, MAX(h.clock) AS clock FROM history_uint h WHERE h.itemid IN (1,2,99) AND h.clock>3452400 GROUP BY h.itemid'),
('SELECT * FROM history_uint h WHERE h.itemid=''3'' AND h.clock=''1728000'' ORDER BY h.ns DESC LIMIT 1'),
('SELECT MAX(h.clock) FROM history_uint h WHERE h.itemid=''3'' AND h.clock>3452400'),
('SELECT * FROM history_uint h WHERE h.itemid=''3'' AND h.clock>3452400 ORDER BY h.clock DESC LIMIT 3'),
('SELECT itemid FROM history_uint WHERE itemid IN (1,2,99) AND clock>3452400 GROUP BY itemid'),
('SELECT DISTINCT itemid FROM history_uint WHERE itemid IN (1,2,99) AND clock>3452400'),
('SELECT * FROM history_uint WHERE itemid=''3'' AND clock=''1728000'' AND ns<=''999999999'' ORDER BY ns DESC LIMIT 1'),
('SELECT * FROM history_uint WHERE itemid=''3'' AND clock<''1728000'' AND clock>=''1641600'' ORDER BY clock DESC,ns DESC LIMIT 1'),
-- graphs, 7.0 and 6.0, of history and trends
('SELECT itemid,COUNT(*) AS count,AVG(value) AS avg,MIN(value) AS min,MAX(value) AS max,round(900.0*(clock-1728000)/7200,0) AS i,MAX(clock) AS clock FROM history_uint WHERE itemid=''3'' AND clock>=''1728000'' AND clock<=''1735200'' GROUP BY itemid,round(900.0*(clock-1728000)/7200,0) ORDER BY itemid,i'),
('SELECT itemid,COUNT(*) AS count,AVG(value) AS avg,MIN(value) AS min,MAX(value) AS max,round(900*MOD(CAST(clock AS BIGINT)+3600,7200)/(7200),0) AS i,MAX(clock) AS clock FROM history_uint WHERE itemid=''3'' AND clock>=''1728000'' AND clock<=''1735200'' GROUP BY itemid,round(900*MOD(CAST(clock AS BIGINT)+3600,7200)/(7200),0)'),
('SELECT itemid,SUM(num) AS count,AVG(value_avg) AS avg,MIN(value_min) AS min,MAX(value_max) AS max,round(900.0*(clock-2678400)/86400,0) AS i,MAX(clock) AS clock FROM trends WHERE itemid=''2'' AND clock>=''2678400'' AND clock<=''2764800'' GROUP BY itemid,round(900.0*(clock-2678400)/86400,0) ORDER BY itemid,i'),
('SELECT itemid,CAST(clock AS BIGINT)-MOD(CAST(clock AS BIGINT),300) AS tick,AVG(value) AS value,MAX(clock) AS clock,COUNT(*) AS num FROM history_uint WHERE itemid IN (1,3) AND clock BETWEEN 1728000 AND 1735200 GROUP BY itemid,CAST(clock AS BIGINT)-MOD(CAST(clock AS BIGINT),300)'),
('SELECT h.itemid,h.value,h.clock,h.ns,s.tick FROM history_uint h JOIN (SELECT h2.itemid,h2.clock,MAX(h2.ns) AS ns,s2.tick FROM history_uint h2 JOIN (SELECT itemid,CAST(clock AS BIGINT)-MOD(CAST(clock AS BIGINT),300) AS tick,MAX(clock) AS clock FROM history_uint WHERE itemid IN (1,3) AND clock BETWEEN 1728000 AND 1735200 GROUP BY itemid,CAST(clock AS BIGINT)-MOD(CAST(clock AS BIGINT),300)) s2 ON h2.itemid=s2.itemid AND h2.clock=s2.clock WHERE h2.clock BETWEEN 1728000 AND 1735200 GROUP BY h2.itemid,h2.clock,s2.tick) s ON h.itemid=s.itemid AND h.clock=s.clock AND h.ns=s.ns WHERE h.clock BETWEEN 1728000 AND 1735200'),
-- 6.0 gives the outer tables of the same no bounds: then all children are there to be joined
('SELECT h.itemid,h.value,h.clock,s.tick FROM history_uint h JOIN (SELECT itemid,CAST(clock AS BIGINT)-MOD(CAST(clock AS BIGINT),300) AS tick,MAX(clock) AS clock FROM history_uint WHERE itemid IN (1,3) AND clock>=1728000 AND clock<=1735200 GROUP BY itemid,CAST(clock AS BIGINT)-MOD(CAST(clock AS BIGINT),300)) s ON h.itemid=s.itemid AND h.clock=s.clock'),
-- widgets
('SELECT itemid,MAX(value) AS value,MAX(clock) AS clock FROM history_uint WHERE itemid IN (1,3) AND clock>=3452400 GROUP BY itemid'),
('SELECT itemid,SUM(value) AS value,MAX(clock) AS clock FROM history_uint WHERE itemid IN (1,3) AND clock>=1728000 AND clock<=1735200 GROUP BY itemid'),
('SELECT avg(value) AS value FROM history_uint WHERE clock>3452400 AND itemid=''3'' HAVING COUNT(*)>0'),
-- history.get, trend.get
('SELECT h.* FROM history_uint h WHERE h.itemid=''3'' AND h.clock>=''1728000'' AND h.clock<=''1735200'' ORDER BY h.clock DESC,h.ns DESC LIMIT 5'),
('SELECT h.* FROM history_uint h WHERE h.itemid=''3'' ORDER BY h.clock LIMIT 5'),
('SELECT h.itemid,h.clock,h.value FROM history_uint h WHERE h.itemid IN (1,3) AND h.clock>=''1728000'' AND h.clock<=''1735200'' AND h.ns=''1003'' ORDER BY h.clock,h.itemid'),
('SELECT COUNT(DISTINCT h.itemid) AS rowscount FROM history_uint h WHERE h.itemid IN (1,3) AND h.clock>=''3452400'''),
('SELECT COUNT(*) AS rowscount FROM history_uint h WHERE h.itemid=''3'' AND h.clock>=''3452400'''),
('SELECT t.* FROM trends t WHERE t.clock>=''2678400'' AND t.clock<=''2764800'' AND t.itemid IN (1,2) LIMIT 5'),
-- the housekeeper
('select itemid,min(clock) from history_uint group by itemid'),
('delete from history_uint where itemid=3 and clock<259200'),
('delete from history_uint where itemid=3 and ctid = any(array(select ctid from history_uint where itemid=3 limit 5000))'),
-- the frontend's "Clear history and trends"
('DELETE FROM trends WHERE itemid IN (1,2)');
-- what costs decide, with so few rows
SET enable_seqscan = off;
SET enable_sort = off;
SET max_parallel_workers_per_gather = 0;
SET zbxhist.enable_item_scan = off;
SELECT number, s.*, left(query, 60) AS query FROM query, shape(query) s ORDER BY number;
-- rows that wait in the parent keep the order, and the LIMIT its effect
SET zbxhist.enable_routing = off;
INSERT INTO history_uint VALUES (3, 1728001, 1, 1), (3, 1, 1, 1);
RESET zbxhist.enable_routing;
SELECT number, s.* FROM query, shape(query) s WHERE number IN (1, 6, 7, 18) ORDER BY number;
-- one plan as a whole
EXPLAIN (COSTS OFF) select clock,ns,value from history_uint where itemid=3 and clock<=1771200 and clock>1684800 order by clock desc limit 2;
-- those that are planned for the parent alone, see select_item.sql and select_item_scan.sql
RESET zbxhist.enable_item_scan;
SELECT DISTINCT number, node ->> 'Custom Plan Provider' AS node, left(query, 85) AS query FROM query, nodes_of(query) node WHERE node ->> 'Custom Plan Provider' LIKE 'ZbxhistItem%' ORDER BY number;
DROP TABLE history_uint, trends, query CASCADE;
DROP FUNCTION shape, dates_of, nodes_of;
