-- sql/packed/packable_partitions.sql
--
-- A step asks for its own partition only: who looks at all of them each time
-- takes the square of their number.

CREATE FUNCTION zbxhist_internal.packable_partitions(parent regclass, relation regclass DEFAULT NULL)
RETURNS SETOF regclass
LANGUAGE sql VOLATILE PARALLEL SAFE ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
    -- first what is known at once
    WITH due AS MATERIALIZED (
        SELECT p.partition, p.from_clock
          FROM zbxhist.parent_config c
         CROSS JOIN LATERAL zbxhist_internal.clock_before(c.pack_after) AS closed
         CROSS JOIN LATERAL zbxhist_internal.cutoff_clock(c.parent) AS cutoff
         CROSS JOIN LATERAL zbxhist.list_partitions(c.parent) p
         WHERE c.parent = packable_partitions.parent AND c.routing
           AND (packable_partitions.relation IS NULL OR p.partition = packable_partitions.relation)
           AND p.to_clock <= closed AND p.to_clock > coalesce(cutoff, -2147483648)
           AND NOT EXISTS (SELECT FROM zbxhist.packed_day d WHERE d.partition = p.partition)),
    -- what is to be unpacked is packed first
    altered AS MATERIALIZED (
        SELECT zbxhist_internal.altered_days(packable_partitions.parent) AS day),
    over AS (
        SELECT r.day, r.from_clock
          FROM zbxhist.parent_config c
         CROSS JOIN LATERAL zbxhist_internal.clock_before(c.pack_after) AS closed
         CROSS JOIN LATERAL zbxhist_internal.cutoff_clock(c.parent) AS cutoff
          JOIN zbxhist.packed_day r ON r.parent = c.parent AND r.runs AND r.partition IS NULL
         WHERE c.parent = packable_partitions.parent
           AND (packable_partitions.relation IS NULL OR r.day = packable_partitions.relation)
           AND CASE WHEN NOT c.routing
                         OR r.to_clock <= closed AND (r.to_clock > coalesce(cutoff, -2147483648)
                                                      OR c.retention_action = 'detach') THEN true
                    ELSE r.day IN (SELECT a.day FROM altered a) END)
    (SELECT d.partition FROM due d
     WHERE zbxhist_internal.not_packable(packable_partitions.parent, d.partition) IS NULL
     ORDER BY d.from_clock)
     UNION ALL
    (SELECT o.day FROM over o ORDER BY o.from_clock)
$$;

COMMENT ON FUNCTION zbxhist_internal.packable_partitions(regclass, regclass) IS
'The partitions and hours of runs whose time to be packed has come, oldest first, or one of them, if it has (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.packable_partitions(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.packable_partitions(regclass, regclass) TO PUBLIC;
