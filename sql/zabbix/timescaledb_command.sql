-- sql/zabbix/timescaledb_command.sql

CREATE FUNCTION zbxhist_internal.timescaledb_command(zabbix name)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN s.source LIKE 'config.%'
                THEN format('UPDATE %I.config SET db_extension = %L, compression_status = 0;', zabbix, '')
                ELSE format('UPDATE %I.settings SET value_str = CASE name WHEN %L THEN %L ELSE value_str END,'
                            ' value_int = CASE name WHEN %L THEN 0 ELSE value_int END WHERE name IN (%2$L, %4$L);',
                            zabbix, 'db_extension', '', 'compression_status') END
      FROM zbxhist_internal.zabbix_setting(zabbix, 'db_extension') s
$$;

COMMENT ON FUNCTION zbxhist_internal.timescaledb_command(name) IS
'The command that tells Zabbix that its tables are no hypertables (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.timescaledb_command(name) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.timescaledb_command(name) TO PUBLIC;
