-- sql/check/check_deleted_items.sql
--
-- What is in doubt, for whoever may read the items as maintenance does; and what
-- maintenance has measured.

CREATE FUNCTION zbxhist_internal.check_deleted_items(parent regclass)
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE sql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 'warning', 'deleted_items', parent::text,
           format('values of deleted items stay until retention, though they are to be dropped: %s', i.problem),
           format('SELECT zbxhist.alter_parent(%L, deleted_items => ''keep'');', parent)
      FROM pg_class k
     CROSS JOIN LATERAL zbxhist_internal.kept_items(k.oid) i
     WHERE k.oid = parent AND pg_has_role(k.relowner, 'USAGE') AND i.problem IS NOT NULL
    UNION ALL
    SELECT 'info', 'deleted_values', c.parent::text,
           format('values of items that Zabbix has deleted take about %s, %s %% of packed days, and stay until retention; '
                  'with the policy "drop" they go when their day is packed or written anew',
                  pg_size_pretty(s.deleted_bytes), s.deleted_percent),
           format('SELECT zbxhist.alter_parent(%L, deleted_items => ''drop'');', c.parent)
      FROM zbxhist.parent_config c
      JOIN zbxhist.parent_state s ON s.parent = c.parent
     WHERE c.parent = check_deleted_items.parent AND c.deleted_items = 'keep'
       AND s.deleted_percent >= 1 AND s.deleted_bytes >= 1048576
$$;

COMMENT ON FUNCTION zbxhist_internal.check_deleted_items(regclass) IS
'The part of check that is about items of a table that Zabbix has deleted (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.check_deleted_items(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.check_deleted_items(regclass) TO PUBLIC;
