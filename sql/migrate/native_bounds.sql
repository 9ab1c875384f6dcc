-- sql/migrate/native_bounds.sql

CREATE FUNCTION zbxhist_internal.native_bounds(
    partition regclass,
    OUT from_clock bigint,
    OUT to_clock bigint)
LANGUAGE c STABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_native_bounds';

COMMENT ON FUNCTION zbxhist_internal.native_bounds(regclass) IS
'Clock range of a partition of a natively partitioned table, from included, to excluded; NULLs for a default partition (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.native_bounds(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.native_bounds(regclass) TO PUBLIC;
