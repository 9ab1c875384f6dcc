-- sql/check/zabbix.sql

-- Part of check(): the settings of Zabbix.
CREATE FUNCTION zbxhist_internal.check_zabbix() RETURNS SETOF zbxhist_internal.check_line
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp SET intervalstyle = postgres AS $$
DECLARE
    place    record;
    unread   record;
    told     text;
    call     text;
    option   text;
    mode     record;
    override record;
    period   record;
    shown    interval;
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
            -- setup with configure_zabbix asks before anything is deleted
            call := format('SELECT * FROM zbxhist.setup(%L, configure_zabbix => true);', place.nspname);
            option := CASE WHEN place.is_trends THEN 'hk_trends' ELSE 'hk_history' END;
            mode := zbxhist_internal.zabbix_setting(place.nspname, option || '_mode');
            override := zbxhist_internal.zabbix_setting(place.nspname, option || '_global');
            period := zbxhist_internal.zabbix_setting(place.nspname, option);
            shown := justify_hours(zbxhist_internal.parse_period(period.value));
            RETURN QUERY
                SELECT 'warning', 'no_retention',
                       zbxhist_internal.object_list(array_agg(c.parent::text ORDER BY array_position(place.tables, c.parent))),
                       format('zbxhist deletes nothing of it, because %s is %s: in Zabbix each item has a storage period of its own.'
                              '  The command applies the period of %s, %s, to all; that deletes %s',
                              override.source, override.value, period.source, shown,
                              CASE WHEN sum(d.rows) > 0 OR sum(d.partitions) > 0
                                   THEN format('about %s rows%s, %s, so it asks first', sum(d.rows),
                                               CASE WHEN sum(d.partitions) > 0
                                                    THEN ', ' || zbxhist_internal.count_of(sum(d.partitions)::bigint, 'whole partition') END,
                                               pg_size_pretty(sum(d.bytes)))
                                   ELSE 'nothing now' END), call
                  FROM zbxhist.parent_config c
                 CROSS JOIN LATERAL zbxhist_internal.effective_retention(c.parent, c.retention, true) e
                 CROSS JOIN LATERAL zbxhist_internal.deletion(c.parent, shown) d
                 WHERE c.parent = ANY (place.tables) AND c.retention IS NULL AND e.retention IS NOT NULL AND override.value <> '1'
                HAVING count(*) > 0;
            IF mode.value = '1' THEN
                RETURN QUERY SELECT 'warning', 'housekeeper_on', zbxhist_internal.object_list(place.tables::text[]),
                    format('%s is 1: the Zabbix housekeeper deletes row by row what zbxhist drops by partition', mode.source),
                    CASE WHEN EXISTS (SELECT FROM zbxhist.parent_config c WHERE c.parent = ANY (place.tables) AND c.retention IS NULL)
                         THEN call
                         ELSE zbxhist_internal.setting_command(place.nspname, option || '_mode', '0') END;
            END IF;
            -- Zabbix accepts at most 25 years
            RETURN QUERY
                SELECT 'warning', 'zabbix_hides_rows', zbxhist_internal.object_list(array_agg(c.parent::text ORDER BY c.parent::text)),
                       format('rows are kept for %s, but Zabbix shows only those of %s (%s)', max(c.retention), period.value, period.source),
                       zbxhist_internal.setting_command(
                           place.nspname, option, least(ceil(extract(epoch FROM max(c.retention)) / 86400), 9125) || 'd')
                  FROM zbxhist.parent_config c
                 WHERE c.parent = ANY (place.tables) AND c.retention IS NOT NULL AND override.value = '1'
                   AND extract(epoch FROM shown) < least(extract(epoch FROM c.retention), 9125 * 86400)
                HAVING count(*) > 0;
        ELSIF told IS DISTINCT FROM unread.settings THEN
            RETURN QUERY SELECT 'info', 'settings_unreadable', unread.settings,
                format('role %I may not read it: check() cannot say whether old values are deleted, and whether Zabbix''s own housekeeper is off',
                       current_user), unread.command;
            told := unread.settings;
        END IF;
    END LOOP;
END
$$;

