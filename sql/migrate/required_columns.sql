-- sql/migrate/required_columns.sql

CREATE FUNCTION zbxhist_internal.required_columns(parent regclass)
RETURNS name[]
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT array_agg(coalesce(c.packed_name, a.attname) ORDER BY a.attnum)
      FROM pg_attribute a
      LEFT JOIN zbxhist_internal.packed_columns(zbxhist_internal.packed_table(parent)) c ON c.column_name = a.attname
     WHERE a.attrelid = parent AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
       AND (a.attnotnull OR a.attname IN ('itemid', 'clock'))
$$;

COMMENT ON FUNCTION zbxhist_internal.required_columns(regclass) IS
'The columns of a managed table that may not be null, by the names that packed days have them under (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.required_columns(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.required_columns(regclass) TO PUBLIC;
