-- What bench/run read asks.  A line of two hyphens has a statement's name, and in brackets
-- the only column to be compared where it is open which of several rows come.
--
-- {item}, {items}: one of the items, ten of them; {items5}, {items50}, {items200}: so many
-- {host}: whose ten items {item} is one of
-- {first}, {last}: the first and the last second that is asked for; {before}: the one before
-- {since}: the first second as an expression of now(); {point}: when {item} has a value
-- {hour}: of the newest trends
-- {bucket}: seconds of a graph's interval, {span}: of all that is asked for
-- {keys}: 500 keys that are stored and 500 that are not

-- ---- Zabbix's server

-- value cache, all since
select clock,ns,value from history where itemid={item} and clock>{before}

-- value cache, range
select clock,ns,value from history where itemid={item} and clock>{before} and clock<={last}

-- value cache, one second
select clock,ns,value from history where itemid={item} and clock={point}

-- value cache, newest 2
select clock,ns,value from history where itemid={item} and clock<={last} and clock>{before} order by clock desc limit 2

-- value cache, newest 2, whenever
select clock,ns,value from history where itemid={item} and clock<={last} order by clock desc limit 2

-- duplicates' look-up
select itemid,clock,ns from history where {keys}

-- housekeeper, oldest of each item
select itemid,min(clock) from history group by itemid

-- trends, are there newer ones
select distinct itemid from trends where clock>={first} and itemid in ({items})

-- trends of an hour
select itemid,num,value_min,value_avg,value_max from trends where clock={hour} and itemid in ({items}) order by itemid,clock

-- trend function, averages
select value_avg,num from trends where itemid={item} and clock>={first} and clock<={last}

-- trend function, sum
select sum(num) from trends where itemid={item} and clock>={first} and clock<={last}

-- trend function, greatest
select max(value_max) from trends where itemid={item} and clock>={first} and clock<={last}

-- ---- Zabbix's frontend and API

-- latest data, newest 2
SELECT * FROM history h WHERE h.itemid='{item}' AND h.clock>{before} ORDER BY h.clock DESC,h.ns DESC LIMIT 2

-- latest data, newest, whenever
SELECT * FROM history h WHERE h.itemid='{item}' ORDER BY h.clock DESC,h.ns DESC LIMIT 1

-- latest data, newest clocks (6.0)
SELECT h.itemid, MAX(h.clock) AS clock FROM history h WHERE h.itemid IN ({items}) AND h.clock>{before} GROUP BY h.itemid

-- latest data, of a second (6.0)
SELECT * FROM history h WHERE h.itemid='{item}' AND h.clock='{point}' ORDER BY h.ns DESC LIMIT 1

-- latest data, newest clock, no primary key
SELECT MAX(h.clock) FROM history h WHERE h.itemid='{item}' AND h.clock>{before}

-- latest data, which have values
SELECT DISTINCT itemid FROM history WHERE itemid IN ({items}) AND clock>{first}

-- latest data, which have values (6.0)
SELECT itemid FROM history WHERE itemid IN ({items}) AND clock>{first} GROUP BY itemid

-- value at a time
SELECT * FROM history WHERE itemid='{item}' AND clock<'{point}' AND clock>='{point}'-86400 ORDER BY clock DESC,ns DESC LIMIT 1

-- history.get
SELECT h.* FROM history h WHERE h.itemid IN ({items}) AND h.clock>={first} AND h.clock<={last} ORDER BY h.clock

-- history.get, newest of an item
SELECT h.* FROM history h WHERE h.itemid='{item}' AND h.clock>={first} AND h.clock<={last} ORDER BY h.clock DESC LIMIT 100

-- history.get, newest of several [1]
SELECT h.* FROM history h WHERE h.itemid IN ({items}) AND h.clock>={first} AND h.clock<={last} ORDER BY h.clock DESC LIMIT 100

-- history.get, count
SELECT COUNT(*) AS rowscount FROM history h WHERE h.itemid IN ({items}) AND h.clock>={first} AND h.clock<={last}

