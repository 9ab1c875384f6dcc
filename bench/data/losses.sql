-- What bench/run read --questions losses asks: where zbxhist has taken more than a plain table or
-- TimescaleDB.  In the form of read.sql, which says what fields there are.

-- ---- by the key

-- ORDER BY key LIMIT 100
SELECT * FROM history ORDER BY itemid,clock,ns LIMIT 100

-- next 10 items' rows [0]
SELECT * FROM history WHERE itemid>{item} ORDER BY itemid LIMIT 10

-- next page by key
SELECT itemid,clock,value FROM history WHERE (itemid,clock)>({item},{point}) ORDER BY itemid,clock LIMIT 100

-- least and greatest item
SELECT min(itemid),max(itemid) FROM history

-- ten items, one after the other
WITH RECURSIVE i AS ((SELECT min(itemid) AS itemid,1 AS n FROM history) UNION ALL SELECT (SELECT min(h.itemid) FROM history h WHERE h.itemid>i.itemid),i.n+1 FROM i WHERE i.n<10) SELECT itemid FROM i

-- all in the order of the key
SELECT count(*) FROM (SELECT * FROM history ORDER BY itemid,clock,ns OFFSET 0) h

-- exact key
SELECT * FROM history WHERE itemid={item} AND clock={point} AND ns>=0 ORDER BY ns

-- ---- by the clock

-- newest 100 of all [1]
SELECT * FROM history ORDER BY clock DESC LIMIT 100

-- oldest 100 of all [1]
SELECT * FROM history ORDER BY clock LIMIT 100

-- newest 100 of 50 items [1]
SELECT * FROM history WHERE itemid IN ({items50}) AND clock<={last} ORDER BY clock DESC LIMIT 100

-- least and greatest clock
SELECT min(clock),max(clock) FROM history

-- ---- Grafana's plugin for Zabbix

-- 50 items by to_char(itemid)
SELECT to_char(itemid,'FM99999999999999999999') AS metric,clock/{bucket}*{bucket} AS time,avg(value) AS value FROM history WHERE itemid IN ({items50}) AND clock>{before} AND clock<={last} GROUP BY 1,2 ORDER BY time

-- 50 items by itemid::text
SELECT itemid::text AS metric,clock/{bucket}*{bucket} AS time,avg(value) AS value FROM history WHERE itemid IN ({items50}) AND clock>{before} AND clock<={last} GROUP BY 1,2 ORDER BY time

-- item as a numeric
SELECT clock,value FROM history WHERE itemid={item}.0 AND clock>{before} AND clock<={last}

-- item from a text
SELECT clock,value FROM history WHERE itemid='{item}'::text::bigint AND clock>{before} AND clock<={last}

-- ---- Zabbix

-- widget, 10 items
SELECT itemid,AVG(value) AS value,MAX(clock) AS clock FROM history WHERE itemid IN ({items}) AND clock>={first} AND clock<={last} GROUP BY itemid

-- countOutput
SELECT COUNT(*) AS rowscount FROM history h WHERE h.itemid='{item}' AND h.clock>={first} AND h.clock<={last}

-- history.get, 10 items
SELECT h.* FROM history h WHERE h.itemid IN ({items}) AND h.clock>={first} AND h.clock<={last} ORDER BY h.clock

-- an item that has nothing
SELECT * FROM history h WHERE h.itemid='7' ORDER BY h.clock DESC LIMIT 2

-- rows of an item
SELECT clock,ns,value FROM history WHERE itemid={item} AND clock>{before} AND clock<={last}

-- newest two
SELECT clock,ns,value FROM history WHERE itemid={item} AND clock<={last} ORDER BY clock DESC LIMIT 2

-- ---- conditions, exports

-- ns below 10 ms
SELECT itemid,clock,ns,value FROM history WHERE itemid IN ({items50}) AND clock>{before} AND clock<={last} AND ns<10000000

-- value above 95, rows
SELECT itemid,clock,value FROM history WHERE itemid IN ({items50}) AND clock>{before} AND clock<={last} AND value>95

-- COPY
COPY (SELECT * FROM history WHERE clock>{before} AND clock<={last}) TO '/dev/null'
