-- sql/partitions/not_for_runs.sql
--
-- A table of runs is packed in the end, and has two columns with names that
-- packed days do not have.

CREATE FUNCTION zbxhist_internal.not_for_runs(parent regclass)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(zbxhist_internal.not_packable(parent, parent),
                    (SELECT format('a table of runs has a column "%s" of its own', o.name)
                       FROM unnest('{run,batch}'::name[]) o (name)
                      WHERE EXISTS (SELECT FROM pg_attribute a
                                      LEFT JOIN zbxhist_internal.packed_columns(zbxhist_internal.packed_table(parent)) c
                                                ON c.column_name = a.attname
                                     WHERE a.attrelid = parent AND a.attnum > 0 AND NOT a.attisdropped
                                       AND coalesce(c.packed_name, a.attname) = o.name)
                      LIMIT 1))
$$;

COMMENT ON FUNCTION zbxhist_internal.not_for_runs(regclass) IS
'Why new values of a table cannot be stored as runs that are packed later; NULL if they can (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.not_for_runs(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.not_for_runs(regclass) TO PUBLIC;
