-- sql/read/last_values_time.sql

CREATE FUNCTION zbxhist.last_values(
    row_type anyelement,
    itemids bigint[],
    max_rows integer,
    since_time timestamptz)
RETURNS SETOF anyelement
LANGUAGE c STABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_last_values_time';

COMMENT ON FUNCTION zbxhist.last_values(anyelement, bigint[], integer, timestamptz) IS
'Newest rows of many items since a time, up to max_rows of each, newest first, in the order of itemid; NULL::history names the managed table';

REVOKE ALL ON FUNCTION zbxhist.last_values(anyelement, bigint[], integer, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.last_values(anyelement, bigint[], integer, timestamptz) TO PUBLIC;
