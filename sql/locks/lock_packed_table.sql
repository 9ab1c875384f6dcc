-- sql/locks/lock_packed_table.sql

CREATE FUNCTION zbxhist_internal.lock_packed_table(packed regclass)
RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_lock_packed_table';

COMMENT ON FUNCTION zbxhist_internal.lock_packed_table(regclass) IS
'Takes ACCESS EXCLUSIVE on a foreign table, which LOCK TABLE does not (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.lock_packed_table(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.lock_packed_table(regclass) TO pg_database_owner;
