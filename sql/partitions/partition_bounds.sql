-- sql/partitions/partition_bounds.sql

CREATE FUNCTION zbxhist.partition_bounds(
    partition regclass,
    OUT from_clock bigint,
    OUT to_clock bigint)
LANGUAGE c STABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_partition_bounds';

COMMENT ON FUNCTION zbxhist.partition_bounds(regclass) IS
'Clock range of a partition, from included, to excluded, as its constraint zbxhist_clock says; NULLs if it has none';

REVOKE ALL ON FUNCTION zbxhist.partition_bounds(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.partition_bounds(regclass) TO PUBLIC;
