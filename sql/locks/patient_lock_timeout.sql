-- sql/locks/patient_lock_timeout.sql

CREATE FUNCTION zbxhist_internal.patient_lock_timeout()
RETURNS integer
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN least(1000 * extract(epoch FROM current_setting('deadlock_timeout')::interval) + 1500, 600000)::integer;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.patient_lock_timeout() IS
'Longest wait for a lock that stops no writer, in milliseconds: long enough for an autovacuum to be told to give way (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.patient_lock_timeout() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.patient_lock_timeout() TO PUBLIC;
