-- sql/zabbix/settings_grant.sql

CREATE FUNCTION zbxhist_internal.settings_grant(zabbix name, OUT command text, OUT settings text)
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
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

COMMENT ON FUNCTION zbxhist_internal.settings_grant(name) IS
'What lets the caller read the Zabbix settings in a schema, if he cannot, and where they are (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.settings_grant(name) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.settings_grant(name) TO PUBLIC;
