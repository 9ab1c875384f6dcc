-- sql/check/columns.sql

-- The part of check that finds what a partition has and its parent has not.
CREATE FUNCTION zbxhist_internal.check_columns(parent regclass) RETURNS SETOF zbxhist_internal.check_line
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT 'warning', 'own_column', p.partition::text,
               format('it has a column "%s" that its parent has not: new rows of its time stay in the parent.  To drop the column deletes what is in it, in about %s rows',
                      c, zbxhist_internal.probable_rows(p.partition)),
               format('ALTER TABLE %s DROP COLUMN %I;', p.partition, c)
          FROM zbxhist.list_partitions(parent) p,
               zbxhist_internal.own_column(parent, p.partition) c
         WHERE c IS NOT NULL;
    RETURN QUERY
        SELECT 'info', 'own_object', zbxhist_internal.object_list(array_agg(p.partition::text ORDER BY p.from_clock)),
               format('it has %s, which its parent has not: an INSERT of its time may fail for it, or cost more.  Drop it if this is not meant', o.what),
               (array_agg(o.command ORDER BY p.from_clock))[1]
          FROM zbxhist.list_partitions(parent) p
         CROSS JOIN LATERAL (
               SELECT format('a constraint "%s" of its own', c.conname), format('ALTER TABLE %s DROP CONSTRAINT %I;', p.partition, c.conname)
                 FROM pg_constraint c
                WHERE c.conrelid = p.partition
                  AND (c.contype = 'c' AND c.coninhcount = 0 AND c.conname <> 'zbxhist_clock'
                       OR c.conindid IN (SELECT x.indexrelid FROM zbxhist_internal.missing_indexes(p.partition, check_columns.parent) x))
                UNION ALL
               SELECT format('an index "%s" of its own', x.indexrelid::regclass), format('DROP INDEX %s;', x.indexrelid::regclass)
                 FROM zbxhist_internal.missing_indexes(p.partition, check_columns.parent) x
                WHERE NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = x.indexrelid)
                UNION ALL
               SELECT format('a column "%s" that is NOT NULL', a.attname), format('ALTER TABLE %s ALTER COLUMN %I DROP NOT NULL;', p.partition, a.attname)
                 FROM pg_attribute a
                 JOIN pg_attribute o ON o.attrelid = check_columns.parent AND o.attname = a.attname
                WHERE a.attrelid = p.partition AND a.attnum > 0 AND a.attnotnull AND NOT o.attnotnull
                UNION ALL
               SELECT format('a trigger "%s" of its own', t.tgname), format('DROP TRIGGER %I ON %s;', t.tgname, p.partition)
                 FROM pg_trigger t
                WHERE t.tgrelid = p.partition AND NOT t.tgisinternal
                  AND t.oid NOT IN (SELECT o.oid FROM zbxhist_internal.tool_triggers(p.partition) o)
                  AND NOT EXISTS (SELECT FROM zbxhist_internal.row_triggers(check_columns.parent) o WHERE o.tgname = t.tgname))
               AS o (what, command)
         GROUP BY o.what;
END
$$;

-- The part of check that finds tables of which nothing is deleted.
-- Settings that are not there are one cause, for history as for trends.  What only
-- the override is missing for is told by check_zabbix, as is who cannot know.
CREATE FUNCTION zbxhist_internal.check_retention() RETURNS SETOF zbxhist_internal.check_line
LANGUAGE sql VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
    SELECT 'warning', 'no_retention',
           zbxhist_internal.object_list(array_agg(c.parent::text ORDER BY u.place)),
           format('zbxhist deletes nothing of it: %s.  Give it a retention; with that of the command nothing is deleted now',
                  min(e.problem)),
           format('SELECT %s;',
                  -- as long as Zabbix keeps values if nobody says otherwise, or longer, if there are older ones
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
