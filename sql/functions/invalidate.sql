-- sql/functions/invalidate.sql

CREATE FUNCTION zbxhist.invalidate(parent regclass)
RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_invalidate';

COMMENT ON FUNCTION zbxhist.invalidate(regclass) IS
'Makes every session read the partitions and the configuration of a managed table anew (internal)';

REVOKE ALL ON FUNCTION zbxhist.invalidate(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.invalidate(regclass) TO pg_database_owner;
