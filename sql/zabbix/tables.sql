-- sql/zabbix/tables.sql

-- The names of Zabbix's history and trends tables, in the order in which a history syncer locks them.
CREATE FUNCTION zbxhist_internal.zabbix_tables() RETURNS TABLE (ordinal integer, table_name name, is_trends boolean)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 9 SET search_path = pg_catalog, pg_temp AS $$
    VALUES (1, 'history'::name, false), (2, 'history_str', false), (3, 'history_log', false),
           (4, 'history_uint', false), (5, 'history_text', false), (6, 'history_bin', false),
           (7, 'history_json', false), (8, 'trends', true), (9, 'trends_uint', true)
$$;

-- Returns another table of Zabbix, to be queried as its owner; NULL if the caller may not act as the
-- owner, the owner is not trusted (trusts_owner), or a column is missing.
CREATE FUNCTION zbxhist_internal.zabbix_table(table_schema name, table_name name, columns name[]) RETURNS regclass
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
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

-- Whether a role's tables in a schema are trusted to be Zabbix's: it owns managed tables there, or the
-- database, or is a superuser.
-- Otherwise any role that may create tables in Zabbix's schema could create a table of settings by which
-- rows are dropped.  As long as no table is managed in the schema, the owner of the table history is
-- trusted.
CREATE FUNCTION zbxhist_internal.trusts_owner(table_schema name, owner oid) RETURNS boolean
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- (PL/pgSQL, because a function in SQL would be planned again in each call)
    RETURN owner = 'pg_database_owner'::regrole
        OR EXISTS (SELECT FROM pg_roles r WHERE r.oid = owner AND r.rolsuper)
        OR EXISTS (SELECT FROM pg_database d WHERE d.datname = current_database() AND d.datdba = owner)
        OR EXISTS (
           SELECT FROM pg_class k
             JOIN pg_namespace n ON n.oid = k.relnamespace
             LEFT JOIN zbxhist.parent_config c ON c.parent = k.oid
            WHERE n.nspname = table_schema AND k.relowner = owner
              AND CASE WHEN EXISTS (SELECT FROM zbxhist.parent_config o
                                      JOIN pg_class p ON p.oid = o.parent
                                     WHERE p.relnamespace = n.oid)
                       THEN c.parent IS NOT NULL
                       ELSE k.relname = 'history' AND k.relkind IN ('r', 'p') END);
END
$$;

-- Returns columns, as text, of the rows with these keys, or of all committed rows if keys is NULL.
-- Returns no row if a column is not integer, bigint, text or varchar, if the caller may not read it, or if
-- there is no unique index on the key.
CREATE FUNCTION zbxhist_internal.stored_texts(relation regclass, key_column name, keys bigint[], columns name[])
RETURNS TABLE (key bigint, texts text[])
LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'zbxhist_stored_texts';

-- Returns a column of the first row of a table, or of the first row with a key; NULL if there is none, or
-- the caller may not read it.
CREATE FUNCTION zbxhist_internal.stored_setting(relation regclass, value_column name, key_column name, key text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (SELECT s.texts[1]
              FROM zbxhist_internal.stored_texts(relation, NULL, NULL, array_remove(ARRAY[value_column, key_column], NULL)) s
             WHERE stored_setting.key IS NULL OR s.texts[2] = stored_setting.key COLLATE "C"
             LIMIT 1);
END
$$;
