-- sql/locks/lock_patiently.sql
--
-- Called before a lock is taken that keeps readers out, so that nobody has to
-- wait while VACUUM or another maintenance of the table is waited for.

CREATE FUNCTION zbxhist_internal.lock_patiently(relation regclass)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM set_config('lock_timeout', zbxhist_internal.patient_lock_timeout()::text, true);
    EXECUTE format('LOCK TABLE ONLY %s IN SHARE UPDATE EXCLUSIVE MODE', relation);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.lock_patiently(regclass) IS
'Takes SHARE UPDATE EXCLUSIVE on one table, which stops no reader and no INSERT (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.lock_patiently(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.lock_patiently(regclass) TO pg_database_owner;
