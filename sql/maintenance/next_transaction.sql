-- sql/maintenance/next_transaction.sql
--
-- A procedure that commits cannot have a SET clause, so each transaction sets
-- its search_path itself.  The types of its variables are looked up before that,
-- in the caller's.

CREATE PROCEDURE zbxhist_internal.next_transaction()
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM zbxhist_internal.require_own_transactions();
    COMMIT;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
END
$$;

COMMENT ON PROCEDURE zbxhist_internal.next_transaction() IS
'Commits, and begins a transaction with a safe search_path (internal)';

REVOKE ALL ON PROCEDURE zbxhist_internal.next_transaction() FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist_internal.next_transaction() TO pg_database_owner;
