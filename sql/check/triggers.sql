-- sql/check/triggers.sql

-- Part of check(): triggers, rules and row security.
CREATE FUNCTION zbxhist_internal.check_triggers(parent regclass) RETURNS SETOF zbxhist_internal.check_line
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    ours    CONSTANT oid := 'zbxhist.route()'::regprocedure;
BEGIN
    RETURN QUERY
        SELECT 'error', 'trigger_missing', parent::text,
               format('trigger "%s" is missing: rows are not routed to partitions.  Maintenance creates it again', w),
               'CALL zbxhist.run_maintenance();'
          FROM zbxhist_internal.missing_route_triggers(parent) w
         WHERE EXISTS (SELECT FROM zbxhist.parent_config c WHERE c.parent = check_triggers.parent AND c.routing);
    RETURN QUERY
        SELECT 'error', 'trigger_disabled', parent::text,
               format('trigger "%s" is %s', t.tgname,
                      CASE WHEN w.kind <> '' THEN 'not enabled for replication: keys of replicated rows are not checked'
                           WHEN t.tgenabled = 'D' THEN 'disabled: rows are not routed'
                           WHEN t.tgenabled = 'R' THEN 'enabled for replication only: rows are not routed'
                           ELSE 'enabled always: replicated rows cannot be routed' END),
               format('ALTER TABLE %s ENABLE %sTRIGGER %I;', parent, w.kind, t.tgname)
          FROM pg_trigger t,
               LATERAL (SELECT CASE t.tgname WHEN 'zzz_zbxhist_replica' THEN 'REPLICA ' ELSE '' END) w (kind)
         WHERE t.tgrelid = parent AND t.tgfoid = ours
           AND t.tgenabled <> CASE w.kind WHEN '' THEN 'O' ELSE 'R' END;
    RETURN QUERY
        SELECT 'warning', 'trigger_order', parent::text,
               format('trigger "%s" never fires for rows that go to partitions, because its name sorts after "zzz_zbxhist_route"', t.tgname),
               format('ALTER TRIGGER %I ON %s RENAME TO %I;', t.tgname, parent,
                      (SELECT v.name
                         FROM generate_series(0, 99) i,
                              LATERAL (SELECT ('zzy_' || CASE i WHEN 0 THEN '' ELSE i || '_' END || t.tgname)::name) v (name)
                        WHERE NOT EXISTS (SELECT FROM pg_trigger o WHERE o.tgrelid = t.tgrelid AND o.tgname = v.name)
                        ORDER BY i LIMIT 1))
          FROM pg_trigger t
         WHERE t.tgrelid = parent AND NOT t.tgisinternal AND t.tgfoid <> ours
           AND t.tgtype & 7 = 7 AND t.tgname > 'zzz_zbxhist_route';
    RETURN QUERY
        SELECT 'warning', 'transition_table', parent::text,
               format('trigger "%s" has transition tables: new rows stay in the table itself.  Replace it by a row trigger BEFORE INSERT', t.tgname),
               format('DROP TRIGGER %I ON %s;', t.tgname, parent)
          FROM pg_trigger t
         WHERE t.tgrelid = parent AND NOT t.tgisinternal AND t.tgnewtable IS NOT NULL
           AND t.tgtype & 4 <> 0;
    RETURN QUERY
        SELECT 'warning', 'rule', parent::text,
               format('rule "%s" rewrites statements on the table before zbxhist sees them', r.rulename),
               format('DROP RULE %I ON %s;', r.rulename, parent)
          FROM pg_rewrite r
         WHERE r.ev_class = parent;
    RETURN QUERY
        SELECT 'warning', 'row_security', parent::text,
               'row security is on: new rows stay in the table itself.  Without it, its policies hide no rows any more',
               format('ALTER TABLE %s DISABLE ROW LEVEL SECURITY;', parent)
          FROM pg_class k
         WHERE k.oid = parent AND k.relrowsecurity;
    RETURN QUERY
        SELECT CASE WHEN g.log IS NULL THEN 'error' ELSE 'warning' END, 'tool_trigger', r.relation::text,
               format('trigger "%s" was left behind by pg_repack: %s', t.tgname,
                      CASE WHEN g.log IS NULL THEN 'every INSERT into the table fails'
                           ELSE 'it logs every row, and maintenance moves no rows to or from the table' END),
               format('DROP TRIGGER %I ON %s;', t.tgname, r.relation)
          FROM (SELECT check_triggers.parent AS relation
                 UNION ALL SELECT p.partition FROM zbxhist.list_partitions(check_triggers.parent) p
                 UNION ALL SELECT zbxhist_internal.packed_table(check_triggers.parent)) r
         CROSS JOIN LATERAL zbxhist_internal.tool_triggers(r.relation) t
          JOIN pg_proc f ON f.oid = t.tgfoid AND f.proname = 'repack_trigger'
         -- the log table's name is in the trigger's argument, or made of the table's OID
         CROSS JOIN LATERAL to_regclass(coalesce(substring(encode(t.tgargs, 'escape') FROM 'INSERT INTO (repack[.]log_[0-9]+)'),
                                                 'repack.log_' || t.tgrelid)) g (log)
         WHERE t.tgenabled <> 'D'
           AND (g.log IS NULL OR NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.application_name = 'pg_repack'));
END
$$;
