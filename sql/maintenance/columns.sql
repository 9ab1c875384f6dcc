-- sql/maintenance/columns.sql

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

COMMENT ON FUNCTION zbxhist_internal.renamed_column IS
'The column of a managed table that had another name before, if that is known (internal)';

-- One column at a time: the next one is told when this one is as it was.  What
-- ALTER TABLE cannot bring back, undo can do without.
CREATE FUNCTION zbxhist_internal.mend_columns(parent regclass) RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    wanted record;
    actual pg_attribute;
    former name;
BEGIN
    FOR wanted IN
        SELECT * FROM (VALUES ('itemid'::name, 'bigint'::regtype),
                              ('clock', 'integer')) AS v (name, type)
    LOOP
        SELECT * INTO actual FROM pg_attribute a
         WHERE a.attrelid = parent AND a.attname = wanted.name AND a.attnum > 0 AND NOT a.attisdropped;
        IF NOT FOUND THEN
            former := zbxhist_internal.renamed_column(parent, wanted.name);
            EXIT WHEN former IS NULL;
            RETURN format('ALTER TABLE %s RENAME COLUMN %I TO %I;', parent, former, wanted.name);
        END IF;
        IF actual.atttypid <> wanted.type THEN
            EXIT WHEN NOT EXISTS (SELECT FROM pg_cast c
                                   WHERE c.castsource = actual.atttypid AND c.casttarget = wanted.type
                                     AND c.castcontext IN ('a', 'i'));
            RETURN format('ALTER TABLE %s ALTER COLUMN %I TYPE %s;', parent, wanted.name, wanted.type);
        END IF;
        IF NOT actual.attnotnull THEN
            RETURN format('ALTER TABLE %s ALTER COLUMN %I SET NOT NULL;', parent, wanted.name);
        END IF;
    END LOOP;
    RETURN format('CALL zbxhist.undo(%L);', parent);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.mend_columns IS
'The command that gives a managed table the next of the columns that it must have, or else makes it a plain one (internal)';

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
            SELECT NULL, c.problem, CASE c.state WHEN '42710' THEN c.remedy ELSE zbxhist_internal.mend_columns(parent) END
              FROM zbxhist_internal.column_problem(parent) c
             WHERE c.problem IS NOT NULL) u (name, problem, remedy)
     ORDER BY u.name LIMIT 1;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.why_unfit IS
'Why a managed table cannot be maintained as it is now, and the command that mends it; NULL if it can (internal)';
