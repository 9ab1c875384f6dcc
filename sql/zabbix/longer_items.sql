-- sql/zabbix/longer_items.sql
--
-- Items of hosts that are no templates.  "0" keeps nothing, with or without the
-- override.  What a user macro stands for depends on host and context.

CREATE FUNCTION zbxhist_internal.longer_items(
    zabbix name,
    table_names name[],
    keeps interval,
    OUT items bigint,
    OUT unknown bigint,
    OUT examples text,
    OUT problem text)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    -- their places are Zabbix's value types
    stored_in CONSTANT name[] := '[0:6]={history,history_str,history_log,history_uint,history_text,history_bin,history_json}';
    kind      CONSTANT name := CASE WHEN table_names[1] LIKE 'trends%' THEN 'trends' ELSE 'history' END;
    types     CONSTANT integer[] := ARRAY(
        SELECT array_position(stored_in, replace(t, 'trends', 'history')::name)
          FROM unnest(table_names) t);
    items_table CONSTANT regclass := zbxhist_internal.zabbix_table(zabbix, 'items',
        ARRAY['itemid', 'hostid', 'name', 'flags', 'value_type', kind]);
    hosts_table CONSTANT regclass := zbxhist_internal.zabbix_table(zabbix, 'hosts', '{hostid,host,status}');
    answer json;
BEGIN
    items := 0;
    unknown := 0;
    -- the query runs as the one owner what the other may have put into an index
    IF items_table IS NULL OR hosts_table IS NULL
       OR (SELECT count(DISTINCT k.relowner) FROM pg_class k WHERE k.oid IN (items_table, hosts_table)) > 1 THEN
        SELECT format('cannot read table %I.items or %1$I.hosts', zabbix) INTO problem
          FROM pg_class k
         WHERE k.relnamespace = (SELECT n.oid FROM pg_namespace n WHERE n.nspname = zabbix)
           AND k.relname = 'items';
        RETURN;
    END IF;
    -- as their owner: to plan a query may run what he has put into an index
    answer := zbxhist_internal.execute_as_owner(items_table, format(
        'WITH own AS ('
        ' SELECT i.%1$I AS period, zbxhist_internal.parse_period(i.%1$I) AS length, count(*) AS items, min(i.itemid) AS itemid'
        '   FROM ONLY %2$s i JOIN ONLY %3$s h ON h.hostid = i.hostid'
        '  WHERE i.flags IN (0, 4) AND h.status IN (0, 1) AND i.value_type = ANY ($1::integer[])'
        '  GROUP BY i.%1$I),'
        ' longest AS ('
        ' SELECT format(''"%%s" of host "%%s" (%%s)'', left(i.name, 60), h.host, o.period) AS label'
        '   FROM own o JOIN ONLY %2$s i ON i.itemid = o.itemid JOIN ONLY %3$s h ON h.hostid = i.hostid'
        '  WHERE o.length > $2::interval'
        '  ORDER BY o.length DESC, o.itemid LIMIT 3)'
        ' SELECT json_build_array(coalesce(sum(o.items) FILTER (WHERE o.length > $2::interval), 0),'
        '                         coalesce(sum(o.items) FILTER (WHERE o.length IS NULL), 0),'
        '                         (SELECT string_agg(l.label, '', '') FROM longest l))'
        '   FROM own o', kind, items_table, hosts_table), types::text, keeps::text)::json;
    items := answer->>0;
    unknown := answer->>1;
    examples := answer->>2;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.longer_items(name, name[], interval) IS
'How many items of Zabbix keep what is in these tables for longer than a period, with examples, and of how many that is not known (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.longer_items(name, name[], interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.longer_items(name, name[], interval) TO pg_database_owner;
