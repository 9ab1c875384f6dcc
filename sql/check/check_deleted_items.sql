-- sql/check/check_deleted_items.sql
--
-- For whoever may read the items as maintenance does.

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
$$;

COMMENT ON FUNCTION zbxhist_internal.check_deleted_items(regclass) IS
'The part of check that is about items of a table that Zabbix has deleted (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.check_deleted_items(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.check_deleted_items(regclass) TO PUBLIC;
