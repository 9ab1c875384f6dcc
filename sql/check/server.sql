-- sql/check/server.sql

-- Numbers of INSERTs and values since the server started, by path: "fast", without planner and
-- trigger, or the reason why not: column, copy, not_loaded, replication, row_security, rule,
-- setting, statement, trigger; and how many of the values went to partitions.  No rows if the
-- server cannot count them: before PostgreSQL 17 that needs zbxhist in shared_preload_libraries.
CREATE FUNCTION zbxhist.insert_paths()
RETURNS TABLE (parent regclass, path text, statements bigint, values_stored bigint, values_routed bigint)
LANGUAGE c VOLATILE PARALLEL SAFE ROWS 10 AS 'MODULE_PATHNAME', 'zbxhist_stored_paths';

-- Part of check(): the database.
CREATE FUNCTION zbxhist_internal.check_database() RETURNS SETOF zbxhist_internal.check_line
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    remedy CONSTANT text := 'CALL zbxhist.run_maintenance();';
BEGIN
    IF cardinality(zbxhist_internal.parent_list()) = 0 THEN
        RETURN QUERY SELECT 'warning', 'nothing_managed', current_database()::text,
            'no table is managed yet'
            || CASE WHEN n.native IS NOT NULL
                    THEN format('.  Natively partitioned tables, such as %s, are taken over one by one, by the extension zbxhist_migrate', n.native)
                    WHEN n.tables = 0 THEN ', and this database has no table "history" of Zabbix: it may be another one' ELSE '' END,
            CASE WHEN n.native IS NOT NULL THEN zbxhist_internal.migrate_command(format('CALL zbxhist.adopt_partitions(%L);', n.native))
                 WHEN n.tables > 0 THEN 'SELECT * FROM zbxhist.setup();' END
            FROM (SELECT count(*) AS tables, min(f.parent::text) FILTER (WHERE k.relkind = 'p') AS native
                    FROM zbxhist_internal.find_tables(NULL) f
                    JOIN pg_class k ON k.oid = f.parent) n;
    END IF;
    RETURN QUERY
        SELECT 'warning', 'maintenance_late', t.object,
               CASE WHEN t.last_run IS NULL THEN 'maintenance has not been run yet'
                    ELSE format('maintenance was last run at %s', zbxhist_internal.format_time(t.last_run)) END
               || '.  Schedule it every 15 minutes: by cron, systemd, pg_cron or the background worker',
               remedy
          FROM (SELECT zbxhist_internal.object_list(array_agg(c.parent::text ORDER BY c.parent::text)) AS object,
                       max(s.last_run) AS last_run
                  FROM zbxhist.parent_config c
                  JOIN pg_class k ON k.oid = c.parent
                  LEFT JOIN zbxhist.parent_state s ON s.parent = c.parent
                 WHERE c.routing AND coalesce(s.last_run, c.created_at) NOT BETWEEN now() - interval '1 day' AND now() + interval '1 day') t
         WHERE t.object IS NOT NULL;
    RETURN QUERY
        SELECT 'warning', 'not_taken_up', f.parent::text,
               format('it has the name of a table of Zabbix, but belongs to %s, who owns no managed table there: maintenance does not manage it.  This role or a superuser can run the command',
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
               format('it was created after setup and cannot be managed: %s', p.message), remedy
          FROM zbxhist_internal.new_tables() n
          JOIN zbxhist.step_problem p ON p.parent = n AND p.step = 'take_up'
         WHERE NOT zbxhist_internal.is_transient(p.sqlstate) OR p.since < now() - interval '1 day';
    RETURN QUERY
        SELECT 'warning', 'orphaned_day', zbxhist_internal.object_list(array_agg(k.oid::regclass::text ORDER BY k.relname)),
               format('it is a packed day of no managed table, and nobody can read it.  If its values are not needed, drop it: that deletes %s, %s',
                      zbxhist_internal.count_of(count(*), 'packed day'),
                      pg_size_pretty(sum(pg_total_relation_size(k.oid)))),
               format('DROP TABLE %s;', string_agg(k.oid::regclass::text, ', ' ORDER BY k.relname))
          FROM pg_class k
         WHERE k.relnamespace = 'zbxhist_packed'::regnamespace AND k.relkind = 'r'
           AND NOT EXISTS (SELECT FROM zbxhist.packed_day d
                             JOIN pg_class p ON p.oid = d.parent
                            WHERE d.day = k.oid)
        HAVING count(*) > 0;
    RETURN QUERY
        SELECT 'error', 'foreign_routine', p.oid::regprocedure::text,
               'it is in a schema of zbxhist, but not part of the extension: a call of a function of that name may call this one',
               format('DROP ROUTINE %s;', p.oid::regprocedure)
          FROM pg_proc p
         WHERE p.pronamespace IN ('zbxhist'::regnamespace, 'zbxhist_internal'::regnamespace)
           AND NOT (EXISTS (SELECT FROM pg_depend d
                             WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
                    AND EXISTS (SELECT FROM pg_roles r WHERE r.oid = p.proowner AND r.rolsuper));
    RETURN QUERY
        SELECT 'info', 'not_preloaded', current_database()::text,
               'a session loads the library in its first INSERT, which is slower and may report a count of 0 rows.  A superuser can make sessions load it when they begin',
               c || ';'
          FROM zbxhist_internal.preload_command() c
         WHERE c IS NOT NULL AND cardinality(zbxhist_internal.parent_list()) > 0;
    -- Only in the week after the set-up, when backups are reviewed.  pg_dump -Fd does not overwrite an
    -- older dump.
    RETURN QUERY
        SELECT 'info', 'partial_dump', 'packed days',
               'a dump of a part of the database, such as pg_dump -t history, leaves partitions and packed rows out; '
               'dump the whole database (reported for a week after the set-up)',
               -- quoted for a shell
               format('pg_dump -d ''%s'' -Fd -f zabbix.dump', replace(current_database(), '''', '''\'''''))
          FROM zbxhist.parent_config c
          JOIN pg_class p ON p.oid = c.parent
         WHERE EXISTS (SELECT FROM zbxhist.packed_day d JOIN pg_class k ON k.oid = d.day)
        HAVING max(c.created_at) > now() - interval '7 days';
    -- A role that only monitors must not take an empty result as good news.
    RETURN QUERY
        SELECT 'warning', 'not_seen', quote_ident(current_user),
               'this role may not read all that check() reads: lost values, values left out because of their clocks, and rows waiting in a table itself are not reported.  The owner of the tables sees them, and so does maintenance: metrics() has the number of its lines.  A superuser can run the command',
               format('GRANT pg_read_all_data TO %I;', current_user)
         WHERE NOT (has_table_privilege('zbxhist.lost_values', 'SELECT') AND has_table_privilege('zbxhist.left_out', 'SELECT'))
            OR EXISTS (SELECT FROM unnest(zbxhist_internal.parent_list()) p WHERE NOT has_table_privilege(p, 'SELECT'));
END
$$;
