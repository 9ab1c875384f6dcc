-- sql/locks/wait_for_transactions.sql

CREATE FUNCTION zbxhist_internal.wait_for_transactions(milliseconds integer)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    deadline CONSTANT timestamptz := clock_timestamp() + milliseconds * interval '1 ms';
    present  CONSTANT text[] := zbxhist_internal.running_transactions();
BEGIN
    WHILE clock_timestamp() < deadline AND zbxhist_internal.running_transactions() && present LOOP
        PERFORM pg_sleep(0.02);
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.wait_for_transactions(integer) IS
'Waits a bounded time for the end of the transactions that run now (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.wait_for_transactions(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.wait_for_transactions(integer) TO pg_database_owner;
