-- sql/packed/packable_partitions.sql

CREATE FUNCTION zbxhist_internal.packable_partitions(parent regclass)
RETURNS SETOF regclass
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT zbxhist_internal.list_packable(parent, NULL)
$$;

COMMENT ON FUNCTION zbxhist_internal.packable_partitions(regclass) IS
'The partitions that are to be packed by the policy of a managed table, oldest first (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.packable_partitions(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.packable_partitions(regclass) TO PUBLIC;
