-- sql/setup/find_tables.sql
--
-- Without a schema: those schemas that have a Zabbix "history", told from other
-- people's tables of that name by its columns.  With one: whatever is there
-- under the names, so that what cannot be managed gets its error message.

CREATE FUNCTION zbxhist_internal.find_tables(schema_name name)
RETURNS TABLE (parent regclass, table_schema name, table_name name, is_trends boolean)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 9
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT k.oid::regclass, n.nspname, k.relname, z.is_trends
      FROM pg_namespace n
      JOIN pg_class k ON k.relnamespace = n.oid
      JOIN zbxhist_internal.zabbix_tables() z ON z.table_name = k.relname
     WHERE n.nspname = schema_name AND k.relkind IN ('r', 'p', 'v', 'm', 'f')
        OR schema_name IS NULL
       AND k.relkind IN ('r', 'p')
       AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
       AND 4 = (SELECT count(*)
                  FROM pg_class h
                  JOIN pg_attribute a ON a.attrelid = h.oid
                 WHERE h.relnamespace = n.oid AND h.relname = 'history'
                   AND h.relkind IN ('r', 'p') AND NOT h.relispartition
                   AND (a.attname, a.atttypid) IN (
                           ('itemid', 'int8'::regtype), ('clock', 'int4'::regtype),
                           ('ns', 'int4'::regtype), ('value', 'float8'::regtype),
                           ('value', 'numeric'::regtype)))
     ORDER BY n.nspname, z.ordinal
$$;

COMMENT ON FUNCTION zbxhist_internal.find_tables(name) IS
'The Zabbix tables of values in a schema, or in every schema that has a Zabbix history table (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.find_tables(name) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.find_tables(name) TO PUBLIC;
