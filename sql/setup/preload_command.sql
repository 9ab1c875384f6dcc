-- sql/setup/preload_command.sql

CREATE FUNCTION zbxhist_internal.preload_command()
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    libraries CONSTANT text := zbxhist_internal.with_library(zbxhist_internal.session_libraries());
BEGIN
    IF zbxhist_internal.is_preloaded() OR libraries IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN format('ALTER DATABASE %I SET session_preload_libraries = %s', current_database(), libraries);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.preload_command() IS
'The command that has every session of this database load the library when it begins; NULL if they do (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.preload_command() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.preload_command() TO PUBLIC;
