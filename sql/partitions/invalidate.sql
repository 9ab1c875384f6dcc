-- sql/partitions/invalidate.sql

CREATE FUNCTION zbxhist_internal.invalidate(parent regclass)
RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_invalidate';

COMMENT ON FUNCTION zbxhist_internal.invalidate(regclass) IS
'Makes every session read the partitions and the configuration of a managed table anew (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.invalidate(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.invalidate(regclass) TO pg_database_owner;
