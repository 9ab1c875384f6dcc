-- sql/partitions/has_same_columns.sql
--
-- The first six columns of a day's table are its own, of one of runs seven.

CREATE FUNCTION zbxhist_internal.has_same_columns(parent regclass, day regclass)
RETURNS boolean
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (
        SELECT coalesce(array_agg(format('%s %s', coalesce(c.packed_name, a.attname), a.atttypid) ORDER BY a.attnum)
                            FILTER (WHERE a.attrelid = parent)
                        = array_agg(format('%s %s', a.attname, a.atttypid) ORDER BY a.attnum)
                            FILTER (WHERE a.attrelid = day), false)
          FROM pg_attribute a
          LEFT JOIN zbxhist_internal.packed_columns(zbxhist_internal.packed_table(parent)) c
                    ON c.column_name = a.attname AND a.attrelid = parent
         WHERE NOT a.attisdropped
           AND (a.attrelid = parent AND a.attnum > 0
                OR a.attrelid = day
                   AND a.attnum > 6 + coalesce((SELECT d.runs::integer FROM zbxhist.packed_day d
                                                 WHERE d.day = has_same_columns.day), 0)
                   AND a.attname NOT IN (SELECT zbxhist_internal.new_columns(zbxhist_internal.packed_table(parent)))));
END
$$;

COMMENT ON FUNCTION zbxhist_internal.has_same_columns(regclass, regclass) IS
'Whether a managed table has the columns that it had when a day was packed, so that rows can be merged into that (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.has_same_columns(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.has_same_columns(regclass, regclass) TO PUBLIC;
