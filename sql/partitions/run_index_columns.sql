-- sql/partitions/run_index_columns.sql

CREATE FUNCTION zbxhist_internal.run_index_columns(index regclass)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT w.columns
      FROM zbxhist_internal.run_indexes() w
     WHERE regexp_replace(pg_get_indexdef(run_index_columns.index), '^CREATE INDEX .* USING (.*\)) (WITH \(.*\) )?(WHERE .*)$', '\1 \3')
           = format('btree (%s) WHERE (%s)', w.columns, w.condition)
$$;

COMMENT ON FUNCTION zbxhist_internal.run_index_columns(regclass) IS
'The columns of an index, if it is made as one of those that a table of runs has (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.run_index_columns(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.run_index_columns(regclass) TO PUBLIC;
