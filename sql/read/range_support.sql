-- sql/read/range_support.sql

CREATE FUNCTION zbxhist_internal.range_support(internal)
RETURNS internal
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_range_support';

COMMENT ON FUNCTION zbxhist_internal.range_support(internal) IS
'Tells the planner how many rows the function range gives at most (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.range_support(internal) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.range_support(internal) TO PUBLIC;
