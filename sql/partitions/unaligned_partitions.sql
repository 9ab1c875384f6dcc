-- sql/partitions/unaligned_partitions.sql
--
-- The catalogs say at once of most that they are like their parent.

CREATE FUNCTION zbxhist_internal.unaligned_partitions(parent regclass)
RETURNS SETOF regclass
LANGUAGE sql STABLE STRICT PARALLEL SAFE ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
    WITH suspects AS MATERIALIZED (
        SELECT p.partition, p.from_clock
          FROM zbxhist.list_partitions(parent) p
          JOIN pg_class k ON k.oid = p.partition
          JOIN pg_class source ON source.oid = unaligned_partitions.parent
         WHERE k.relowner = source.relowner   -- see step_owner
           AND (k.relacl IS DISTINCT FROM source.relacl
            OR EXISTS (SELECT FROM pg_attribute a
                        WHERE a.attrelid IN (k.oid, source.oid) AND a.attacl IS NOT NULL)
            OR EXISTS (SELECT FROM pg_constraint c
                        WHERE c.conrelid = source.oid AND c.contype = 'f')
            OR EXISTS (SELECT FROM zbxhist_internal.row_triggers(unaligned_partitions.parent))))
    SELECT s.partition
      FROM suspects s
     WHERE zbxhist_internal.unlike(unaligned_partitions.parent, s.partition) <> '{}'
     ORDER BY s.from_clock
$$;

COMMENT ON FUNCTION zbxhist_internal.unaligned_partitions(regclass) IS
'The partitions that maintenance has to bring in line with their parent (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.unaligned_partitions(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.unaligned_partitions(regclass) TO PUBLIC;
