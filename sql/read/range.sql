-- sql/read/range.sql

CREATE FUNCTION zbxhist.range(
    row_type anyelement,
    itemid bigint,
    from_clock integer,
    to_clock integer,
    sort text DEFAULT 'asc',
    max_rows bigint DEFAULT NULL,
    from_ns integer DEFAULT 0,
    to_ns integer DEFAULT 0)
RETURNS SETOF anyelement
LANGUAGE c STABLE PARALLEL SAFE
SUPPORT zbxhist_internal.range_support
AS 'MODULE_PATHNAME', 'zbxhist_range';

COMMENT ON FUNCTION zbxhist.range(anyelement, bigint, integer, integer, text, bigint, integer, integer) IS
'Rows of an item from one moment, included, to another, excluded; sort is asc, desc or none; NULL::history names the managed table';

REVOKE ALL ON FUNCTION zbxhist.range(anyelement, bigint, integer, integer, text, bigint, integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.range(anyelement, bigint, integer, integer, text, bigint, integer, integer) TO PUBLIC;
