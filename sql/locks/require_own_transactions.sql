-- sql/locks/require_own_transactions.sql

CREATE FUNCTION zbxhist_internal.require_own_transactions()
RETURNS void
LANGUAGE c VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_require_own_transactions';

COMMENT ON FUNCTION zbxhist_internal.require_own_transactions() IS
'Raises an error if the calling procedure cannot commit (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.require_own_transactions() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.require_own_transactions() TO pg_database_owner;
