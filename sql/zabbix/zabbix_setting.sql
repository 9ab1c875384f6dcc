-- sql/zabbix/zabbix_setting.sql
--
-- Zabbix 6.0 to 7.2 has the one-row table "config", 7.4 the table "settings".
-- Both are read by EXECUTE, so that nothing here depends on a table which an
-- upgrade of Zabbix drops; and never without the right to, so that a reader's
-- look at a view does not fail.

CREATE FUNCTION zbxhist_internal.zabbix_setting(
    table_schema name,
    setting text,
    OUT value text,
    OUT source text)
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    place regclass;
BEGIN
    SELECT k.oid INTO place
      FROM pg_class k
      JOIN pg_namespace n ON n.oid = k.relnamespace
      JOIN pg_attribute a ON a.attrelid = k.oid AND a.attname = setting AND NOT a.attisdropped
     WHERE n.nspname = table_schema AND k.relname = 'config' AND k.relkind = 'r';
    IF FOUND THEN
        source := 'config.' || setting;
        IF has_column_privilege(place, setting, 'SELECT') AND has_schema_privilege(table_schema, 'USAGE') THEN
            EXECUTE format('SELECT %I::text FROM %s LIMIT 1', setting, place) INTO value;
        END IF;
        RETURN;
    END IF;
    SELECT k.oid INTO place
      FROM pg_class k
      JOIN pg_namespace n ON n.oid = k.relnamespace
     WHERE n.nspname = table_schema AND k.relname = 'settings' AND k.relkind = 'r'
       AND 3 = (SELECT count(*) FROM pg_attribute a
                 WHERE a.attrelid = k.oid AND NOT a.attisdropped
                   AND a.attname IN ('name', 'value_str', 'value_int'));
    IF FOUND THEN
        source := 'settings.' || setting;
        IF has_table_privilege(place, 'SELECT') AND has_schema_privilege(table_schema, 'USAGE') THEN
            EXECUTE format('SELECT coalesce(nullif(s.value_str, ''''), s.value_int::text)'
                           ' FROM %s s WHERE s.name = $1 LIMIT 1', place)
                INTO value USING setting;
        END IF;
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.zabbix_setting(name, text) IS
'A value of the Zabbix settings in a schema and where it stands; NULL if there is none or the caller may not read it (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.zabbix_setting(name, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.zabbix_setting(name, text) TO PUBLIC;
