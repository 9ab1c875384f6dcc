-- sql/check/insert_paths.sql

CREATE FUNCTION zbxhist.insert_paths()
RETURNS TABLE (parent regclass, path text, statements bigint, values_stored bigint)
LANGUAGE plpgsql VOLATILE PARALLEL SAFE ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY SELECT * FROM zbxhist_internal.stored_paths();
    IF NOT FOUND AND current_setting('server_version_num')::integer < 170000 AND NOT zbxhist_internal.is_shared() THEN
        RAISE NOTICE 'statements are not counted by this server'
            USING DETAIL = 'Before PostgreSQL 17 that needs zbxhist in shared_preload_libraries.';
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist.insert_paths() IS
'Statements and their values since the server started, by the way they took: "fast", without planner and trigger, or what kept them from it: column, copy, expression, function, not_loaded, on_conflict, query, replication, returning, row_security, rule, setting, trigger, view, with, other; no rows, and a notice that says why, if the server cannot count them';

REVOKE ALL ON FUNCTION zbxhist.insert_paths() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.insert_paths() TO PUBLIC;
