-- sql/partitions/indexes.sql

-- Describes an index without its name and table, so that it can be compared.
-- A primary key is told by its constraint: pg_get_indexdef searches for the default operator class of each
-- column, which in each run took a tenth of maintenance's time.
CREATE FUNCTION zbxhist_internal.describe_index(index regclass) RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (
        SELECT coalesce(
                   (SELECT concat_ws(' ', split_part(pg_get_constraintdef(c.oid), ' DEFERRABLE', 1), k.reloptions)
                      FROM pg_constraint c
                      JOIN pg_class k ON k.oid = c.conindid
                     WHERE c.conrelid = x.indrelid AND c.conindid = x.indexrelid AND c.contype = 'p'),
                   concat_ws(' ', CASE WHEN x.indisunique THEN 'unique' END,
                             regexp_replace(pg_get_indexdef(x.indexrelid), '^CREATE (UNIQUE )?INDEX .*? USING ', '')))
          FROM pg_index x
         WHERE x.indexrelid = index);
END
$$;

-- The columns of a table's primary key, or else of a unique index; NULL if it has none.
CREATE FUNCTION zbxhist_internal.key_columns(parent regclass) RETURNS name[]
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT array_agg(a.attname ORDER BY a.attname)
      FROM (SELECT x.* FROM pg_index x
             WHERE x.indrelid = parent AND x.indisunique AND x.indisvalid
             ORDER BY NOT x.indisprimary, x.indexrelid LIMIT 1) x
     CROSS JOIN LATERAL unnest(x.indkey[0:x.indnkeyatts - 1]) i (attnum)
      JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = i.attnum
$$;

-- Describes the valid indexes of a table.
CREATE FUNCTION zbxhist_internal.index_list(relation regclass) RETURNS text[]
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN ARRAY(SELECT zbxhist_internal.describe_index(x.indexrelid) FROM pg_index x WHERE x.indrelid = relation AND x.indisvalid);
END
$$;

-- The valid indexes of a table that another table lacks.
CREATE FUNCTION zbxhist_internal.missing_indexes(relation regclass, partition regclass) RETURNS SETOF pg_index
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT x.*
          FROM pg_index x
         WHERE x.indrelid = relation AND x.indisvalid
           AND zbxhist_internal.describe_index(x.indexrelid) <> ALL (zbxhist_internal.index_list(partition));
END
$$;

-- What is wrong with a partition: it has other privileges than its parent, or is in another schema than
-- that of partitions.
-- If the parent has row security, its partitions get no privileges: nobody may read there what policies
-- hide.
CREATE FUNCTION zbxhist_internal.unlike(parent regclass, partition regclass) RETURNS text[]
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT array_remove(ARRAY[
        CASE WHEN zbxhist_internal.describe_grants(partition)
                  <> CASE WHEN source.relrowsecurity THEN '{}'
                          ELSE zbxhist_internal.describe_grants(parent) END
             THEN 'privileges' END,
        CASE WHEN k.relnamespace IS DISTINCT FROM to_regnamespace('zbxhist_partitions') THEN 'schema' END], NULL)
      FROM pg_class source, pg_class k
     WHERE source.oid = parent AND k.oid = partition
$$;

-- The partitions that differ from their parent in what "unlike" compares.
-- A cheap comparison in the catalogs first excludes most of them.
CREATE FUNCTION zbxhist_internal.unaligned_partitions(parent regclass) RETURNS SETOF regclass
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
        WITH suspects AS MATERIALIZED (
            SELECT p.partition, p.from_clock
              FROM zbxhist.list_partitions(parent) p
              JOIN pg_class k ON k.oid = p.partition
              JOIN pg_class source ON source.oid = unaligned_partitions.parent
             WHERE k.relowner = source.relowner   -- see step_owner
               AND (k.relacl IS DISTINCT FROM source.relacl
                OR k.relnamespace IS DISTINCT FROM to_regnamespace('zbxhist_partitions')
                OR EXISTS (SELECT FROM pg_attribute a
                            WHERE a.attrelid IN (k.oid, source.oid) AND a.attacl IS NOT NULL)))
        SELECT s.partition
          FROM suspects s
         WHERE zbxhist_internal.unlike(unaligned_partitions.parent, s.partition) <> '{}'
         ORDER BY s.from_clock;
END
$$;

-- The partitions on which maintenance creates missing indexes; only "relation" if that is given.
-- Keys of a partition with rows are left to the administrator, because the rows may violate them.  A
-- large partition that still receives rows is left for later, and one that will be packed next needs no
-- index.
CREATE FUNCTION zbxhist_internal.unindexed_partitions(parent regclass, relation regclass DEFAULT NULL)
RETURNS SETOF regclass
LANGUAGE plpgsql VOLATILE PARALLEL SAFE ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT p.partition
          FROM zbxhist.list_partitions(parent) p
         WHERE (unindexed_partitions.relation IS NULL OR p.partition = unindexed_partitions.relation)
           -- most have all, so the rest is not evaluated
           AND CASE WHEN zbxhist_internal.index_list(p.partition) @> (SELECT zbxhist_internal.index_list(parent)) THEN false
                    ELSE EXISTS (SELECT FROM zbxhist_internal.missing_indexes(parent, p.partition) x
                                  WHERE NOT x.indisunique AND NOT x.indisexclusion
                                     OR zbxhist_internal.own_pages(p.partition) = 0)
                         AND (p.to_clock <= zbxhist_internal.current_clock()
                              OR zbxhist_internal.own_pages(p.partition) < 16384)
                         AND p.partition NOT IN (SELECT zbxhist_internal.packable_partitions(unindexed_partitions.parent,
                                                                                            unindexed_partitions.relation)) END
         ORDER BY p.from_clock;
END
$$;
