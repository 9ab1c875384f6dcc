-- sql/check/check_zabbix.sql

CREATE FUNCTION zbxhist_internal.check_zabbix()
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    place    record;
    unread   record;
    told     text;
BEGIN
    FOR place IN
        SELECT n.nspname, z.is_trends, array_agg(c.parent ORDER BY z.ordinal) AS tables
          FROM zbxhist.parent_config c
          JOIN pg_class k ON k.oid = c.parent
          JOIN pg_namespace n ON n.oid = k.relnamespace
          JOIN zbxhist_internal.zabbix_tables() z ON z.table_name = k.relname
         WHERE c.routing
         GROUP BY n.nspname, z.is_trends
         ORDER BY n.nspname, z.is_trends
    LOOP
        unread := zbxhist_internal.settings_grant(place.nspname);
        IF unread.command IS NULL THEN
            RETURN QUERY SELECT * FROM zbxhist_internal.check_housekeeping(
                place.nspname, CASE WHEN place.is_trends THEN 'hk_trends' ELSE 'hk_history' END, place.tables);
        ELSIF told IS DISTINCT FROM unread.settings THEN
            RETURN QUERY SELECT 'info', 'settings_unreadable', unread.settings,
                format('role %I may not read it: check() cannot say whether old values are deleted, and whether Zabbix''s own housekeeper is off',
                       current_user), unread.command;
            told := unread.settings;
        END IF;
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.check_zabbix() IS
'The part of check that is about the settings of Zabbix (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.check_zabbix() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.check_zabbix() TO PUBLIC;
