-- sql/check/check_database.sql

CREATE FUNCTION zbxhist_internal.check_database()
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    remedy  CONSTANT text := 'CALL zbxhist.run_maintenance();';
    is_late boolean;
    orphans record;
BEGIN
    IF cardinality(zbxhist_internal.parent_list()) = 0 THEN
        RETURN QUERY SELECT 'warning', 'nothing_managed', current_database()::text,
            'no table is managed yet', 'SELECT * FROM zbxhist.setup();';
    END IF;
    RETURN QUERY
        SELECT 'warning', 'maintenance_late', t.object,
               CASE WHEN t.last_run IS NULL THEN 'maintenance has not been run yet'
                    ELSE format('maintenance was last run at %s', zbxhist_internal.format_time(t.last_run)) END
               || '.  Have it called every quarter of an hour: by cron, systemd, pg_cron or the background worker',
               remedy
          FROM (SELECT zbxhist_internal.object_list(array_agg(c.parent::text ORDER BY c.parent::text)) AS object,
                       max(s.last_run) AS last_run
                  FROM zbxhist.parent_config c
                  JOIN pg_class k ON k.oid = c.parent
                  LEFT JOIN zbxhist.parent_state s ON s.parent = c.parent
                 WHERE c.routing AND coalesce(s.last_run, c.created_at) < now() - interval '1 day') t
         WHERE t.object IS NOT NULL;
    SELECT coalesce(max(s.last_run), min(c.created_at)) < now() - interval '1 day' INTO is_late
      FROM zbxhist.parent_config c
      LEFT JOIN zbxhist.parent_state s ON s.parent = c.parent;
    RETURN QUERY
        SELECT 'warning', 'new_table', n::text,
               'it has appeared since setup and is not managed yet', remedy
          FROM zbxhist_internal.new_tables() n
         WHERE is_late;
    RETURN QUERY
        SELECT 'warning', 'not_taken_up', f.parent::text,
               format('it has the name of a table of Zabbix, but belongs to %s, who owns no managed table there: maintenance leaves it alone',
                      quote_ident(pg_get_userbyid(k.relowner))),
               format('SELECT zbxhist.create_parent(%L);', f.parent)
          FROM zbxhist.managed_schema m,
               zbxhist_internal.find_tables(m.schema_name) f
          JOIN pg_class k ON k.oid = f.parent
         WHERE f.table_name <> ALL (m.excluded)
           AND NOT EXISTS (SELECT FROM zbxhist.parent_config c WHERE c.parent = f.parent)
           AND NOT zbxhist_internal.may_take_up(f.parent);
    RETURN QUERY
        SELECT 'error', 'take_up_failed', n::text,
               format('it has appeared since setup and cannot be managed: %s', p.message), remedy
          FROM zbxhist_internal.new_tables() n
          JOIN zbxhist.step_problem p ON p.parent = n AND p.step = 'take_up'
         WHERE NOT zbxhist_internal.is_transient(p.sqlstate) OR p.since < now() - interval '1 day';
    RETURN QUERY
        SELECT 'warning', 'parent_dropped', c.parent::oid::text,
               format('the managed table with OID %s has been dropped', c.parent::oid), remedy
          FROM zbxhist.parent_config c
         WHERE is_late AND NOT EXISTS (SELECT FROM pg_class k WHERE k.oid = c.parent);
    SELECT array_agg(k.oid::regclass::text ORDER BY k.relname) AS objects,
           string_agg(k.oid::regclass::text, ', ' ORDER BY k.relname) AS names,
           sum(pg_total_relation_size(k.oid)) AS bytes INTO orphans
      FROM pg_class k
     WHERE k.relnamespace = 'zbxhist_packed'::regnamespace AND k.relkind = 'r'
       AND NOT EXISTS (SELECT FROM zbxhist.packed_day d
                         JOIN pg_class p ON p.oid = d.parent
                        WHERE d.day = k.oid);
    IF orphans.names IS NOT NULL THEN
        RETURN QUERY SELECT 'warning', 'orphaned_day', zbxhist_internal.object_list(orphans.objects),
            format('it is a packed day of no managed table, and nobody can read it.  If its values are not needed, drop it: that deletes %s, %s',
                   CASE cardinality(orphans.objects) WHEN 1 THEN 'a packed day'
                        ELSE cardinality(orphans.objects) || ' packed days' END,
                   pg_size_pretty(orphans.bytes)),
            format('DROP TABLE %s;', orphans.names);
    END IF;
    RETURN QUERY SELECT * FROM zbxhist_internal.check_libraries();
END
$$;

COMMENT ON FUNCTION zbxhist_internal.check_database() IS
'The part of check that is about the database (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.check_database() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.check_database() TO PUBLIC;
