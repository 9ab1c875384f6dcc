-- sql/check/insert_paths.sql

CREATE FUNCTION zbxhist.insert_paths()
RETURNS TABLE (parent regclass, path text, statements bigint, values_stored bigint)
LANGUAGE c VOLATILE PARALLEL SAFE ROWS 10
AS 'MODULE_PATHNAME', 'zbxhist_insert_paths';

COMMENT ON FUNCTION zbxhist.insert_paths() IS
'Statements and their values since the server started, by the way they took: "fast", without planner and trigger, or what kept them from it: column, copy, expression, function, not_loaded, on_conflict, query, replication, returning, row_security, rule, setting, trigger, view, with, other; no rows if the server has no shared memory for it';

REVOKE ALL ON FUNCTION zbxhist.insert_paths() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.insert_paths() TO PUBLIC;
