-- sql/parent_rows/lock_strays.sql

CREATE FUNCTION zbxhist_internal.lock_strays(parent regclass)
RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_lock_strays';

COMMENT ON FUNCTION zbxhist_internal.lock_strays(regclass) IS
'Until the end of the transaction, lets nobody store a row in a managed table that belongs to one of its partitions; waits for those who are doing so (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.lock_strays(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.lock_strays(regclass) TO pg_database_owner;
