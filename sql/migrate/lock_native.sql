-- sql/migrate/lock_native.sql
--
-- The weak locks first, see lock_exclusively; the parent before its partitions,
-- as everybody locks them.  All waits together no longer than
-- zbxhist.maintenance_lock_timeout, everything let go between the tries.

CREATE FUNCTION zbxhist_internal.lock_native(parent regclass)
RETURNS interval
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $$
DECLARE
    tries   CONSTANT integer := 12;
    budget  CONSTANT integer := zbxhist_internal.short_lock_timeout();
    started timestamptz;
    locked  regclass;
BEGIN
    FOR try IN 1 .. tries LOOP
        BEGIN
            FOR locked IN SELECT p.partition FROM zbxhist_internal.native_partitions(parent) p LOOP
                PERFORM zbxhist_internal.lock_patiently(locked);
            END LOOP;
            locked := parent;
            PERFORM zbxhist_internal.lock_patiently(parent);
            started := clock_timestamp();
            PERFORM set_config('lock_timeout', budget::text, true);
            EXECUTE format('LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE', parent);
            FOR locked IN SELECT p.partition FROM zbxhist_internal.native_partitions(parent) p LOOP
                PERFORM set_config('lock_timeout', greatest(1, budget
                    - round(extract(epoch FROM clock_timestamp() - started) * 1000))::text, true);
                EXECUTE format('LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE', locked);
            END LOOP;
            RETURN clock_timestamp() - started;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            IF try = tries THEN
                RAISE EXCEPTION 'could not lock table % within % ms, % times', locked, budget, tries
                    USING ERRCODE = 'lock_not_available',
                          DETAIL = 'A long transaction is using it.  Repeat the call when that has ended.',
                          HINT = zbxhist_internal.long_transactions();
            END IF;
        END;
        PERFORM pg_sleep(least(0.05 * 2 ^ try, 2));
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.lock_native(regclass) IS
'Takes ACCESS EXCLUSIVE on a natively partitioned table and its partitions, for bounded times, and returns the time it waited (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.lock_native(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.lock_native(regclass) TO pg_database_owner;
