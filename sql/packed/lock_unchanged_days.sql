-- sql/packed/lock_unchanged_days.sql
--
-- Changes are locked out first, for a look whether there have been any; readers
-- only then, for the moment of the swap.  Who changes packed rows may hold the
-- foreign table's lock and wait for the day's: so all locks are given back
-- before the next try.

CREATE FUNCTION zbxhist_internal.lock_unchanged_days(
    days regclass[],
    versions bigint[],
    packed regclass)
RETURNS interval
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    allowed CONSTANT integer := zbxhist_internal.short_lock_timeout();
    started CONSTANT timestamptz := clock_timestamp();
    changed regclass;
    seen    record;
    stopped timestamptz;
BEGIN
    FOR attempt IN 1 .. 5 LOOP
        BEGIN
            FOR n IN 1 .. cardinality(days) LOOP
                PERFORM zbxhist_internal.lock_patiently(days[n]);
                PERFORM set_config('lock_timeout', allowed::text, true);
                EXECUTE format('LOCK TABLE ONLY %s IN SHARE ROW EXCLUSIVE MODE', days[n]);
                changed := days[n];
                seen := zbxhist_internal.day_version(days[n]);
                IF seen.version <> versions[n] THEN
                    RAISE object_in_use;
                END IF;
                PERFORM zbxhist_internal.end_older_snapshots(days[n], seen.newest);
            END LOOP;
            stopped := clock_timestamp();
            PERFORM zbxhist_internal.lock_exclusively(packed, allowed);
            FOR n IN 1 .. cardinality(days) LOOP
                -- readers wait for all of them together no longer than for one
                PERFORM zbxhist_internal.lock_exclusively(days[n], greatest(1,
                    (allowed - 1000 * extract(epoch FROM clock_timestamp() - stopped))::integer));
            END LOOP;
            EXIT;
        EXCEPTION
            WHEN object_in_use THEN
                RAISE EXCEPTION 'packed day % has been changed meanwhile', changed
                    USING ERRCODE = 'serialization_failure',
                          HINT = 'Repeat the call.';
            WHEN lock_not_available OR deadlock_detected THEN
                IF attempt = 5 THEN
                    RAISE EXCEPTION 'could not lock table % within % ms, five times', packed, allowed
                        USING ERRCODE = 'lock_not_available',
                              DETAIL = 'A transaction is using it.  Repeat the call when that has ended.',
                              HINT = zbxhist_internal.long_transactions();
                END IF;
        END;
        PERFORM pg_sleep(0.25 * attempt);
    END LOOP;
    RETURN clock_timestamp() - started;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.lock_unchanged_days(regclass[], bigint[], regclass) IS
'Takes ACCESS EXCLUSIVE on packed days and the foreign table that stands for them if they have not been changed since their versions were read, and returns the time it waited (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.lock_unchanged_days(regclass[], bigint[], regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.lock_unchanged_days(regclass[], bigint[], regclass) TO pg_database_owner;
