-- sql/zabbix/settings.sql

-- Returns a value of the Zabbix settings in a schema, where it is stored, and why it is not used; NULL
-- if there is none or the caller may not read it.
-- Zabbix 6.0 to 7.2 has the one-row table "config", 7.4 the table "settings".  A table of somebody else
-- is not used, because its owner could have rows dropped.  It is read without a query, which might run
-- code of its owner, see src/tables/stored_texts.c.  If the caller may not read it, no error is raised, so
-- that views work for everybody.
CREATE FUNCTION zbxhist_internal.zabbix_setting(
    table_schema name, setting text, OUT value text, OUT source text, OUT problem text)
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    place record;
BEGIN
    SELECT k.oid::regclass AS relation, k.relname, k.relowner,
           zbxhist_internal.trusts_owner(table_schema, k.relowner) AS is_trusted INTO place
      FROM pg_class k
      JOIN pg_namespace n ON n.oid = k.relnamespace
      JOIN pg_attribute a ON a.attrelid = k.oid AND NOT a.attisdropped
     WHERE n.nspname = table_schema AND k.relkind = 'r'
       AND (k.relname = 'config' AND a.attname = setting
            OR k.relname = 'settings' AND a.attname IN ('name', 'value_str', 'value_int'))
     GROUP BY k.oid
    HAVING count(*) = CASE k.relname WHEN 'config' THEN 1 ELSE 3 END
     ORDER BY 4 DESC, k.relname
     LIMIT 1;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    source := place.relname || '.' || setting;
    IF NOT place.is_trusted THEN
        problem := format('table %s belongs to %s, who owns no managed table in that schema',
                          place.relation, quote_ident(pg_get_userbyid(place.relowner)));
    ELSIF place.relname = 'config' THEN
        value := zbxhist_internal.stored_setting(place.relation, setting, NULL, NULL);
    ELSE
        value := coalesce(
            nullif(zbxhist_internal.stored_setting(place.relation, 'value_str', 'name', setting), ''),
            zbxhist_internal.stored_setting(place.relation, 'value_int', 'name', setting));
    END IF;
END
$$;

-- The command that changes a setting of Zabbix.
CREATE FUNCTION zbxhist_internal.setting_command(zabbix name, setting text, value text) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN s.source LIKE 'config.%'
                THEN format('UPDATE %I.config SET %I = %L;', zabbix, setting, setting_command.value)
                ELSE format('UPDATE %I.settings SET %I = %L WHERE name = %L;', zabbix,
                            CASE WHEN setting ~ '_(mode|global)$' THEN 'value_int' ELSE 'value_str' END, setting_command.value, setting) END
      FROM zbxhist_internal.zabbix_setting(zabbix, setting) s
$$;

-- Returns the GRANT that lets the caller read the Zabbix settings in a schema, if he cannot, and the
-- table of the settings.
CREATE FUNCTION zbxhist_internal.settings_grant(zabbix name, OUT command text, OUT settings text)
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    place record;
BEGIN
    SELECT k.oid::regclass AS relation, k.relname,
           array_agg(a.attname ORDER BY a.attnum) FILTER (WHERE a.attname ~ '^hk_(history|trends)(_mode|_global)?$') AS columns
      INTO place
      FROM pg_class k
      JOIN pg_namespace n ON n.oid = k.relnamespace
      JOIN pg_attribute a ON a.attrelid = k.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE n.nspname = zabbix AND k.relname IN ('config', 'settings') AND k.relkind = 'r'
     GROUP BY k.oid
    HAVING count(*) FILTER (WHERE k.relname = 'settings' AND a.attname IN ('name', 'value_str', 'value_int')
                               OR k.relname = 'config' AND a.attname IN ('hk_history', 'hk_trends')) > 0
     ORDER BY k.relname
     LIMIT 1;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    settings := place.relation;
    IF NOT has_schema_privilege(zabbix, 'USAGE') THEN
        command := format('GRANT USAGE ON SCHEMA %I TO %I;', zabbix, current_user);
    ELSIF place.relname = 'settings' THEN
        IF NOT has_table_privilege(place.relation, 'SELECT') THEN
            command := format('GRANT SELECT ON %s TO %I;', place.relation, current_user);
        END IF;
    ELSIF NOT (SELECT bool_and(has_column_privilege(place.relation, c, 'SELECT')) FROM unnest(place.columns) c) THEN
        command := format('GRANT SELECT (%s) ON %s TO %I;',
                          array_to_string(ARRAY(SELECT quote_ident(c) FROM unnest(place.columns) c), ', '),
                          place.relation, current_user);
    END IF;
END
$$;

-- Returns a period as Zabbix writes it (90, 3600s, 12h, 31d, 1w) as an interval; NULL if it is not one, or
-- is longer than 200 years, the limit of verify_age: longer ones may be out of range for interval or
-- timestamp.
CREATE FUNCTION zbxhist_internal.parse_period(period text) RETURNS interval
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    parts   CONSTANT text[] := regexp_match(btrim(period), '^0*([0-9]{1,12})([smhdw]?)$');
    seconds CONSTANT bigint := parts[1]::bigint
                               * CASE parts[2] WHEN 'm' THEN 60 WHEN 'h' THEN 3600 WHEN 'd' THEN 86400
                                               WHEN 'w' THEN 604800 ELSE 1 END;
BEGIN
    RETURN CASE WHEN seconds <= 200 * 366 * 86400::bigint THEN make_interval(secs => seconds) END;
END
$$;

-- Switches the Zabbix housekeeper off for history and trends in a schema, and lets Zabbix override the
-- storage periods of items; returns what it changed.
CREATE FUNCTION zbxhist_internal.configure_zabbix(schema_name name, dry_run boolean) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET lock_timeout = 0 AS $$
DECLARE
    setting record;
    changes text[] := '{}';
    answer  record;
BEGIN
    PERFORM set_config('lock_timeout', zbxhist_internal.patient_lock_timeout()::text, true);
    FOR setting IN
        SELECT w AS name, CASE WHEN w LIKE '%\_mode' THEN 0 ELSE 1 END AS value
          FROM unnest('{hk_history_mode,hk_history_global,hk_trends_mode,hk_trends_global}'::text[]) w
    LOOP
        answer := zbxhist_internal.zabbix_setting(schema_name, setting.name);
        IF answer.value IS NULL THEN
            RETURN coalesce('cannot read ' || answer.source || coalesce(': ' || answer.problem, ''),
                            format('schema %I has no table config or settings', schema_name));
        END IF;
        CONTINUE WHEN answer.value = setting.value::text;
        changes := changes || format('%s = %s', answer.source, setting.value);
        CONTINUE WHEN dry_run;
        PERFORM zbxhist_internal.execute_as_owner(
            format('%I.%s', schema_name, split_part(answer.source, '.', 1))::regclass,
            zbxhist_internal.setting_command(schema_name, setting.name, setting.value::text));
    END LOOP;
    RETURN coalesce(nullif(array_to_string(changes, ', '), ''), 'nothing to change');
END
$$;
