-- a day of five items by five minutes, as the frontend's graph widget reads it; see bench/README.md.
--   pgbench -n -M simple -f read_widget.sql -D first=<first itemid> -D items=<how many> -D now=$(date +%s) -T 10 -c 1 zabbix
\set itemid random(:first, :first + :items - 1)
\set start :now - 86400
SELECT itemid,CAST(clock AS BIGINT)-MOD(CAST(clock AS BIGINT),300) AS tick,AVG(value) AS value,MAX(clock) AS clock,COUNT(*) AS num FROM history WHERE itemid IN (:itemid,:itemid+1,:itemid+2,:itemid+3,:itemid+4) AND clock BETWEEN :start AND :now GROUP BY itemid,CAST(clock AS BIGINT)-MOD(CAST(clock AS BIGINT),300);
