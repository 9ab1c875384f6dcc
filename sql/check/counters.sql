-- sql/check/counters.sql

CREATE FUNCTION zbxhist_internal.counters()
RETURNS TABLE (parent oid, values_routed bigint, values_kept bigint, batches bigint, values_fast bigint)
LANGUAGE c VOLATILE PARALLEL SAFE ROWS 10
AS 'MODULE_PATHNAME', 'zbxhist_counters';

COMMENT ON FUNCTION zbxhist_internal.counters() IS
'Values sent to partitions, values kept in the parent, batches, and values planned as fast inserts, since the server started; no rows if the server has no shared memory for it (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.counters() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.counters() TO PUBLIC;
