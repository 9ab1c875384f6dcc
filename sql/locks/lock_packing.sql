-- sql/locks/lock_packing.sql

CREATE FUNCTION zbxhist_internal.lock_packing(partition regclass)
RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_lock_packing';

COMMENT ON FUNCTION zbxhist_internal.lock_packing(regclass) IS
'Until the end of the transaction, tells inserts that a partition is being packed, so that they look for keys in it however it is locked (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.lock_packing(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.lock_packing(regclass) TO pg_database_owner;
