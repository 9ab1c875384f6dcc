-- sql/read/range_time.sql

CREATE FUNCTION zbxhist.range(
    row_type anyelement,
    itemid bigint,
    from_time timestamptz,
    to_time timestamptz,
    sort text DEFAULT 'asc',
    max_rows bigint DEFAULT NULL)
RETURNS SETOF anyelement
LANGUAGE c STABLE PARALLEL SAFE
SUPPORT zbxhist_internal.range_support
AS 'MODULE_PATHNAME', 'zbxhist_range_time';

COMMENT ON FUNCTION zbxhist.range(anyelement, bigint, timestamptz, timestamptz, text, bigint) IS
'Rows of an item from one time, included, to another, excluded; sort is asc, desc or none; NULL::history names the managed table';

REVOKE ALL ON FUNCTION zbxhist.range(anyelement, bigint, timestamptz, timestamptz, text, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.range(anyelement, bigint, timestamptz, timestamptz, text, bigint) TO PUBLIC;
