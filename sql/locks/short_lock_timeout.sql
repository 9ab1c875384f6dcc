-- sql/locks/short_lock_timeout.sql

CREATE FUNCTION zbxhist_internal.short_lock_timeout()
RETURNS integer
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- the setting exists once the library is loaded
    PERFORM zbxhist.version();
    RETURN greatest(1, 1000 * extract(epoch FROM
        coalesce(current_setting('zbxhist.maintenance_lock_timeout', true), '500ms')::interval))::integer;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.short_lock_timeout() IS
'Longest wait for a lock that stops writers, in milliseconds (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.short_lock_timeout() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.short_lock_timeout() TO PUBLIC;
