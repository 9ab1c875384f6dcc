-- the 10 newest values of one item, as the server's value cache reads them; see bench/README.md.
--   pgbench -n -M simple -f read_last.sql -D first=<first itemid> -D items=<how many> -D now=$(date +%s) -T 10 -c 1 zabbix
\set itemid random(:first, :first + :items - 1)
\set start :now - 86400
select clock,ns,value from history where itemid=:itemid and clock<=:now and clock>:start order by clock desc limit 10;
