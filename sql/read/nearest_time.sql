-- sql/read/nearest_time.sql

CREATE FUNCTION zbxhist.nearest(
    row_type anyelement,
    itemid bigint,
    moment timestamptz,
    which text DEFAULT 'exact')
RETURNS anyelement
LANGUAGE c STABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_nearest_time';

COMMENT ON FUNCTION zbxhist.nearest(anyelement, bigint, timestamptz, text) IS
'The row of an item at a time; if there is none, NULL (exact), the nearest before it (less) or after it (greater)';

REVOKE ALL ON FUNCTION zbxhist.nearest(anyelement, bigint, timestamptz, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.nearest(anyelement, bigint, timestamptz, text) TO PUBLIC;
