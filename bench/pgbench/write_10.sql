-- 10 rows a statement into Zabbix's history, spread over 30000 items; see bench/README.md.
--   pgbench -n -f write_10.sql -D tick=0 -D start=$(date +%s) -t 1000 -c 1 zabbix
\set tick :tick + 1
\set blk 1000 + (:tick + 7 * :client_id) % 3000
\set clock_utc :start + (:tick - 1) / 3000 * 60 + :client_id % 60
\set ns_low random(1000000, 9999999)
insert into history (itemid,clock,ns,value) values (10:blk,:clock_utc,83:ns_low,70.260000000000005),(11:blk,:clock_utc,71:ns_low,126877696),(12:blk,:clock_utc,36:ns_low,12199.8187703598),(13:blk,:clock_utc,45:ns_low,1375731712),(14:blk,:clock_utc,14:ns_low,4208984064),(15:blk,:clock_utc,51:ns_low,40.950000000000003),(16:blk,:clock_utc,56:ns_low,68.870000000000005),(17:blk,:clock_utc,27:ns_low,3049259008),(18:blk,:clock_utc,58:ns_low,4254.2732686007275),(19:blk,:clock_utc,96:ns_low,6852.4672658745849);
