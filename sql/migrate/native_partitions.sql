-- sql/migrate/native_partitions.sql

CREATE FUNCTION zbxhist_internal.native_partitions(parent regclass)
RETURNS TABLE (partition regclass, from_clock bigint, to_clock bigint, is_default boolean, is_bounded boolean)
LANGUAGE sql STABLE STRICT PARALLEL SAFE ROWS 100
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT i.inhrelid::regclass, n.from_clock, n.to_clock, n.from_clock IS NULL,
           (b.from_clock, b.to_clock) IS NOT DISTINCT FROM (n.from_clock, n.to_clock)
      FROM pg_inherits i,
           zbxhist_internal.native_bounds(i.inhrelid) n,
           zbxhist.partition_bounds(i.inhrelid) b
     WHERE i.inhparent = native_partitions.parent
     ORDER BY n.from_clock
$$;

COMMENT ON FUNCTION zbxhist_internal.native_partitions(regclass) IS
'The partitions of a natively partitioned table, the default one last, and whether each has the constraint zbxhist_clock already (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.native_partitions(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.native_partitions(regclass) TO PUBLIC;
