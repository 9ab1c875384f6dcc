-- sql/read/minimum_time.sql

CREATE FUNCTION zbxhist.minimum_time(parent regclass, itemid bigint)
RETURNS TABLE (clock integer, ns integer)
LANGUAGE c STABLE STRICT ROWS 1 PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_minimum_time';

COMMENT ON FUNCTION zbxhist.minimum_time(regclass, bigint) IS
'Clock and ns of the oldest row of an item; no row if it has none';

REVOKE ALL ON FUNCTION zbxhist.minimum_time(regclass, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.minimum_time(regclass, bigint) TO PUBLIC;
