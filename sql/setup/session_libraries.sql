-- sql/setup/session_libraries.sql
--
-- What is set for the server counts where nothing is set for the database.
-- Who runs this may have a setting of his own, which says nothing of others,
-- or may not see the server's: then it is unknown.

CREATE FUNCTION zbxhist_internal.session_libraries()
RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    value text;
BEGIN
    SELECT substr(o, length('session_preload_libraries=') + 1) INTO value
      FROM pg_db_role_setting s
      JOIN pg_database d ON d.oid = s.setdatabase,
           unnest(s.setconfig) o
     WHERE d.datname = current_database() AND s.setrole = 0
       AND starts_with(o, 'session_preload_libraries=');
    IF NOT FOUND THEN
        SELECT s.setting INTO value
          FROM pg_settings s
         WHERE s.name = 'session_preload_libraries'
           AND s.source IN ('default', 'environment variable', 'configuration file', 'command line', 'global');
        IF NOT FOUND THEN
            RETURN NULL;
        END IF;
    END IF;
    RETURN zbxhist_internal.library_list(value);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.session_libraries() IS
'The libraries that session_preload_libraries names for all sessions of this database; NULL if the caller cannot know (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.session_libraries() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.session_libraries() TO PUBLIC;
