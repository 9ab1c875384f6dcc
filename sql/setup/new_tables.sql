-- sql/setup/new_tables.sql
--
-- Only those of somebody who owns managed tables there, or of the database's
-- owner: anybody who may create a table in the schema could have one of such a
-- name, and a superuser's is not for the database's owner to have managed.

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
       AND zbxhist_internal.may_take_up(f.parent)
$$;

COMMENT ON FUNCTION zbxhist_internal.new_tables() IS
'Zabbix tables that have appeared in a schema since setup was called there, and that maintenance takes up (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.new_tables() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.new_tables() TO PUBLIC;
