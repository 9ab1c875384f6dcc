-- a week of one item in a graph of 900 pixels, as the frontend reads it; see bench/README.md.
--   pgbench -n -M simple -f read_graph.sql -D first=<first itemid> -D items=<how many> -D now=$(date +%s) -T 10 -c 1 zabbix
\set itemid random(:first, :first + :items - 1)
\set start :now - 604800
SELECT itemid,COUNT(*) AS count,AVG(value) AS avg,MIN(value) AS min,MAX(value) AS max,round(900.0*(clock-:start)/604800,0) AS i,MAX(clock) AS clock FROM history WHERE itemid=':itemid' AND clock>=':start' AND clock<=':now' GROUP BY itemid,round(900.0*(clock-:start)/604800,0) ORDER BY itemid,i;
