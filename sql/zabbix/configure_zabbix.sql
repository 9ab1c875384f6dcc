-- sql/zabbix/configure_zabbix.sql

CREATE FUNCTION zbxhist_internal.configure_zabbix(schema_name name, dry_run boolean)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $$
DECLARE
    wanted  CONSTANT text[] := '{hk_history_mode,hk_history_global,hk_trends_mode,hk_trends_global}';
    setting record;
    changes text[] := '{}';
    answer  record;
BEGIN
    PERFORM set_config('lock_timeout', zbxhist_internal.patient_lock_timeout()::text, true);
    FOR setting IN
        SELECT w AS name, CASE WHEN w LIKE '%\_mode' THEN 0 ELSE 1 END AS value
          FROM unnest(wanted) w
    LOOP
        answer := zbxhist_internal.zabbix_setting(schema_name, setting.name);
        IF answer.value IS NULL THEN
            RETURN coalesce('cannot read ' || answer.source || coalesce(': ' || answer.problem, ''),
                            format('schema %I has no table config or settings', schema_name));
        END IF;
        CONTINUE WHEN answer.value = setting.value::text;
        changes := changes || format('%s = %s', answer.source, setting.value);
        CONTINUE WHEN dry_run;
        IF answer.source LIKE 'config.%' THEN
            PERFORM zbxhist_internal.execute_as_owner(
                format('%I.config', schema_name)::regclass,
                format('UPDATE %I.config SET %I = %s', schema_name, setting.name, setting.value));
        ELSE
            PERFORM zbxhist_internal.execute_as_owner(
                format('%I.settings', schema_name)::regclass,
                format('UPDATE %I.settings SET value_int = %s WHERE name = %L',
                       schema_name, setting.value, setting.name));
        END IF;
    END LOOP;
    RETURN coalesce(nullif(array_to_string(changes, ', '), ''), 'nothing to change');
END
$$;

COMMENT ON FUNCTION zbxhist_internal.configure_zabbix(name, boolean) IS
'Switches the Zabbix housekeeper off for history and trends in a schema and says what it changed (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.configure_zabbix(name, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.configure_zabbix(name, boolean) TO pg_database_owner;
