-- sql/schema/zbxhist.sql
\echo Use "CREATE EXTENSION zbxhist" to load this file. \quit

COMMENT ON SCHEMA zbxhist IS
'zbxhist: partitioning and fast ingest for the Zabbix history and trends tables';
GRANT USAGE ON SCHEMA zbxhist TO PUBLIC;
