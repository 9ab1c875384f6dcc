-- The same statements as in zabbix_8.sql with JSON values of the type json.
\set json json
\getenv source PG_ABS_SRCDIR
\set zabbix_8 :source '/sql/zabbix_8.sql'
\set ECHO none
\i :zabbix_8
