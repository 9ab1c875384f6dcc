-- sql/zabbix/zabbix_setting.sql
--
-- Zabbix 6.0 to 7.2 has the one-row table "config", 7.4 the table "settings".
-- One of somebody else is not taken for it: he could have rows dropped.  Neither
-- is read by a query, which might run its owner's code, see
-- src/catalog/stored_setting.c; nor without the right to, so that a reader's look
-- at a view does not fail.

CREATE FUNCTION zbxhist_internal.zabbix_setting(
    table_schema name,
    setting text,
    OUT value text,
    OUT source text,
    OUT problem text)
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
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

COMMENT ON FUNCTION zbxhist_internal.zabbix_setting(name, text) IS
'A value of the Zabbix settings in a schema, where it stands, and why it is not taken; NULL if there is none or the caller may not read it (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.zabbix_setting(name, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.zabbix_setting(name, text) TO PUBLIC;
