-- sql/partitions/describe_index.sql

CREATE FUNCTION zbxhist_internal.describe_index(index regclass)
RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (
        SELECT concat_ws(' ',
                   CASE WHEN x.indisprimary THEN 'primary' WHEN x.indisunique THEN 'unique' END,
                   regexp_replace(pg_get_indexdef(x.indexrelid), '^CREATE (UNIQUE )?INDEX .*? USING ', ''))
          FROM pg_index x
         WHERE x.indexrelid = index);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.describe_index(regclass) IS
'An index without its name and table, to compare it (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.describe_index(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.describe_index(regclass) TO PUBLIC;
