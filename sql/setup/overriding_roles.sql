-- sql/setup/overriding_roles.sql
--
-- What is set for a role, and more so for a role in a database, counts before
-- what is set for the database.

CREATE FUNCTION zbxhist_internal.overriding_roles()
RETURNS TABLE (role name, command text)
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT r.rolname,
           format('ALTER ROLE %I IN DATABASE %I SET session_preload_libraries = %s',
                  r.rolname, current_database(), w.libraries)
      FROM pg_roles r
     CROSS JOIN LATERAL (
           SELECT substr(o, length('session_preload_libraries=') + 1) AS value
             FROM pg_db_role_setting s
             LEFT JOIN pg_database d ON d.oid = s.setdatabase,
                  unnest(s.setconfig) o
            WHERE s.setrole = r.oid AND (s.setdatabase = 0 OR d.datname = current_database())
              AND starts_with(o, 'session_preload_libraries=')
            ORDER BY s.setdatabase = 0
            LIMIT 1) v,
           zbxhist_internal.with_library(zbxhist_internal.library_list(v.value)) AS w (libraries)
     WHERE r.rolcanlogin AND w.libraries IS NOT NULL AND NOT zbxhist_internal.is_shared()
       AND EXISTS (SELECT FROM unnest(zbxhist_internal.parent_list()) p (parent)
                    WHERE has_table_privilege(r.oid, p.parent, 'INSERT'))
     ORDER BY r.rolname
$$;

COMMENT ON FUNCTION zbxhist_internal.overriding_roles() IS
'The roles that may insert and whose own session_preload_libraries leaves the library out, each with the command that adds it (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.overriding_roles() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.overriding_roles() TO PUBLIC;
