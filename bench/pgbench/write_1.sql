-- 1 row a statement into Zabbix's history, spread over 30000 items; see bench/README.md.
--   pgbench -n -f write_1.sql -D tick=0 -D start=$(date +%s) -t 1000 -c 1 zabbix
\set tick :tick + 1
\set bloc 10000 + (:tick + 7 * :client_id) % 30000
\set clock_utc :start + (:tick - 1) / 30000 * 60 + :client_id % 60
\set ns_low random(1000000, 9999999)
insert into history (itemid,clock,ns,value) values (1:bloc,:clock_utc,27:ns_low,541065216);
