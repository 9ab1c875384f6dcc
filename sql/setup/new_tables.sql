-- sql/setup/new_tables.sql

CREATE FUNCTION zbxhist_internal.new_tables()
RETURNS SETOF regclass
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT f.parent
      FROM zbxhist.managed_schema m,
           zbxhist_internal.find_tables(m.schema_name) f
     WHERE f.table_name <> ALL (m.excluded)
       AND NOT EXISTS (SELECT FROM zbxhist.parent_config c WHERE c.parent = f.parent)
$$;

COMMENT ON FUNCTION zbxhist_internal.new_tables() IS
'Zabbix tables that have appeared in a schema since setup was called there (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.new_tables() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.new_tables() TO PUBLIC;
