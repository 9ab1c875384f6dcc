-- sql/check/check.sql

-- Returns the UTC day of a clock, as an argument for pack and unpack.
CREATE FUNCTION zbxhist_internal.format_day(clock bigint) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT to_char(to_timestamp(clock) AT TIME ZONE 'UTC', 'YYYY-MM-DD')
$$;

-- Returns a time as text that does not depend on the settings of the session.
CREATE FUNCTION zbxhist_internal.format_time(moment timestamptz) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') || ' UTC'
$$;

-- Returns the first names of a list, and how many more there are.
CREATE FUNCTION zbxhist_internal.object_list(objects text[]) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT array_to_string(objects[1:CASE WHEN cardinality(objects) > 4 THEN 3 ELSE 4 END], ', ')
           || CASE WHEN cardinality(objects) > 4
                   THEN format(' and %s more', cardinality(objects) - 3) ELSE '' END
$$;

-- Returns the command that shows the transactions for which maintenance may be waiting.  Of sessions of
-- other roles, the owner of the database sees only that they have one.
CREATE FUNCTION zbxhist_internal.long_transactions() RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT 'SELECT pid::text, usename, state, xact_start, left(query, 60) AS query FROM pg_stat_activity'
           ' WHERE pid IN (SELECT pid FROM pg_locks WHERE locktype = ''virtualxid'') AND pid <> pg_backend_pid()'
           ' UNION ALL SELECT gid, owner, ''prepared'', prepared, NULL FROM pg_prepared_xacts'
           ' ORDER BY xact_start LIMIT 10;'
$$;

-- Describes the oldest transaction of another session that has a lock on a table or, if none has, the oldest
-- in this database; NULL if there is none.
CREATE FUNCTION zbxhist_internal.oldest_blocker(relation regclass) RETURNS text
LANGUAGE sql VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp SET intervalstyle = postgres AS $$
    SELECT format('%s, in a transaction for %s', t.name, date_trunc('second', now() - t.began))
      FROM (SELECT format('process %s (%s)', a.pid, coalesce(nullif(a.application_name, ''), a.backend_type)), a.xact_start,
                   EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND l.locktype = 'relation' AND l.relation = oldest_blocker.relation)
              FROM pg_stat_activity a
             WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND a.xact_start IS NOT NULL
               AND a.backend_type <> 'autovacuum worker'
            UNION ALL
            SELECT format('prepared transaction "%s"', x.gid), x.prepared, false
              FROM pg_prepared_xacts x WHERE x.database = current_database()) AS t (name, began, has_it)
     ORDER BY t.has_it DESC, t.began LIMIT 1
$$;

