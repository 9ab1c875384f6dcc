-- sql/setup/extension_table.sql

CREATE FUNCTION zbxhist_internal.extension_table(extension name, table_name name)
RETURNS regclass
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT k.oid::regclass
      FROM pg_extension e
      JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
                      AND d.deptype = 'e' AND d.classid = 'pg_class'::regclass AND d.objsubid = 0
      JOIN pg_class k ON k.oid = d.objid
     WHERE e.extname = extension AND k.relname = table_name AND k.relkind = 'r'
     LIMIT 1
$$;

COMMENT ON FUNCTION zbxhist_internal.extension_table(name, name) IS
'A table of another extension, whether the caller may read it or not; NULL if there is none (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.extension_table(name, name) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.extension_table(name, name) TO PUBLIC;
