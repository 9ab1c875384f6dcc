-- sql/setup/library.sql

-- Version of the loaded library.
CREATE FUNCTION zbxhist.version() RETURNS text
LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'zbxhist_version';

-- A setting of the library, or what is taken for it where an older library has none.
CREATE FUNCTION zbxhist_internal.library_setting(name text, otherwise text) RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- it exists once the library is loaded
    PERFORM zbxhist.version();
    RETURN coalesce(current_setting('zbxhist.' || name, true), otherwise);
END
$$;

-- Whether the library was loaded before the first statement of the session.
CREATE FUNCTION zbxhist_internal.is_preloaded() RETURNS boolean
LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'zbxhist_is_preloaded';

-- Whether shared_preload_libraries names the library, so that all sessions have it.
CREATE FUNCTION zbxhist_internal.is_shared() RETURNS boolean
LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'zbxhist_is_shared';

-- The libraries that a value of session_preload_libraries names.
CREATE FUNCTION zbxhist_internal.library_list(value text) RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    -- names with commas or spaces are in double quotes
    SELECT ARRAY(SELECT coalesce(replace(m.parts[1], '""', '"'), rtrim(m.parts[2]))
                   FROM regexp_matches(value, '"((?:[^"]|"")+)"|([^",\s][^",]*)', 'g')
                        WITH ORDINALITY AS m (parts, place)
                  ORDER BY m.place)
$$;

-- A list of libraries with zbxhist added, as SET wants it; NULL if it is among them already.
CREATE FUNCTION zbxhist_internal.with_library(libraries text[]) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT string_agg(quote_literal(l), ', ' ORDER BY place)
      FROM unnest(libraries || 'zbxhist'::text) WITH ORDINALITY AS u (l, place)
    HAVING NOT coalesce(bool_or(l ~ '(^|/)zbxhist(\.\w+)?$')
                            FILTER (WHERE place <= cardinality(libraries)), false)
$$;

-- The libraries that session_preload_libraries names for all sessions of this database; NULL if the
-- caller cannot know.
-- What is set for the server counts where nothing is set for the database.
-- The user who runs this may have another setting, which says nothing of others,
-- or may not see the server's: then it is unknown.
CREATE FUNCTION zbxhist_internal.session_libraries() RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
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

-- The roles that may insert and whose own session_preload_libraries leaves the library out, each
-- with the command that adds it.
-- What is set for a role, and more so for a role in a database, counts before
-- what is set for the database.
CREATE FUNCTION zbxhist_internal.overriding_roles() RETURNS TABLE (role name, command text)
LANGUAGE sql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
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

-- The command that has every session of this database load the library when it begins; NULL if they
-- do.
CREATE FUNCTION zbxhist_internal.preload_command() RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    libraries CONSTANT text := zbxhist_internal.with_library(zbxhist_internal.session_libraries());
BEGIN
    RETURN CASE WHEN NOT zbxhist_internal.is_preloaded() AND libraries IS NOT NULL
                THEN format('ALTER DATABASE %I SET session_preload_libraries = %s', current_database(), libraries) END;
END
$$;

-- Has every session of this database load the library when it begins, if the caller may, and says
-- so; NULL if nothing is to be done.
-- session_preload_libraries is for superusers, and from PostgreSQL 15 on for
-- roles that they grant it to.  A role that cannot see what the server has set could
-- only replace it, so it is told as well.
CREATE FUNCTION zbxhist_internal.preload_library(dry_run boolean) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
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
