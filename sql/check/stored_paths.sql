-- sql/check/stored_paths.sql

CREATE FUNCTION zbxhist_internal.stored_paths()
RETURNS TABLE (parent regclass, path text, statements bigint, values_stored bigint)
LANGUAGE c VOLATILE PARALLEL SAFE ROWS 10
AS 'MODULE_PATHNAME', 'zbxhist_stored_paths';

COMMENT ON FUNCTION zbxhist_internal.stored_paths() IS
'What insert_paths() returns; no rows if the server has no shared memory for it (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.stored_paths() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.stored_paths() TO PUBLIC;
