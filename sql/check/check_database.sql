-- sql/check/check_database.sql

CREATE FUNCTION zbxhist_internal.check_database()
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF cardinality(zbxhist_internal.parent_list()) = 0 THEN
        RETURN QUERY SELECT 'warning', 'nothing_managed', current_database()::text,
            'no table is managed yet', 'SELECT * FROM zbxhist.setup();';
    END IF;
    RETURN QUERY
        SELECT 'warning', 'new_table', n::text,
               format('table %s has appeared since setup and is not managed yet', n),
               'CALL zbxhist.run_maintenance();'
          FROM zbxhist_internal.new_tables() n;
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
        SELECT 'error', 'foreign_routine', p.oid::regprocedure::text,
               'it is in a schema of zbxhist, but no part of it: who calls a function of that name may call this one',
               format('DROP ROUTINE %s;', p.oid::regprocedure)
          FROM pg_proc p
         WHERE p.pronamespace IN ('zbxhist'::regnamespace, 'zbxhist_internal'::regnamespace)
           AND NOT (EXISTS (SELECT FROM pg_depend d
                             WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
                    AND EXISTS (SELECT FROM pg_roles r WHERE r.oid = p.proowner AND r.rolsuper));
    RETURN QUERY
        SELECT 'info', 'not_preloaded', current_database()::text,
               'a session loads the library in its first INSERT, which is planned the long way and may be told a count of 0 rows',
               c || ';'
          FROM zbxhist_internal.preload_command() c
         WHERE c IS NOT NULL AND cardinality(zbxhist_internal.parent_list()) > 0;
    RETURN QUERY
        SELECT 'info', 'role_not_preloaded', r.role::text,
               format('session_preload_libraries is set for role %s, which counts before the setting of the database: its sessions load the library in their first INSERT',
                      quote_ident(r.role)),
               r.command || ';'
          FROM zbxhist_internal.overriding_roles() r;
    RETURN QUERY
        SELECT 'warning', 'timescaledb', 'timescaledb',
               'the extension timescaledb is installed: Zabbix 7.0 and later then writes trends with INSERT ... ON CONFLICT',
               'DROP EXTENSION timescaledb; if nothing else in this database needs it.'
          FROM pg_extension e
         WHERE e.extname = 'timescaledb'
           AND EXISTS (SELECT FROM zbxhist.parent_config c JOIN pg_class k ON k.oid = c.parent
                        WHERE k.relname IN ('trends', 'trends_uint'));
    RETURN QUERY
        SELECT 'warning', 'parent_dropped', c.parent::oid::text,
               format('the managed table with OID %s has been dropped', c.parent::oid),
               'CALL zbxhist.run_maintenance();'
          FROM zbxhist.parent_config c
         WHERE NOT EXISTS (SELECT FROM pg_class k WHERE k.oid = c.parent);
    RETURN QUERY
        SELECT 'warning', 'orphaned_day', k.oid::regclass::text,
               'it is the table of a packed day, but of no managed table',
               format('DROP TABLE %s; if its values are not needed.', k.oid::regclass)
          FROM pg_class k
         WHERE k.relnamespace = 'zbxhist_packed'::regnamespace AND k.relkind = 'r'
           AND NOT EXISTS (SELECT FROM zbxhist.packed_day d
                             JOIN pg_class p ON p.oid = d.parent
                            WHERE d.day = k.oid);
    RETURN QUERY
        SELECT 'error', 'take_up_failed', l.parent::text,
               format('taking up table %s failed: %s', l.parent, l.message),
               'Mend the cause, then CALL zbxhist.run_maintenance();'
          FROM zbxhist_internal.new_tables() n
          JOIN LATERAL (SELECT s.parent, s.last_error AS message FROM zbxhist.parent_state s
                         WHERE s.parent = n AND s.failed) l ON true;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.check_database() IS
'The part of check that is about the database (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.check_database() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.check_database() TO PUBLIC;
