-- sql/read/last_values.sql

CREATE FUNCTION zbxhist.last_values(
    row_type anyelement,
    itemids bigint[],
    max_rows integer DEFAULT 1,
    since_clock integer DEFAULT NULL)
RETURNS SETOF anyelement
LANGUAGE c STABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_last_values';

COMMENT ON FUNCTION zbxhist.last_values(anyelement, bigint[], integer, integer) IS
'Newest rows of many items, up to max_rows of each, newest first, in the order of itemid; NULL::history names the managed table';

REVOKE ALL ON FUNCTION zbxhist.last_values(anyelement, bigint[], integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.last_values(anyelement, bigint[], integer, integer) TO PUBLIC;
