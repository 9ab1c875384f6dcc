-- sql/locks/wait_for_readers.sql
--
-- To be called before work that would be in vain, since the lock that ends it
-- could not be had.

CREATE FUNCTION zbxhist_internal.wait_for_readers(relation regclass, milliseconds integer)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    deadline CONSTANT timestamptz := clock_timestamp() + milliseconds * interval '1 ms';
    holders  text[];
    present  text[];
BEGIN
    LOOP
        present := zbxhist_internal.lock_holders(relation);
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
