-- sql/read/nearest.sql

CREATE FUNCTION zbxhist.nearest(
    row_type anyelement,
    itemid bigint,
    clock integer,
    ns integer DEFAULT 0,
    which text DEFAULT 'exact')
RETURNS anyelement
LANGUAGE c STABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_nearest';

COMMENT ON FUNCTION zbxhist.nearest(anyelement, bigint, integer, integer, text) IS
'The row of an item at a moment; if there is none, NULL (exact), the nearest before it (less) or after it (greater)';

REVOKE ALL ON FUNCTION zbxhist.nearest(anyelement, bigint, integer, integer, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.nearest(anyelement, bigint, integer, integer, text) TO PUBLIC;
