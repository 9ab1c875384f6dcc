-- sql/migrate/partman_entry.sql
--
-- pg_partman writes names without quotes.  What it does with tables past retention
-- is to be done on: nobody has agreed to more.

CREATE FUNCTION zbxhist_internal.partman_entry(
    parent regclass,
    OUT config regclass,
    OUT key text,
    OUT template regclass,
    OUT retention interval,
    OUT action text,
    OUT schema_name name)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    catalog CONSTANT regclass := zbxhist_internal.catalog_of('pg_partman', 'part_config');
    keeps   boolean := true;
BEGIN
    SELECT zbxhist_internal.stored_setting(catalog, 'parent_table', 'parent_table', n.nspname || '.' || k.relname)
      INTO key
      FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace
     WHERE k.oid = parent;
    IF key IS NULL THEN
        RETURN;
    END IF;
    config := catalog;
    SELECT k.oid::regclass INTO template
      FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace
     WHERE n.nspname || '.' || k.relname
           = zbxhist_internal.stored_setting(catalog, 'template_table', 'parent_table', key);
    -- of built-in types: nobody's operators are run
    IF 2 = (SELECT count(*) FROM pg_attribute a
             WHERE a.attrelid = catalog
               AND (a.attname, a.atttypid) IN (('parent_table', 'text'::regtype), ('retention_keep_table', 'boolean'::regtype))) THEN
        EXECUTE format('SELECT retention_keep_table FROM %s WHERE parent_table = $1', catalog)
            INTO keeps USING key;
    END IF;
    BEGIN
        retention := zbxhist_internal.stored_setting(catalog, 'retention', 'parent_table', key)::interval;
    EXCEPTION WHEN data_exception THEN
        retention := NULL;
    END;
    schema_name := zbxhist_internal.stored_setting(catalog, 'retention_schema', 'parent_table', key);
    action := CASE WHEN schema_name IS NOT NULL OR retention IS NOT NULL AND keeps THEN 'detach' END;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.partman_entry(regclass) IS
'What pg_partman has written down for a table, as far as the caller may read it; NULLs if nothing (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.partman_entry(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.partman_entry(regclass) TO PUBLIC;
