-- sql/maintenance/columns.sql

-- The column of a managed table that had another name before, if that is known.
-- The clock is the column of the partitions' bounds.  Of the others only packed
-- days know the former names.
CREATE FUNCTION zbxhist_internal.renamed_column(parent regclass, column_name name) RETURNS name
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
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

-- Why a managed table cannot be maintained as it is now, and the command that mends it; NULL if it
-- can.
-- A managed table may be altered until it is none that zbxhist could manage.
-- Its rows go on being read and written, by SQL and the triggers; whatever
-- else would look at its clocks leaves it alone.
CREATE FUNCTION zbxhist_internal.why_unfit(parent regclass, OUT problem text, OUT remedy text)
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    SELECT u.problem, u.remedy INTO problem, remedy
      FROM (SELECT c.conname, format('foreign key "%s" of table %s refers to it', c.conname, c.conrelid::regclass),
                   format('ALTER TABLE %s DROP CONSTRAINT %I;', c.conrelid::regclass, c.conname)
              FROM pg_constraint c
             WHERE c.confrelid = why_unfit.parent AND c.contype = 'f'
             UNION ALL
            SELECT NULL, c.problem, CASE c.state WHEN '42710' THEN c.remedy
                                          ELSE coalesce(c.repair, format('CALL zbxhist.undo(%L);', parent)) END
              FROM zbxhist_internal.column_problem(parent) c
             WHERE c.problem IS NOT NULL) u (name, problem, remedy)
     ORDER BY u.name LIMIT 1;
END
$$;
