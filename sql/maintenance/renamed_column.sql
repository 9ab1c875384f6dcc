-- sql/maintenance/renamed_column.sql
--
-- The clock is the column of the partitions' bounds.  Of the others only packed
-- days know the former names.

CREATE FUNCTION zbxhist_internal.renamed_column(parent regclass, column_name name)
RETURNS name
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT f.attname
      FROM (SELECT 1 AS place, a.attname
              FROM pg_inherits i
              JOIN pg_constraint c ON c.conrelid = i.inhrelid AND c.conname = 'zbxhist_clock'
              JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
             WHERE i.inhparent = renamed_column.parent AND column_name = 'clock'
               AND cardinality(c.conkey) = 1
            UNION ALL
            SELECT 2, a.attname
              FROM pg_attribute a
             WHERE a.attrelid = zbxhist_internal.packed_table(renamed_column.parent)
               AND NOT a.attisdropped
               AND 'packed=' || column_name = ANY (a.attfdwoptions)) f
     WHERE f.attname <> column_name
       AND EXISTS (SELECT FROM pg_attribute a
                    WHERE a.attrelid = renamed_column.parent AND a.attname = f.attname
                      AND NOT a.attisdropped)
     ORDER BY f.place LIMIT 1
$$;

COMMENT ON FUNCTION zbxhist_internal.renamed_column(regclass, name) IS
'The column of a managed table that had another name before, if that is known (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.renamed_column(regclass, name) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.renamed_column(regclass, name) TO PUBLIC;
