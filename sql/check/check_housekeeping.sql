-- sql/check/check_housekeeping.sql
--
-- setup with configure_zabbix asks before it has anything deleted.

CREATE FUNCTION zbxhist_internal.check_housekeeping(zabbix name, option text, tables regclass[])
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
SET intervalstyle = postgres
AS $$
DECLARE
    call     CONSTANT text := format('SELECT * FROM zbxhist.setup(%L, configure_zabbix => true);', zabbix);
    mode     CONSTANT record := zbxhist_internal.zabbix_setting(zabbix, option || '_mode');
    override CONSTANT record := zbxhist_internal.zabbix_setting(zabbix, option || '_global');
    period   CONSTANT record := zbxhist_internal.zabbix_setting(zabbix, option);
    shown    CONSTANT interval := justify_hours(zbxhist_internal.parse_period(period.value));
    endless  regclass[];
    hidden   record;
BEGIN
    SELECT array_agg(c.parent) INTO endless
      FROM zbxhist.parent_config c,
           zbxhist_internal.planned_retention(c.parent, c.retention, true) e
     WHERE c.parent = ANY (tables) AND c.retention IS NULL AND e.retention IS NOT NULL
       AND override.value <> '1';
    IF endless IS NOT NULL THEN
        RETURN QUERY
            SELECT 'warning', 'no_retention', zbxhist_internal.object_list(endless::text[]),
                   format('zbxhist deletes nothing of it, because %s is %s: in Zabbix each item has a storage period of its own.'
                          '  The command makes that of %s, %s, count for all; that deletes %s',
                          override.source, override.value, period.source, shown,
                          CASE WHEN sum(d.rows) > 0 OR sum(d.partitions) > 0
                               THEN format('about %s rows%s, %s, so it asks before', sum(d.rows),
                                           CASE WHEN sum(d.partitions) > 0 THEN format(', %s whole partitions', sum(d.partitions)) END,
                                           pg_size_pretty(sum(d.bytes)))
                               ELSE 'nothing now' END), call
              FROM unnest(endless) t, zbxhist_internal.deletion(t, shown) d;
    END IF;
    IF mode.value = '1' THEN
        RETURN QUERY SELECT 'warning', 'housekeeper_on', zbxhist_internal.object_list(tables::text[]),
            format('%s is 1: the Zabbix housekeeper deletes row by row what zbxhist drops by partition', mode.source),
            CASE WHEN EXISTS (SELECT FROM zbxhist.parent_config c WHERE c.parent = ANY (tables) AND c.retention IS NULL)
                 THEN call
                 ELSE zbxhist_internal.setting_command(zabbix, option || '_mode', '0') END;
    END IF;
    -- Zabbix knows no longer periods than 25 years
    SELECT array_agg(c.parent) AS objects, max(c.retention) AS retention,
           least(ceil(extract(epoch FROM max(c.retention)) / 86400), 9125)::integer AS days INTO hidden
      FROM zbxhist.parent_config c
     WHERE c.parent = ANY (tables) AND c.retention IS NOT NULL AND override.value = '1'
       AND extract(epoch FROM shown) < least(extract(epoch FROM c.retention), 9125 * 86400);
    IF hidden.objects IS NOT NULL THEN
        RETURN QUERY SELECT 'warning', 'zabbix_hides_rows', zbxhist_internal.object_list(hidden.objects::text[]),
            format('rows are kept for %s, but Zabbix shows only those of %s (%s)',
                   hidden.retention, period.value, period.source),
            zbxhist_internal.setting_command(zabbix, option, hidden.days || 'd');
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.check_housekeeping(name, text, regclass[]) IS
'The part of check that is about the settings of Zabbix for history, or those for trends (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.check_housekeeping(name, text, regclass[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.check_housekeeping(name, text, regclass[]) TO PUBLIC;
