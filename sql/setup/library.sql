-- sql/setup/library.sql

-- Version of the loaded library.
CREATE FUNCTION zbxhist.version() RETURNS text
LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'zbxhist_version';

-- Returns a setting of the library, or a default if an older library does not have it.
CREATE FUNCTION zbxhist_internal.library_setting(name text, otherwise text) RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- loads the library, which defines the setting
    PERFORM zbxhist.version();
    RETURN coalesce(current_setting('zbxhist.' || name, true), otherwise);
END
$$;

-- Whether the library was loaded before the first statement of the session.
CREATE FUNCTION zbxhist_internal.is_preloaded() RETURNS boolean
LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'zbxhist_is_preloaded';

-- Returns session_preload_libraries as set for the database or, if it is not, for the server; NULL if
-- the caller has a value of his own, or may not see the server's.
CREATE FUNCTION zbxhist_internal.session_libraries() RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(
        (SELECT substr(o, length('session_preload_libraries=') + 1)
           FROM pg_db_role_setting s
           JOIN pg_database d ON d.oid = s.setdatabase, unnest(s.setconfig) o
          WHERE d.datname = current_database() AND s.setrole = 0 AND starts_with(o, 'session_preload_libraries=')),
        (SELECT s.setting
           FROM pg_settings s
          WHERE s.name = 'session_preload_libraries'
            AND s.source IN ('default', 'environment variable', 'configuration file', 'command line', 'global')))
$$;

-- Returns the command that makes each session of this database load the library when it begins; NULL if
-- that is already so.
CREATE FUNCTION zbxhist_internal.preload_command() RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('ALTER DATABASE %I SET session_preload_libraries = %s', current_database(),
                  string_agg(quote_literal(u.library), ', ' ORDER BY u.place))
      FROM (-- names with commas or spaces are in double quotes
            SELECT coalesce(replace(m.parts[1], '""', '"'), rtrim(m.parts[2])), m.place
              FROM regexp_matches(zbxhist_internal.session_libraries(), '"((?:[^"]|"")+)"|([^",\s][^",]*)', 'g')
                   WITH ORDINALITY AS m (parts, place)
            UNION ALL SELECT 'zbxhist', NULL) AS u (library, place)
     WHERE NOT zbxhist_internal.is_preloaded()
    HAVING NOT coalesce(bool_or(u.library ~ '(^|/)zbxhist(\.\w+)?$') FILTER (WHERE u.place IS NOT NULL), false)
           AND count(*) > 0
$$;

-- Makes each session of this database load the library when it begins, if the caller may; returns the
-- command that was executed, or that a superuser must execute; NULL if nothing is to be done.
-- Superusers may set session_preload_libraries, and roles to which they granted that.  A role that
-- cannot see the server's value would overwrite it, so it only gets the command.
CREATE FUNCTION zbxhist_internal.preload_library(dry_run boolean) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    command text := zbxhist_internal.preload_command();
BEGIN
    IF command IS NULL THEN
        RETURN NULL;
    END IF;
    IF zbxhist_internal.session_libraries() IS NULL THEN
        RETURN format('to be run by a superuser, with the libraries that are set already: %s', command);
    END IF;
    IF NOT has_parameter_privilege('session_preload_libraries', 'SET')
       OR NOT pg_has_role((SELECT d.datdba FROM pg_database d WHERE d.datname = current_database()), 'USAGE') THEN
        RETURN format('to be run by a superuser: %s', command);
    END IF;
    IF NOT dry_run THEN
        EXECUTE command;
    END IF;
    RETURN command;
END
$$;
