-- an hour of one item, as the server's value cache reads it for a trigger; see bench/README.md.
--   pgbench -n -M simple -f read_range.sql -D first=<first itemid> -D items=<how many> -D now=$(date +%s) -T 10 -c 1 zabbix
\set itemid random(:first, :first + :items - 1)
\set start :now - 3600
select clock,ns,value from history where itemid=:itemid and clock>:start and clock<=:now;
