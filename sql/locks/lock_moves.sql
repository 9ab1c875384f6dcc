-- sql/locks/lock_moves.sql

CREATE FUNCTION zbxhist_internal.lock_moves(parent regclass)
RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_lock_moves';

COMMENT ON FUNCTION zbxhist_internal.lock_moves(regclass) IS
'Until the end of the transaction, makes UPDATE and DELETE of a managed table wait before they take their snapshot; waits for those under way (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.lock_moves(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.lock_moves(regclass) TO pg_database_owner;
