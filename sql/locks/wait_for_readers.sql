-- sql/locks/wait_for_readers.sql
--
-- To be called before work that would be in vain, since the lock that ends it
-- could not be had.  VACUUM, ANALYZE and autovacuum of a table are no readers:
-- lock_patiently, which comes next, waits for them or sends them away.

CREATE FUNCTION zbxhist_internal.wait_for_readers(relation regclass, milliseconds integer)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    is_table CONSTANT boolean := EXISTS (SELECT FROM pg_class k WHERE k.oid = relation AND k.relkind = 'r');
    deadline CONSTANT timestamptz := clock_timestamp() + milliseconds * interval '1 ms';
    holders  text[];
    present  text[];
BEGIN
    LOOP
        SELECT coalesce(array_agg(l.virtualtransaction), '{}') INTO present
          FROM pg_locks l
          JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
         WHERE l.locktype = 'relation' AND l.relation = wait_for_readers.relation
           AND l.granted AND l.pid <> pg_backend_pid()
           AND NOT (is_table AND l.mode = 'ShareUpdateExclusiveLock');
        EXIT WHEN NOT coalesce(holders, present) && present;
        holders := coalesce(holders, present);
        IF clock_timestamp() >= deadline THEN
            RAISE EXCEPTION 'table % is in use by another transaction', relation
                USING ERRCODE = 'lock_not_available',
                      DETAIL = 'Repeat the call when that has ended.',
                      HINT = zbxhist_internal.long_transactions();
        END IF;
        PERFORM pg_sleep(0.02);
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.wait_for_readers(regclass, integer) IS
'Raises an error if a transaction holds a lock on a table for longer than a time (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.wait_for_readers(regclass, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.wait_for_readers(regclass, integer) TO pg_database_owner;
