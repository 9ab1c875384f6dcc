-- sql/check/check_row_triggers.sql
--
-- What the parent gets reaches partitions made from then on.

CREATE FUNCTION zbxhist_internal.check_row_triggers(parent regclass)
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
        SELECT 'warning', 'row_triggers', p.partition::text,
               format('trigger "%s" of its parent does not fire for its rows', t.tgname),
               format('SELECT zbxhist_internal.clone_triggers(%L, %L);', parent, p.partition)
          FROM zbxhist.list_partitions(parent) p,
               zbxhist_internal.row_triggers(parent) t
         WHERE NOT EXISTS (SELECT FROM pg_trigger o
                            WHERE o.tgrelid = p.partition AND o.tgname = t.tgname);
    RETURN QUERY
        SELECT 'warning', 'foreign_keys', p.partition::text,
               format('its rows are not checked for the foreign key of its parent "%s"', m.definition),
               format('SELECT zbxhist_internal.clone_foreign_keys(%L, %L);', parent, p.partition)
          FROM zbxhist.list_partitions(parent) p,
               zbxhist_internal.missing_foreign_keys(parent, p.partition) AS m (definition);
    RETURN QUERY
        SELECT 'info', 'own_trigger', p.partition::text,
               format('it has a trigger "%s" of its own', t.tgname),
               format('DROP TRIGGER %I ON %s; if this is not meant.', t.tgname, p.partition)
          FROM zbxhist.list_partitions(parent) p
          JOIN pg_trigger t ON t.tgrelid = p.partition
         WHERE NOT t.tgisinternal
           AND NOT EXISTS (SELECT FROM zbxhist_internal.row_triggers(parent) o WHERE o.tgname = t.tgname);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.check_row_triggers(regclass) IS
'The part of check that compares the row triggers and foreign keys of partitions with those of their parent (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.check_row_triggers(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.check_row_triggers(regclass) TO PUBLIC;
