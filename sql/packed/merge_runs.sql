-- sql/packed/merge_runs.sql

CREATE FUNCTION zbxhist_internal.merge_runs(runs regclass, enough integer DEFAULT 64)
RETURNS bigint
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_merge_runs';

COMMENT ON FUNCTION zbxhist_internal.merge_runs(regclass, integer) IS
'Writes the runs of a table anew, as fewer and larger ones, if there are that many small ones, or enough of a larger size; returns how many were merged, -1 while somebody else has the table''s lock (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.merge_runs(regclass, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.merge_runs(regclass, integer) TO pg_database_owner;
