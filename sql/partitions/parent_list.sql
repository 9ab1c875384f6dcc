-- sql/partitions/parent_list.sql

CREATE FUNCTION zbxhist_internal.parent_list()
RETURNS regclass[]
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(array_agg(c.parent ORDER BY n.nspname, coalesce(z.ordinal, 100), k.relname), '{}')
      FROM zbxhist.parent_config c
      JOIN pg_class k ON k.oid = c.parent
      JOIN pg_namespace n ON n.oid = k.relnamespace
      LEFT JOIN zbxhist_internal.zabbix_tables() z ON z.table_name = k.relname
$$;

COMMENT ON FUNCTION zbxhist_internal.parent_list() IS
'All managed tables in the order of Zabbix (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.parent_list() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.parent_list() TO PUBLIC;
