-- sql/locks/short_lock_timeout.sql

CREATE FUNCTION zbxhist_internal.short_lock_timeout()
RETURNS integer
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- the setting exists once the library is loaded
    PERFORM zbxhist.version();
    RETURN coalesce((SELECT greatest(1, setting::integer) FROM pg_settings
                      WHERE name = 'zbxhist.maintenance_lock_timeout'), 500);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.short_lock_timeout() IS
'Longest wait for a lock that stops writers, in milliseconds (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.short_lock_timeout() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.short_lock_timeout() TO PUBLIC;
