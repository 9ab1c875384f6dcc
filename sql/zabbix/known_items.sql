-- sql/zabbix/known_items.sql
--
-- None where anything is in doubt.

CREATE FUNCTION zbxhist_internal.known_items(parent regclass, OUT items bigint[], OUT problem text)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
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
        problem := format('%s is no table of Zabbix', parent);
    ELSIF place.items IS NULL THEN
        problem := format('there is no table %I.items of Zabbix', place.nspname);
    ELSIF place.items_owner <> place.relowner THEN
        problem := format('table %s belongs to %I, and %s to %I', place.items, pg_get_userbyid(place.items_owner),
                          parent, pg_get_userbyid(place.relowner));
    ELSIF EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = place.items) THEN
        problem := format('table %s has child tables, which may have items, too', place.items);
    ELSE
        items := coalesce(zbxhist_internal.stored_keys(place.items, 'itemid'), '{}');
        IF items = '{}' THEN
            problem := format('table %s is empty, or role %I may not read it', place.items, current_user);
        END IF;
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.known_items(regclass) IS
'The items that Zabbix has, for a managed table; none, and the problem, where that is in doubt (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.known_items(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.known_items(regclass) TO PUBLIC;
