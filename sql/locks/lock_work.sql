-- sql/locks/lock_work.sql

CREATE FUNCTION zbxhist_internal.lock_work(relation regclass)
RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_lock_work';

COMMENT ON FUNCTION zbxhist_internal.lock_work(regclass) IS
'Until the end of the transaction, tells INSERTs that it is maintenance that has a table locked, or asks for the lock (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.lock_work(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.lock_work(regclass) TO pg_database_owner;
