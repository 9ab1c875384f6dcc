-- sql/partitions/unindexed_partitions.sql
--
-- A key is left to the administrator: rows that are there may not keep it.  A
-- partition that fills up is waited for if it is large, and one that is about
-- to be packed needs none.

CREATE FUNCTION zbxhist_internal.unindexed_partitions(parent regclass, relation regclass DEFAULT NULL)
RETURNS SETOF regclass
LANGUAGE sql VOLATILE PARALLEL SAFE ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT p.partition
      FROM zbxhist.list_partitions(parent) p
     WHERE (unindexed_partitions.relation IS NULL OR p.partition = unindexed_partitions.relation)
       AND EXISTS (SELECT FROM zbxhist_internal.missing_indexes(parent, p.partition) x
                    WHERE NOT x.indisunique AND NOT x.indisexclusion
                       OR zbxhist_internal.own_pages(p.partition) = 0)
       AND (p.to_clock <= zbxhist_internal.current_clock()
            OR zbxhist_internal.own_pages(p.partition) < 16384)
       AND p.partition NOT IN (SELECT zbxhist_internal.packable_partitions(unindexed_partitions.parent, unindexed_partitions.relation))
     ORDER BY p.from_clock
$$;

COMMENT ON FUNCTION zbxhist_internal.unindexed_partitions(regclass, regclass) IS
'The partitions that are to get indexes of the table they belong to, or one of them, if it is (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.unindexed_partitions(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.unindexed_partitions(regclass, regclass) TO PUBLIC;
