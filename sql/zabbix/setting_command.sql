-- sql/zabbix/setting_command.sql

CREATE FUNCTION zbxhist_internal.setting_command(zabbix name, setting text, value text)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN s.source LIKE 'config.%'
                THEN format('UPDATE %I.config SET %I = %L;', zabbix, setting, setting_command.value)
                ELSE format('UPDATE %I.settings SET %I = %L WHERE name = %L;', zabbix,
                            CASE WHEN setting LIKE '%\_mode' THEN 'value_int' ELSE 'value_str' END, setting_command.value, setting) END
      FROM zbxhist_internal.zabbix_setting(zabbix, setting) s
$$;

COMMENT ON FUNCTION zbxhist_internal.setting_command(name, text, text) IS
'The command that changes a setting of Zabbix (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.setting_command(name, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.setting_command(name, text, text) TO PUBLIC;
