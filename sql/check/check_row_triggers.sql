-- sql/check/check_row_triggers.sql
--
-- What partitions lack maintenance gives them, see step_align.

CREATE FUNCTION zbxhist_internal.check_row_triggers(parent regclass)
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    command text;
    objects text[];
    label   name;
BEGIN
    FOR label, objects, command IN
        SELECT t.tgname, array_agg(p.partition::text ORDER BY p.from_clock),
               (array_agg(format('DROP TRIGGER %I ON %s;', t.tgname, p.partition) ORDER BY p.from_clock))[1]
          FROM zbxhist.list_partitions(parent) p
          JOIN pg_trigger t ON t.tgrelid = p.partition
         WHERE NOT t.tgisinternal
           AND NOT EXISTS (SELECT FROM zbxhist_internal.row_triggers(parent) o WHERE o.tgname = t.tgname)
         GROUP BY t.tgname
    LOOP
        RETURN QUERY SELECT 'info', 'own_trigger', zbxhist_internal.object_list(objects),
            format('trigger "%s" is on %s, and not on %s.  Drop it if this is not meant', label,
                   CASE cardinality(objects) WHEN 1 THEN 'this partition' ELSE 'each of these partitions' END, parent),
            command;
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.check_row_triggers(regclass) IS
'The part of check that finds row triggers which a partition has and its parent has not (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.check_row_triggers(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.check_row_triggers(regclass) TO PUBLIC;
