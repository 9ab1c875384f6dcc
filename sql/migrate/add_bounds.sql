-- sql/migrate/add_bounds.sql

CREATE FUNCTION zbxhist_internal.add_bounds(partition regclass)
RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'zbxhist_add_bounds';

COMMENT ON FUNCTION zbxhist_internal.add_bounds(regclass) IS
'Gives a partition of a natively partitioned table its bounds as the constraint zbxhist_clock, without reading its rows (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.add_bounds(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.add_bounds(regclass) TO pg_database_owner;
