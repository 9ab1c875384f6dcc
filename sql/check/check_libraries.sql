-- sql/check/check_libraries.sql

CREATE FUNCTION zbxhist_internal.check_libraries()
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
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
               'a session loads the library in its first INSERT, which is planned the long way and may be told a count of 0 rows.  A superuser can have it loaded when a session begins',
               c || ';'
          FROM zbxhist_internal.preload_command() c
         WHERE c IS NOT NULL AND cardinality(zbxhist_internal.parent_list()) > 0;
    RETURN QUERY
        SELECT 'info', 'role_not_preloaded', r.role::text,
               format('session_preload_libraries is set for role %s, which counts before the setting of the database: its sessions load the library in their first INSERT',
                      quote_ident(r.role)),
               r.command || ';'
          FROM zbxhist_internal.overriding_roles() r;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.check_libraries() IS
'The part of check that is about libraries and functions (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.check_libraries() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.check_libraries() TO PUBLIC;