-- trend.get
SELECT t.* FROM trends t WHERE t.clock>='{first}' AND t.clock<='{last}' AND t.itemid IN ({items})

-- classic graph
SELECT itemid,COUNT(*) AS count,AVG(value) AS avg,MIN(value) AS min,MAX(value) AS max,round(900.0*(clock-{first})/{span},0) AS i,MAX(clock) AS clock FROM history WHERE itemid='{item}' AND clock>='{first}' AND clock<='{last}' GROUP BY itemid,round(900.0*(clock-{first})/{span},0) ORDER BY itemid,i

-- classic graph (6.0)
SELECT itemid,COUNT(*) AS count,AVG(value) AS avg,MIN(value) AS min,MAX(value) AS max,round(900*MOD(CAST(clock AS BIGINT)+{bucket},{span})/({span}),0) AS i,MAX(clock) AS clock FROM history WHERE itemid='{item}' AND clock>='{first}' AND clock<='{last}' GROUP BY itemid,round(900*MOD(CAST(clock AS BIGINT)+{bucket},{span})/({span}),0)

-- classic graph of trends
SELECT itemid,SUM(num) AS count,AVG(value_avg) AS avg,MIN(value_min) AS min,MAX(value_max) AS max,round(900.0*(clock-{first})/{span},0) AS i,MAX(clock) AS clock FROM trends WHERE itemid='{item}' AND clock>='{first}' AND clock<='{last}' GROUP BY itemid,round(900.0*(clock-{first})/{span},0) ORDER BY itemid,i

-- svggraph, average
SELECT itemid,CAST(clock AS BIGINT)-MOD(CAST(clock AS BIGINT),{bucket}) AS tick,AVG(value) AS value,MAX(clock) AS clock,COUNT(*) AS num FROM history WHERE itemid IN ({items}) AND clock BETWEEN {first} AND {last} GROUP BY itemid,CAST(clock AS BIGINT)-MOD(CAST(clock AS BIGINT),{bucket})

-- svggraph, first (6.0)
SELECT h.itemid,h.value,h.clock,h.ns,s.tick FROM history h JOIN (SELECT h2.itemid,h2.clock,MIN(h2.ns) AS ns,s2.tick FROM history h2 JOIN (SELECT itemid,CAST(clock AS BIGINT)-MOD(CAST(clock AS BIGINT),{bucket}) AS tick,MIN(clock) AS clock FROM history WHERE itemid IN ({items}) AND clock>='{first}' AND clock<='{last}' GROUP BY itemid,CAST(clock AS BIGINT)-MOD(CAST(clock AS BIGINT),{bucket})) s2 ON h2.itemid=s2.itemid AND h2.clock=s2.clock GROUP BY h2.itemid,h2.clock,s2.tick) s ON h.itemid=s.itemid AND h.clock=s.clock AND h.ns=s.ns

-- svggraph, last (7.0)
SELECT h.itemid,h.value,h.clock,h.ns,s.tick FROM history h JOIN (SELECT h2.itemid,h2.clock,MAX(h2.ns) AS ns,s2.tick FROM history h2 JOIN (SELECT itemid,CAST(clock AS BIGINT)-MOD(CAST(clock AS BIGINT),{bucket}) AS tick,MAX(clock) AS clock FROM history WHERE itemid IN ({items}) AND clock BETWEEN {first} AND {last} GROUP BY itemid,CAST(clock AS BIGINT)-MOD(CAST(clock AS BIGINT),{bucket})) s2 ON h2.itemid=s2.itemid AND h2.clock=s2.clock WHERE h2.clock BETWEEN {first} AND {last} GROUP BY h2.itemid,h2.clock,s2.tick) s ON h.itemid=s.itemid AND h.clock=s.clock AND h.ns=s.ns WHERE h.clock BETWEEN {first} AND {last}

