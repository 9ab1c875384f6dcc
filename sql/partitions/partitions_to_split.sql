-- sql/partitions/partitions_to_split.sql
--
-- Those of days whose time comes near, as long as no row has ever been stored
-- in them: a snapshot may see rows that others have deleted since.

CREATE FUNCTION zbxhist_internal.partitions_to_split(parent regclass)
RETURNS SETOF regclass
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
    WITH coarse AS MATERIALIZED (
        SELECT p.partition, p.from_clock
          FROM zbxhist.parent_config c
         CROSS JOIN LATERAL extract(epoch FROM c.partition_interval) AS seconds
         CROSS JOIN LATERAL zbxhist_internal.current_clock() AS present
         CROSS JOIN LATERAL zbxhist_internal.fine_until(c.partition_interval) AS horizon
         CROSS JOIN LATERAL zbxhist.list_partitions(c.parent) p
         WHERE c.parent = partitions_to_split.parent AND c.routing
           AND p.from_clock > present AND p.from_clock < horizon
           AND p.to_clock - p.from_clock > seconds AND p.from_clock % seconds = 0
           AND NOT EXISTS (SELECT FROM zbxhist.packed_day d WHERE d.partition = p.partition))
    SELECT p.partition
      FROM coarse p
     WHERE zbxhist_internal.own_pages(p.partition) = 0
       AND zbxhist_internal.dependent_object(p.partition) IS NULL
       AND p.partition NOT IN (SELECT zbxhist_internal.foreign_children(partitions_to_split.parent))
     ORDER BY p.from_clock
$$;

COMMENT ON FUNCTION zbxhist_internal.partitions_to_split(regclass) IS
'Partitions of days to come that are to be replaced by shorter ones (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.partitions_to_split(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.partitions_to_split(regclass) TO PUBLIC;
