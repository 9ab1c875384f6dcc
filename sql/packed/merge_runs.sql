-- sql/packed/merge_runs.sql

CREATE FUNCTION zbxhist_internal.merge_runs(
    runs regclass,
    enough integer DEFAULT 64,
    batch_rows integer DEFAULT 131072)
RETURNS bigint
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_merge_runs';

COMMENT ON FUNCTION zbxhist_internal.merge_runs(regclass, integer, integer) IS
'Writes the runs of a table anew, as fewer and larger ones, if there are that many small ones, or enough of a larger size, of which about so many rows are merged at once; returns how many were merged, -1 while somebody else has the table''s lock (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.merge_runs(regclass, integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.merge_runs(regclass, integer, integer) TO pg_database_owner;