-- Part of check(): tables without retention.
-- If the settings are missing, that is one line for history and trends.  check_zabbix reports it if
-- only the override is off, or if the caller may not read the settings.
CREATE FUNCTION zbxhist_internal.check_retention() RETURNS SETOF zbxhist_internal.check_line
LANGUAGE sql VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
    SELECT 'warning', 'no_retention',
           zbxhist_internal.object_list(array_agg(c.parent::text ORDER BY u.place)),
           format('zbxhist deletes nothing of it: %s.  Give it a retention; with that of the command nothing is deleted now',
                  min(e.problem)),
           format('SELECT %s;',
                  -- Zabbix's default period, or longer if there are older values
                  string_agg(format('zbxhist.alter_parent(%L, retention => ''%s days'')', c.parent, greatest(
                      CASE WHEN k.relname LIKE 'history%' THEN 31 ELSE 365 END,
                      ceil((extract(epoch FROM clock_timestamp()) - (zbxhist_internal.deletion(c.parent, interval '0')).oldest)
                           / 86400) + 1)), ', ' ORDER BY u.place))
      FROM unnest(zbxhist_internal.parent_list()) WITH ORDINALITY AS u (parent, place)
      JOIN zbxhist.parent_config c ON c.parent = u.parent AND c.routing
      JOIN pg_class k ON k.oid = c.parent
      JOIN pg_namespace n ON n.oid = k.relnamespace
     CROSS JOIN LATERAL zbxhist_internal.effective_retention(c.parent, c.retention) e
     WHERE e.retention IS NULL
       AND (zbxhist_internal.why_unfit(c.parent)).problem IS NULL
       AND ((zbxhist_internal.settings_grant(n.nspname)).command IS NULL
            OR k.relname !~ '^(history|trends)')
       AND ((zbxhist_internal.effective_retention(c.parent, NULL, true)).retention IS NULL
            OR NOT EXISTS (SELECT FROM zbxhist_internal.zabbix_tables() z WHERE z.table_name = k.relname))
     GROUP BY k.relnamespace, k.relowner, replace(e.problem, 'hk_trends', 'hk_history')
$$;

-- Part of check(): values that were left out because of their clocks.
-- It names the three items with the most such values, if the caller may read the names.
CREATE FUNCTION zbxhist_internal.check_clocks(parent regclass) RETURNS SETOF zbxhist_internal.check_line
LANGUAGE sql VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp SET intervalstyle = postgres AS $$
    WITH item AS (
        SELECT l.itemid, sum(l.rows) AS rows, min(l.first_clock) AS first_clock, max(l.last_clock) AS last_clock
          FROM zbxhist.left_out l
         WHERE l.parent = check_clocks.parent AND l.noted_at > now() - interval '1 day'
         GROUP BY l.itemid),
    worst AS (
        SELECT i.* FROM item i WHERE i.itemid IS NOT NULL ORDER BY i.rows DESC, i.itemid LIMIT 3),
    named AS (
        SELECT string_agg(CASE WHEN n.host IS NULL THEN 'item ' || w.itemid
                               ELSE format('"%s" of host "%s"', left(n.item, 60), n.host) END
                          || format(' (%s)', w.rows), ', ' ORDER BY w.rows DESC, w.itemid) AS items
          FROM worst w
          LEFT JOIN zbxhist_internal.item_names(
               (SELECT s.nspname FROM pg_class k JOIN pg_namespace s ON s.oid = k.relnamespace WHERE k.oid = check_clocks.parent),
               ARRAY(SELECT o.itemid FROM worst o)) n ON n.itemid = w.itemid)
    SELECT 'warning', 'clocks', check_clocks.parent::text,
           format('%s values of the last day were left out, with clocks from %s to %s, %s.  Most came from %s: check the time on these hosts and their proxies',
                  sum(i.rows), zbxhist_internal.format_time(to_timestamp(min(i.first_clock))),
                  zbxhist_internal.format_time(to_timestamp(max(i.last_clock))),
                  (SELECT coalesce('because the policy stores none that are '
                                   || nullif(concat_ws(' or ', 'older than ' || c.max_age, 'more than ' || c.max_ahead || ' ahead'), ''),
                                   'by a policy that was changed since')
                     FROM zbxhist.parent_config c WHERE c.parent = check_clocks.parent),
                  coalesce(max(n.items), 'many items')),
           format('SELECT * FROM zbxhist.left_out WHERE parent = %L::regclass ORDER BY rows DESC;', check_clocks.parent)
      FROM item i CROSS JOIN named n
    HAVING count(*) > 0
$$;

-- Part of check(): hypertables of TimescaleDB.  The extension zbxhist_migrate, which is needed only during
-- the migration, has the rest.
CREATE FUNCTION zbxhist_internal.check_migrations()
RETURNS TABLE (step integer, severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    known CONSTANT boolean := to_regprocedure('zbxhist_internal.check_timescaledb()') IS NOT NULL;
BEGIN
    RETURN QUERY
        SELECT 1, 'warning', 'hypertable', h::text,
               format('it is a hypertable of TimescaleDB, which zbxhist cannot manage.  %s replaces it by an empty managed table, into which it is then imported',
                      CASE WHEN known THEN 'The command' ELSE 'A procedure of the extension' END),
               CASE WHEN known THEN format('CALL zbxhist.adopt_hypertable(%L);', h)
                    ELSE 'CREATE EXTENSION zbxhist_migrate;' END
          FROM zbxhist_internal.hypertables() h
          JOIN pg_class k ON k.oid = h AND k.relkind = 'r'
          JOIN zbxhist_internal.zabbix_tables() z ON z.table_name = k.relname
         ORDER BY k.relnamespace::regnamespace::text, z.ordinal;
    IF known THEN
        RETURN QUERY EXECUTE 'SELECT * FROM zbxhist_internal.check_timescaledb()';
    END IF;
END
$$;
