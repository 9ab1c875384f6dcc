-- sql/migrate/import_columns.sql

CREATE FUNCTION zbxhist_internal.import_columns(parent regclass, packed boolean)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT string_agg(CASE WHEN import_columns.packed
                           THEN format('s.%I AS %I', a.attname, coalesce(c.packed_name, a.attname))
                           ELSE quote_ident(a.attname) END, ', ' ORDER BY a.attnum)
      FROM pg_attribute a
      LEFT JOIN zbxhist_internal.packed_columns(zbxhist_internal.packed_table(parent)) c ON c.column_name = a.attname
     WHERE a.attrelid = parent AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
$$;

COMMENT ON FUNCTION zbxhist_internal.import_columns(regclass, boolean) IS
'The columns of a managed table, as they are or with the names that packed days have them under (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.import_columns(regclass, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.import_columns(regclass, boolean) TO PUBLIC;
