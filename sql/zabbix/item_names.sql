-- sql/zabbix/item_names.sql

CREATE FUNCTION zbxhist_internal.item_names(table_schema name, itemids bigint[])
RETURNS TABLE (itemid bigint, host text, item text, item_key text)
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
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

COMMENT ON FUNCTION zbxhist_internal.item_names(name, bigint[]) IS
'Names of items and their hosts in the Zabbix tables of a schema, as far as the caller may read them (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.item_names(name, bigint[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.item_names(name, bigint[]) TO PUBLIC;
