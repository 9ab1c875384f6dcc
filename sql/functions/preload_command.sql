-- sql/functions/preload_command.sql

CREATE FUNCTION zbxhist.preload_command()
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    libraries CONSTANT text := zbxhist.with_library(zbxhist.session_libraries());
BEGIN
    IF zbxhist.is_preloaded() OR libraries IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN format('ALTER DATABASE %I SET session_preload_libraries = %s', current_database(), libraries);
END
$$;

COMMENT ON FUNCTION zbxhist.preload_command() IS
'The command that has every session of this database load the library when it begins; NULL if they do (internal)';

REVOKE ALL ON FUNCTION zbxhist.preload_command() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.preload_command() TO PUBLIC;
