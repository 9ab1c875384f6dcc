-- sql/partitions/list_partitions.sql

CREATE FUNCTION zbxhist.list_partitions(parent regclass)
RETURNS TABLE (partition regclass, from_clock bigint, to_clock bigint)
LANGUAGE c STABLE STRICT PARALLEL SAFE ROWS 30
AS 'MODULE_PATHNAME', 'zbxhist_list_partitions';

COMMENT ON FUNCTION zbxhist.list_partitions(regclass) IS
'The partitions of a managed table with their clock ranges, oldest first';

REVOKE ALL ON FUNCTION zbxhist.list_partitions(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.list_partitions(regclass) TO PUBLIC;
