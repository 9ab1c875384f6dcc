-- the last two values of one item, as the frontend reads them for its latest data; see bench/README.md.
--   pgbench -n -M simple -f read_latest.sql -D first=<first itemid> -D items=<how many> -D now=$(date +%s) -T 10 -c 1 zabbix
\set itemid random(:first, :first + :items - 1)
\set start :now - 86400
SELECT * FROM history h WHERE h.itemid=':itemid' AND h.clock>:start ORDER BY h.clock DESC,h.ns DESC LIMIT 2;
