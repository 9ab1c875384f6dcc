-- sql/setup/preload_library.sql
--
-- session_preload_libraries is for superusers, and from PostgreSQL 15 on for
-- those whom they grant it to.  Who cannot see what the server has set could
-- only replace it, so he is told as well.

CREATE FUNCTION zbxhist_internal.preload_library(dry_run boolean)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    command text := zbxhist_internal.preload_command();
BEGIN
    IF command IS NULL THEN
        RETURN NULL;
    END IF;
    IF zbxhist_internal.session_libraries() IS NULL THEN
        RETURN format('left to a superuser, who keeps what is set already: %s', command);
    END IF;
    IF NOT has_parameter_privilege('session_preload_libraries', 'SET')
       OR NOT pg_has_role((SELECT d.datdba FROM pg_database d WHERE d.datname = current_database()), 'USAGE') THEN
        RETURN format('left to a superuser: %s', command);
    END IF;
    IF NOT dry_run THEN
        EXECUTE command;
    END IF;
    RETURN command;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.preload_library(boolean) IS
'Has every session of this database load the library when it begins, if the caller may, and says so; NULL if nothing is to be done (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.preload_library(boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.preload_library(boolean) TO pg_database_owner;
