-- a month of one item's trends in a graph of 900 pixels, as the frontend reads it; see bench/README.md.
--   pgbench -n -M simple -f read_trends.sql -D first=<first itemid> -D items=<how many> -D now=$(date +%s) -T 10 -c 1 zabbix
\set itemid random(:first, :first + :items - 1)
\set start :now - 2592000
SELECT itemid,SUM(num) AS count,AVG(value_avg) AS avg,MIN(value_min) AS min,MAX(value_max) AS max,round(900.0*(clock-:start)/2592000,0) AS i,MAX(clock) AS clock FROM trends WHERE itemid=':itemid' AND clock>=':start' AND clock<=':now' GROUP BY itemid,round(900.0*(clock-:start)/2592000,0) ORDER BY itemid,i;
