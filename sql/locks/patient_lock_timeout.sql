-- sql/locks/patient_lock_timeout.sql

CREATE FUNCTION zbxhist_internal.patient_lock_timeout()
RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT least(setting::bigint + 1500, 600000)::integer
      FROM pg_settings WHERE name = 'deadlock_timeout'
$$;

COMMENT ON FUNCTION zbxhist_internal.patient_lock_timeout() IS
'Longest wait for a lock that stops no writer, in milliseconds: long enough for an autovacuum to be told to give way (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.patient_lock_timeout() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.patient_lock_timeout() TO PUBLIC;
