-- sql/packed/packable_partitions.sql

CREATE FUNCTION zbxhist_internal.packable_partitions(parent regclass)
RETURNS SETOF regclass
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT p.partition
      FROM zbxhist.parent_config c,
           zbxhist.list_partitions(parent) p
     WHERE c.parent = packable_partitions.parent AND c.routing
       AND p.to_clock <= zbxhist_internal.clock_before(c.pack_after)
       AND p.to_clock > coalesce(zbxhist_internal.cutoff_clock(parent), -2147483648)
       AND NOT EXISTS (SELECT FROM zbxhist.packed_day d WHERE d.partition = p.partition)
       AND zbxhist_internal.not_packable(parent, p.partition) IS NULL
     ORDER BY p.from_clock
$$;

COMMENT ON FUNCTION zbxhist_internal.packable_partitions(regclass) IS
'The partitions that are to be packed by the policy of a managed table, oldest first (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.packable_partitions(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.packable_partitions(regclass) TO PUBLIC;
