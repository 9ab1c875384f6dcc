-- sql/migrate/partman_config.sql
--
-- Unlike catalog_of: also where the caller may not read it.

CREATE FUNCTION zbxhist_internal.partman_config()
RETURNS regclass
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT k.oid::regclass
      FROM pg_extension e
      JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
                      AND d.deptype = 'e' AND d.classid = 'pg_class'::regclass AND d.objsubid = 0
      JOIN pg_class k ON k.oid = d.objid
     WHERE e.extname = 'pg_partman' AND k.relname = 'part_config' AND k.relkind = 'r'
     LIMIT 1
$$;

COMMENT ON FUNCTION zbxhist_internal.partman_config() IS
'The table in which pg_partman has its partitioned tables; NULL without pg_partman (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.partman_config() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.partman_config() TO PUBLIC;
