-- sql/zabbix/tables.sql

-- The names of the Zabbix tables of values, in the order in which Zabbix writes to them.
-- In the order in which a history syncer of Zabbix locks them.
CREATE FUNCTION zbxhist_internal.zabbix_tables() RETURNS TABLE (ordinal integer, table_name name, is_trends boolean)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 9 SET search_path = pg_catalog, pg_temp AS $$
    VALUES (1, 'history'::name, false), (2, 'history_str', false), (3, 'history_log', false),
           (4, 'history_uint', false), (5, 'history_text', false), (6, 'history_bin', false),
           (7, 'history_json', false), (8, 'trends', true), (9, 'trends_uint', true)
$$;

-- A table of Zabbix beside its tables of values, if the caller may act as its owner and it has
-- these columns; else NULL.
-- A plain table of an owner who counts there (trusts_owner), for a query as that
-- owner.
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

-- Whether tables of this owner beside the managed ones of a schema are taken for those of Zabbix:
-- he owns managed ones, or the database, or is a superuser.
-- A user who may create a table in a schema of Zabbix could have a table of
-- settings there, by which rows would be dropped.  As long as nothing is managed
-- in the schema, the owner of the table history is the one who counts.
CREATE FUNCTION zbxhist_internal.trusts_owner(table_schema name, owner oid) RETURNS boolean
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- (a function in SQL would be planned anew in each call)
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

-- What stands in columns of the rows with these keys, or of all rows if keys is NULL.
-- No row if a column is not integer, bigint, text or varchar, if the caller may not read it, or if
-- no unique index has the key.  Of all rows, those that are committed now.
CREATE FUNCTION zbxhist_internal.stored_texts(relation regclass, key_column name, keys bigint[], columns name[])
RETURNS TABLE (key bigint, texts text[])
LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'zbxhist_stored_texts';

-- What stands in a column of the first row of a table, or of the first row with that key; NULL if it
-- is nothing, or the caller may not read it.
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