-- Part of check(): problems that maintenance has noted.
CREATE FUNCTION zbxhist_internal.check_maintenance(parent regclass) RETURNS SETOF zbxhist_internal.check_line
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    remedy CONSTANT text := 'CALL zbxhist.run_maintenance();';
BEGIN
    RETURN QUERY
        SELECT 'error', 'step_failed',
               zbxhist_internal.object_list(array_agg(coalesce(nullif(p.relation, ''), p.parent::text) ORDER BY p.relation)),
               format('maintenance fails (%s): %s.  ', p.step, min(p.message))
               || CASE WHEN v.command IS NULL THEN 'When the cause is fixed, the command does it at once'
                       WHEN v.command LIKE 'DROP VIEW%' THEN format('To keep the view, define it on %s instead', p.parent)
                       ELSE 'The command removes it from the replication set' END,
               coalesce(v.command, remedy)
          FROM zbxhist.step_problem p
         CROSS JOIN LATERAL (
               SELECT CASE WHEN p.sqlstate <> '2BP01' THEN NULL
                           WHEN p.message ~ 'replication set'
                           THEN format('SELECT pglogical.replication_set_remove_table(s.set_name, t.set_reloid) FROM pglogical.replication_set s'
                                       ' JOIN pglogical.replication_set_table t USING (set_id) WHERE t.set_reloid = %L::regclass;', p.relation)
                           ELSE zbxhist_internal.drop_views(to_regclass(nullif(p.relation, ''))) END) v (command)
         WHERE p.parent = check_maintenance.parent AND p.step <> 'archive_reach'
           AND NOT zbxhist_internal.is_transient(p.sqlstate)
         GROUP BY p.parent, p.step, p.sqlstate, replace(p.message, nullif(p.relation, ''), ''), v.command;
    RETURN QUERY
        SELECT 'warning', 'waits_for_lock',
               zbxhist_internal.object_list(array_agg(coalesce(nullif(p.relation, ''), p.parent::text) ORDER BY p.relation)),
               format('maintenance has been waiting for more than an hour (%s) for %s', p.step,
                      coalesce(b, 'a transaction that has locked it, or began earlier and is still running')),
               zbxhist_internal.long_transactions()
          FROM zbxhist.step_problem p
         CROSS JOIN LATERAL zbxhist_internal.oldest_blocker(to_regclass(coalesce(nullif(p.relation, ''), p.parent::text))) b
         WHERE p.parent = check_maintenance.parent AND zbxhist_internal.is_transient(p.sqlstate)
           AND p.since < now() - interval '1 hour' AND p.step <> 'take_up'
           -- a small table does not matter, and what is postponed waits for VACUUM
           AND (p.step <> 'truncate' OR p.message <> 'postponed' AND zbxhist_internal.own_pages(p.parent) > 8192)
         GROUP BY p.step, b;
    RETURN QUERY
        SELECT 'warning', 'run_broken_off', s.parent::text,
               format('the run of maintenance that began with it at %s did not finish: somebody cancelled it, or its session has ended',
                      zbxhist_internal.format_time(s.begun_at)), remedy
          FROM zbxhist.parent_state s
         WHERE s.parent = check_maintenance.parent AND s.begun_pid IS NOT NULL
           AND NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.pid = s.begun_pid AND a.pid <> pg_backend_pid() AND a.state IS DISTINCT FROM 'idle');
END
$$;

-- Part of check(): one managed table.
-- If it cannot be managed any more (why_unfit), its clocks are not read.
CREATE FUNCTION zbxhist_internal.check_parent(parent regclass) RETURNS SETOF zbxhist_internal.check_line
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp SET intervalstyle = postgres AS $$
DECLARE
    policy zbxhist.parent_config;