-- svggraph, last (7.0), one item
SELECT h.itemid,h.value,h.clock,h.ns,s.tick FROM history h JOIN (SELECT h2.itemid,h2.clock,MAX(h2.ns) AS ns,s2.tick FROM history h2 JOIN (SELECT itemid,CAST(clock AS BIGINT)-MOD(CAST(clock AS BIGINT),{bucket}) AS tick,MAX(clock) AS clock FROM history WHERE itemid IN ({item}) AND clock BETWEEN {first} AND {last} GROUP BY itemid,CAST(clock AS BIGINT)-MOD(CAST(clock AS BIGINT),{bucket})) s2 ON h2.itemid=s2.itemid AND h2.clock=s2.clock WHERE h2.clock BETWEEN {first} AND {last} GROUP BY h2.itemid,h2.clock,s2.tick) s ON h.itemid=s.itemid AND h.clock=s.clock AND h.ns=s.ns WHERE h.clock BETWEEN {first} AND {last}

-- widget, one number an item
SELECT itemid,AVG(value) AS value,MAX(clock) AS clock FROM history WHERE itemid IN ({items}) AND clock>={first} AND clock<={last} GROUP BY itemid

-- widget, one number (6.0)
SELECT avg(value) AS value FROM history WHERE clock>{before} AND itemid='{item}' HAVING COUNT(*)>0

-- ---- what people and their tools ask

-- Grafana, 5 items
SELECT itemid,clock/{bucket}*{bucket} AS time,avg(value) FROM history WHERE itemid IN ({items5}) AND clock>={first} AND clock<={last} GROUP BY 1,2 ORDER BY 2

-- Grafana, 50 items
SELECT itemid,clock/{bucket}*{bucket} AS time,avg(value) FROM history WHERE itemid IN ({items50}) AND clock>={first} AND clock<={last} GROUP BY 1,2 ORDER BY 2

-- Grafana, 200 items
SELECT itemid,clock/{bucket}*{bucket} AS time,avg(value) FROM history WHERE itemid IN ({items200}) AND clock>={first} AND clock<={last} GROUP BY 1,2 ORDER BY 2

-- clock >= extract(...)
SELECT itemid,clock/{bucket}*{bucket} AS time,avg(value) FROM history WHERE itemid IN ({items}) AND clock >= extract(epoch FROM {since}) GROUP BY 1,2

-- scalar subquery for the item
SELECT clock,value FROM history WHERE itemid=(SELECT itemid FROM items WHERE name='item {item}') AND clock>={first} AND clock<={last}

-- IN (SELECT itemid)
SELECT itemid,clock/{bucket}*{bucket} AS time,avg(value) FROM history WHERE itemid IN (SELECT itemid FROM items WHERE hostid={host}) AND clock>={first} AND clock<={last} GROUP BY 1,2

-- JOIN items WHERE hostid
SELECT h.itemid,avg(h.value) FROM history h JOIN items i ON i.itemid=h.itemid WHERE i.hostid={host} AND clock>={first} AND clock<={last} GROUP BY h.itemid

-- by host
SELECT o.name,h.clock/{bucket}*{bucket} AS time,avg(h.value) FROM history h JOIN items i ON i.itemid=h.itemid JOIN hosts o ON o.hostid=i.hostid WHERE h.itemid IN ({items50}) AND clock>={first} AND clock<={last} GROUP BY 1,2

-- FILTER
SELECT itemid,count(*) FILTER (WHERE value>50),avg(value) FILTER (WHERE value<50) FROM history WHERE itemid IN ({items}) AND clock>={first} AND clock<={last} GROUP BY itemid

-- stddev, variance
SELECT itemid,stddev(value),var_pop(value) FROM history WHERE itemid IN ({items}) AND clock>={first} AND clock<={last} GROUP BY itemid

-- percentile_cont
SELECT itemid,clock/{bucket}*{bucket} AS time,percentile_cont(0.95) WITHIN GROUP (ORDER BY value) FROM history WHERE itemid IN ({items}) AND clock>={first} AND clock<={last} GROUP BY 1,2
