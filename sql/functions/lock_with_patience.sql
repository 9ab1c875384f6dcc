-- sql/functions/lock_with_patience.sql
--
-- Each try is as short as any; between two of them those who wait behind it
-- have their turn.

CREATE FUNCTION zbxhist.lock_with_patience(relation regclass)
RETURNS interval
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    allowed CONSTANT integer := zbxhist.short_lock_timeout();
    started CONSTANT timestamptz := clock_timestamp();
BEGIN
    FOR attempt IN 1 .. 5 LOOP
        BEGIN
            PERFORM zbxhist.lock_exclusively(relation, allowed);
            EXIT;
        EXCEPTION WHEN lock_not_available THEN
            IF attempt = 5 THEN
                RAISE EXCEPTION 'could not lock table % within % ms, five times', relation, allowed
                    USING ERRCODE = 'lock_not_available',
                          HINT = 'See pg_locks and pg_stat_activity.';
            END IF;
        END;
        PERFORM pg_sleep(0.25 * attempt);
    END LOOP;
    RETURN clock_timestamp() - started;
END
$$;

COMMENT ON FUNCTION zbxhist.lock_with_patience(regclass) IS
'Takes ACCESS EXCLUSIVE on one table after long work, with more than one try, and returns the time it waited (internal)';

REVOKE ALL ON FUNCTION zbxhist.lock_with_patience(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.lock_with_patience(regclass) TO pg_database_owner;