BEGIN
    RETURN QUERY
        SELECT 'error', 'unfit', parent::text,
               format('maintenance skips the table, and new rows stay in the table itself: %s', u.problem), u.remedy
          FROM zbxhist_internal.why_unfit(parent) u
         WHERE u.problem IS NOT NULL;
    IF FOUND THEN
        RETURN;
    END IF;
    SELECT * INTO policy FROM zbxhist.parent_config c WHERE c.parent = check_parent.parent;
    RETURN QUERY
        SELECT 'warning', 'undo_unfinished', parent::text,
               'an undo was begun and is not finished: new rows stay in the table itself, and nothing is deleted.  Call it again; or, to stay with zbxhist, call zbxhist.create_parent',
               format('CALL zbxhist.undo(%L);', parent)
         WHERE NOT policy.routing AND NOT EXISTS (SELECT FROM zbxhist.progress g WHERE g.parent = check_parent.parent)
         UNION ALL
        SELECT 'error', 'retention_schema', parent::text,
               format('its partitions cannot be detached when they are past retention: %s', p.problem), p.remedy
          FROM zbxhist_internal.schema_problem(parent, policy.retention_schema) p
         WHERE policy.routing AND p.problem IS NOT NULL
         UNION ALL
        -- a table of an old Zabbix may lack the column ns and the key
        SELECT w.severity, w.code, parent::text, w.message, format(w.command, parent)
          FROM pg_class k
          JOIN zbxhist_internal.zabbix_tables() z ON z.table_name = k.relname
         CROSS JOIN LATERAL (
               SELECT 'error', 'no_ns', 'it has no column "ns", which Zabbix writes to: its INSERTs fail',
                      'ALTER TABLE %s ADD COLUMN ns integer DEFAULT 0 NOT NULL;'
                WHERE NOT z.is_trends
                  AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = k.oid AND a.attname = 'ns' AND NOT a.attisdropped)
                UNION ALL
               SELECT 'info', 'no_key', 'it has no primary key, which Zabbix creates since 6.0: a value that is sent twice is stored twice.  When the table has one, check() lists the partitions that lack it',
                      'ALTER TABLE %s ADD PRIMARY KEY (itemid, clock' || CASE WHEN z.is_trends THEN ');' ELSE ', ns);' END
                WHERE NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = k.oid AND i.indisunique)
                  AND (z.is_trends
                       OR EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = k.oid AND a.attname = 'ns' AND NOT a.attisdropped)))
               AS w (severity, code, message, command)
         WHERE k.oid = parent AND policy.routing
         UNION ALL
        -- only for a role that may read the items as maintenance does
        SELECT 'warning', 'deleted_items', parent::text,
               format('values of deleted items stay until retention, although the policy drops them: %s', i.problem),
               format('SELECT zbxhist.alter_parent(%L, deleted_items => ''keep'');', parent)
          FROM pg_class k
         CROSS JOIN LATERAL zbxhist_internal.kept_items(k.oid) i
         WHERE k.oid = parent AND pg_has_role(k.relowner, 'USAGE') AND i.problem IS NOT NULL;
    RETURN QUERY SELECT * FROM zbxhist_internal.check_deletion(parent) d WHERE policy.routing;
    RETURN QUERY SELECT * FROM zbxhist_internal.check_clocks(parent) c WHERE has_table_privilege('zbxhist.left_out', 'SELECT');
    RETURN QUERY SELECT * FROM zbxhist_internal.check_maintenance(parent) m WHERE policy.routing;
    RETURN QUERY SELECT * FROM zbxhist_internal.check_triggers(parent);
    RETURN QUERY SELECT * FROM zbxhist_internal.check_partitions(parent);
    RETURN QUERY SELECT * FROM zbxhist_internal.check_packed(parent);
    RETURN QUERY SELECT * FROM zbxhist_internal.check_archive(policy);
    RETURN QUERY SELECT * FROM zbxhist_internal.check_rows(parent) r WHERE policy.routing AND has_table_privilege(parent, 'SELECT');
END
$$;

-- What an administrator should know: a line for each cause, with a command that fixes it or shows more;
-- if all is well, no rows, or only notes (info).
--
-- Problems with the same cause and the same command are one line.
CREATE FUNCTION zbxhist.check() RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE sql VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
    SELECT g.severity, g.code, zbxhist_internal.object_list(g.objects), g.message, g.hint
      FROM (
            SELECT a.severity, a.code, min(a.place) AS place,
                   array_agg(a.object ORDER BY a.place, a.object COLLATE "C") AS objects, a.message, a.hint
              FROM (SELECT 0 AS place, d.* FROM zbxhist_internal.check_database() d
                    UNION ALL
                    SELECT 1, z.* FROM zbxhist_internal.check_zabbix() z
                    UNION ALL
                    SELECT 1, r.* FROM zbxhist_internal.check_retention() r
                    UNION ALL
                    SELECT 1.9, l.* FROM zbxhist_internal.check_auditlogs() l
                    UNION ALL
                    SELECT 1 + t.step / 10.0, t.severity, t.code, t.object, t.message, t.hint
                      FROM zbxhist_internal.check_migrations() t
                    UNION ALL
                    SELECT u.place + 1, c.*
                      FROM unnest(zbxhist_internal.parent_list()) WITH ORDINALITY AS u (parent, place),
                           zbxhist_internal.check_parent(u.parent) c
                   ) AS a (place, severity, code, object, message, hint)
             GROUP BY a.severity, a.code, a.message, a.hint) g
     ORDER BY CASE g.severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END,
              g.place, g.code, g.objects[1] COLLATE "C", g.message COLLATE "C"
$$;
