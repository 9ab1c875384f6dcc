-- sql/setup/catalog_of.sql

CREATE FUNCTION zbxhist_internal.catalog_of(extension name, table_name name)
RETURNS regclass
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT k.oid::regclass
      FROM pg_class k
     WHERE k.oid = zbxhist_internal.extension_table(extension, table_name)
       AND NOT k.relrowsecurity AND has_table_privilege(k.oid, 'SELECT')
       AND has_schema_privilege(k.relnamespace, 'USAGE')
$$;

COMMENT ON FUNCTION zbxhist_internal.catalog_of(name, name) IS
'A table of another extension that the caller may read; NULL if there is none (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.catalog_of(name, name) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.catalog_of(name, name) TO PUBLIC;
