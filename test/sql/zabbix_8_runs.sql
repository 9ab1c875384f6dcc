--
-- The same statements as in zabbix_8.sql on tables that take their values as runs.
--
\set ECHO none
\set ingest runs
\set json json
\getenv source PG_ABS_SRCDIR
\set zabbix_8 :source '/sql/zabbix_8.sql'
\i :zabbix_8
