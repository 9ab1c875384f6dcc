-- sql/partitions/unindexed_partitions.sql

CREATE FUNCTION zbxhist_internal.unindexed_partitions(parent regclass)
RETURNS SETOF regclass
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT zbxhist_internal.list_unindexed(parent, NULL)
$$;

COMMENT ON FUNCTION zbxhist_internal.unindexed_partitions(regclass) IS
'The partitions for which maintenance has to build indexes that their parent has (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.unindexed_partitions(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.unindexed_partitions(regclass) TO PUBLIC;
