-- sql/partitions/describe_indexes.sql

CREATE FUNCTION zbxhist_internal.describe_indexes(relation regclass)
RETURNS text[]
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(array_agg(d ORDER BY d), '{}')
      FROM pg_index x,
           LATERAL (SELECT concat_ws(' ',
               CASE WHEN x.indisprimary THEN 'primary' WHEN x.indisunique THEN 'unique' END,
               regexp_replace(pg_get_indexdef(x.indexrelid), '^CREATE (UNIQUE )?INDEX .*? USING ', ''))) AS t (d)
     WHERE x.indrelid = relation AND x.indisvalid
$$;

COMMENT ON FUNCTION zbxhist_internal.describe_indexes(regclass) IS
'The valid indexes of a table without their names, to compare them (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.describe_indexes(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.describe_indexes(regclass) TO PUBLIC;
