-- sql/zabbix/zabbix_table.sql
--
-- A plain table of somebody who counts there (trusts_owner), for a query as him.

CREATE FUNCTION zbxhist_internal.zabbix_table(table_schema name, table_name name, columns name[])
RETURNS regclass
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT k.oid::regclass
      FROM pg_class k
      JOIN pg_namespace n ON n.oid = k.relnamespace
     WHERE n.nspname = zabbix_table.table_schema AND k.relname = zabbix_table.table_name
       AND k.relkind = 'r' AND NOT k.relrowsecurity AND pg_has_role(k.relowner, 'USAGE')
       AND zbxhist_internal.trusts_owner(table_schema, k.relowner)
       AND cardinality(columns) =
           (SELECT count(*)
              FROM pg_attribute a
             WHERE a.attrelid = k.oid AND a.attname = ANY (columns) AND NOT a.attisdropped
               AND a.atttypid IN ('integer'::regtype, 'bigint'::regtype, 'text'::regtype, 'varchar'::regtype))
$$;

COMMENT ON FUNCTION zbxhist_internal.zabbix_table(name, name, name[]) IS
'A table of Zabbix beside its tables of values, if the caller may act as its owner and it has these columns; else NULL (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.zabbix_table(name, name, name[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.zabbix_table(name, name, name[]) TO PUBLIC;
