-- sql/zabbix/zabbix_tables.sql
--
-- In the order in which a history syncer of Zabbix locks them.

CREATE FUNCTION zbxhist_internal.zabbix_tables()
RETURNS TABLE (ordinal integer, table_name name, is_trends boolean)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 9
SET search_path = pg_catalog, pg_temp
AS $$
    VALUES (1, 'history'::name, false), (2, 'history_str', false), (3, 'history_log', false),
           (4, 'history_uint', false), (5, 'history_text', false), (6, 'history_bin', false),
           (7, 'history_json', false), (8, 'trends', true), (9, 'trends_uint', true)
$$;

COMMENT ON FUNCTION zbxhist_internal.zabbix_tables() IS
'The names of the Zabbix tables of values, in the order in which Zabbix writes to them (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.zabbix_tables() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.zabbix_tables() TO PUBLIC;
