-- sql/zabbix/items.sql

-- Names of items and their hosts in the Zabbix tables of a schema; NULLs if the caller may not read them.
CREATE FUNCTION zbxhist_internal.item_names(table_schema name, itemids bigint[])
RETURNS TABLE (itemid bigint, host text, item text, item_key text)
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    WITH place AS (
        SELECT (SELECT k.oid FROM pg_class k
                 WHERE k.relnamespace = n.oid AND k.relname = 'items' AND k.relkind = 'r'
                   AND zbxhist_internal.trusts_owner(n.nspname, k.relowner))::regclass AS items,
               (SELECT k.oid FROM pg_class k
                 WHERE k.relnamespace = n.oid AND k.relname = 'hosts' AND k.relkind = 'r'
                   AND zbxhist_internal.trusts_owner(n.nspname, k.relowner))::regclass AS hosts
          FROM pg_namespace n WHERE n.nspname = table_schema),
    item AS MATERIALIZED (
        SELECT i.key AS itemid, i.texts[1]::bigint AS hostid, i.texts[2] AS name, i.texts[3] AS item_key
          FROM place p
         CROSS JOIN LATERAL zbxhist_internal.stored_texts(p.items, 'itemid', itemids, '{hostid,name,key_}') i),
    host AS MATERIALIZED (
        SELECT h.key AS hostid, coalesce(nullif(h.texts[1], ''), h.texts[2]) AS name
          FROM place p
         CROSS JOIN LATERAL zbxhist_internal.stored_texts(
               p.hosts, 'hostid', ARRAY(SELECT DISTINCT i.hostid FROM item i), '{name,host}') h)
    SELECT i.itemid, h.name, i.name, i.item_key
      FROM item i
      LEFT JOIN host h ON h.hostid = i.hostid
$$;

-- Returns the items that exist in Zabbix, for a managed table; if anything is in doubt, none and the
-- problem.
CREATE FUNCTION zbxhist_internal.known_items(parent regclass, OUT items bigint[], OUT problem text)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    place record;
BEGIN
    items := '{}';
    SELECT k.relname, n.nspname, k.relowner, i.oid::regclass AS items, i.relowner AS items_owner,
           EXISTS (SELECT FROM zbxhist_internal.zabbix_tables() z WHERE z.table_name = k.relname) AS is_zabbix
      INTO place
      FROM zbxhist.parent_config c
      JOIN pg_class k ON k.oid = c.parent
      JOIN pg_namespace n ON n.oid = k.relnamespace
      LEFT JOIN pg_class i ON i.relnamespace = n.oid AND i.relname = 'items' AND i.relkind = 'r'
       AND (SELECT count(*) FROM pg_attribute a
             WHERE a.attrelid = i.oid AND a.attname IN ('itemid', 'hostid', 'key_') AND NOT a.attisdropped) = 3
     WHERE c.parent = known_items.parent;
    IF NOT place.is_zabbix THEN
        problem := format('%s is not a table of Zabbix', parent);
    ELSIF place.items IS NULL THEN
        problem := format('there is no table %I.items of Zabbix', place.nspname);
    ELSIF place.items_owner <> place.relowner THEN
        problem := format('table %s belongs to %I, and %s to %I', place.items, pg_get_userbyid(place.items_owner),
                          parent, pg_get_userbyid(place.relowner));
    ELSIF EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = place.items) THEN
        problem := format('table %s has child tables, which may have items, too', place.items);
    ELSE
        SELECT coalesce(array_agg(s.key ORDER BY s.key), '{}') INTO items
          FROM zbxhist_internal.stored_texts(place.items, 'itemid', NULL, '{}') s;
        IF items = '{}' THEN
            problem := format('table %s is empty, or role %I may not read it', place.items, current_user);
        END IF;
    END IF;
END
$$;

-- Returns the items whose values stay when days of a table are packed or rewritten; an empty list if all
-- stay, because of the policy or a problem.
-- The items are read after the partition was closed, so it has no values of items created later.
CREATE FUNCTION zbxhist_internal.kept_items(parent regclass, OUT items bigint[], OUT problem text)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    items := '{}';
    IF EXISTS (SELECT FROM zbxhist.parent_config c
                WHERE c.parent = kept_items.parent AND c.deleted_items = 'drop') THEN
        SELECT k.items, k.problem INTO items, problem FROM zbxhist_internal.known_items(parent) k;
    END IF;
END
$$;

-- Counts the items of Zabbix whose storage period is longer than a period, or is a user macro, whose
-- value depends on host and context; NULL if the caller cannot read them.
-- Items of templates are counted, too.  A period of 0 keeps nothing.
CREATE FUNCTION zbxhist_internal.longer_items(zabbix name, kind name, keeps interval) RETURNS bigint
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    items_table CONSTANT regclass := zbxhist_internal.zabbix_table(zabbix, 'items', ARRAY['itemid', 'flags', 'value_type', kind]);
BEGIN
    -- as the table's owner, because planning a query may run code of the owner's from an index
    RETURN CASE WHEN items_table IS NOT NULL
                THEN zbxhist_internal.execute_as_owner(items_table, format(
                    'SELECT count(*) FROM ONLY %s i WHERE i.flags IN (0, 4) AND (%L OR i.value_type IN (0, 3))'
                    ' AND coalesce(zbxhist_internal.parse_period(i.%I) > %L::interval, true)', items_table, kind = 'history', kind, keeps))
                WHEN NOT EXISTS (SELECT FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace
                                  WHERE n.nspname = zabbix AND k.relname = 'items') THEN '0' END;
END
$$;
