-- sql/locks/lock_with_patience.sql
--
-- All tables or none: a lock that is held while the next one is waited for
-- keeps readers out for nothing.  They are locked in the order in which the
-- planner locks a parent's children.
--
-- Who changes rows may have one of them and wait for another, which the caller
-- has locked long since: neither would get on, and he be cancelled for it, so
-- it is the caller who gives up.

CREATE FUNCTION zbxhist_internal.lock_with_patience(VARIADIC relations regclass[])
RETURNS interval
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    allowed CONSTANT integer := zbxhist_internal.short_lock_timeout();
    started CONSTANT timestamptz := clock_timestamp();
    relation regclass;
BEGIN
    FOR attempt IN 1 .. 5 LOOP
        SELECT l.relation::regclass INTO relation
          FROM pg_locks l
          JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
         WHERE l.locktype = 'relation' AND l.granted AND l.relation = ANY (relations)
           AND EXISTS (SELECT FROM pg_locks w
                        WHERE w.pid = l.pid AND w.locktype = 'relation' AND NOT w.granted
                          AND w.database = l.database AND w.relation = ANY (relations))
           AND l.pid <> pg_backend_pid()
         LIMIT 1;
        IF FOUND THEN
            RAISE EXCEPTION 'table % is in use by a transaction that waits for this one', relation
                USING ERRCODE = 'lock_not_available',
                      DETAIL = 'Repeat the call when that has ended.',
                      HINT = zbxhist_internal.long_transactions();
        END IF;
        BEGIN
            FOR relation IN SELECT r FROM unnest(relations) r ORDER BY r::oid LOOP
                PERFORM zbxhist_internal.lock_exclusively(relation, allowed);
            END LOOP;
            EXIT;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            IF attempt = 5 THEN
                RAISE EXCEPTION 'could not lock table % within % ms, five times', relation, allowed
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

COMMENT ON FUNCTION zbxhist_internal.lock_with_patience(regclass[]) IS
'Takes ACCESS EXCLUSIVE on tables after long work, with more than one try, and returns the time it waited (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.lock_with_patience(regclass[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.lock_with_patience(regclass[]) TO pg_database_owner;
