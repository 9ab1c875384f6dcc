-- sql/locks/lock_exclusively.sql
--
-- The weak lock first: it stops nobody, and sends an autovacuum away, for
-- which the short wait for the strong one would not be long enough.  INSERTs see
-- by the work lock that it is maintenance that they wait for.

CREATE FUNCTION zbxhist_internal.lock_exclusively(relation regclass, milliseconds integer)
RETURNS interval
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    foreign_table CONSTANT boolean :=
        EXISTS (SELECT FROM pg_class k WHERE k.oid = relation AND k.relkind = 'f');
    started timestamptz;
BEGIN
    IF foreign_table THEN
        started := clock_timestamp();
        PERFORM set_config('lock_timeout', milliseconds::text, true);
        PERFORM zbxhist_internal.lock_packed_table(relation);
        RETURN clock_timestamp() - started;
    END IF;
    PERFORM zbxhist_internal.lock_patiently(relation);
    PERFORM zbxhist_internal.lock_work(relation);
    PERFORM set_config('lock_timeout', milliseconds::text, true);
    started := clock_timestamp();
    EXECUTE format('LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE', relation);
    RETURN clock_timestamp() - started;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.lock_exclusively(regclass, integer) IS
'Takes ACCESS EXCLUSIVE on one table within a bounded time and returns the time it waited (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.lock_exclusively(regclass, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.lock_exclusively(regclass, integer) TO pg_database_owner;
