-- sql/partitions/take_off.sql

-- Its constraint zbxhist_clock stays, and says of what time its rows are.  In the
-- other schema there may be a table or index of its name, a partition of another
-- parent maybe: then it gets a number.
CREATE FUNCTION zbxhist_internal.detach_partition(parent regclass, partition regclass, schema_name name)
RETURNS interval
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    waited  CONSTANT interval := zbxhist_internal.lock_exclusively(partition);
    present CONSTANT name := (SELECT n.nspname FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace WHERE k.oid = partition);
    target  CONSTANT regnamespace := (SELECT n.oid FROM pg_namespace n WHERE n.nspname = schema_name);
    item    record;
BEGIN
    PERFORM zbxhist_internal.execute_as_owner(parent, format('ALTER TABLE %s NO INHERIT %s', partition, parent));
    -- what is known of it counts only as long as it is one
    DELETE FROM zbxhist.partition_state s WHERE s.partition = detach_partition.partition;
    IF schema_name <> present THEN
        FOR item IN
            SELECT k.oid::regclass AS relation, k.relkind,
                   zbxhist_internal.free_name(target, k.relname, '', k.relnamespace::regnamespace) AS name
              FROM pg_class k
             WHERE (k.oid = partition OR k.oid IN (SELECT x.indexrelid FROM pg_index x WHERE x.indrelid = partition))
               AND (EXISTS (SELECT FROM pg_class o WHERE o.relname = k.relname AND o.relnamespace = target)
                    OR EXISTS (SELECT FROM pg_type y WHERE y.typname = k.relname AND y.typnamespace = target))
        LOOP
            PERFORM zbxhist_internal.execute_as_owner(parent, format(
                'ALTER %s %s RENAME TO %I', CASE item.relkind WHEN 'r' THEN 'TABLE' ELSE 'INDEX' END, item.relation, item.name));
        END LOOP;
        PERFORM zbxhist_internal.execute_as_owner(parent, format('ALTER TABLE %s SET SCHEMA %I', partition, schema_name));
    END IF;
    PERFORM zbxhist_internal.invalidate(parent);
    RETURN waited;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.detach_partition IS
'Makes a partition a table of its own, in another schema if one is given, and returns the time that it waited for its lock (internal)';

CREATE FUNCTION zbxhist_internal.take_off(
    parent regclass, relation regclass, action text, schema_name name, message text DEFAULT NULL) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    label   CONSTANT text := relation::text;
    bytes   CONSTANT bigint := pg_total_relation_size(relation);
    rows    bigint;
    waited  interval;
BEGIN
    SELECT d.nrows INTO rows FROM zbxhist.packed_day d WHERE d.day = relation;
    IF FOUND THEN
        waited := zbxhist_internal.drop_packed_day(parent, relation);
    ELSE
        rows := zbxhist_internal.estimated_rows(relation);
        IF action = 'detach' THEN
            waited := zbxhist_internal.detach_partition(parent, relation, schema_name);
        ELSE
            waited := zbxhist_internal.lock_exclusively(relation);
            PERFORM zbxhist_internal.execute_as_owner(parent, format('DROP TABLE %s', relation));
            PERFORM zbxhist_internal.invalidate(parent);
        END IF;
    END IF;
    PERFORM zbxhist_internal.log_action(parent, action, label, rows => rows, bytes => CASE action WHEN 'drop' THEN bytes END,
        lock_wait => waited,
        message => concat_ws(', ', message, CASE action WHEN 'detach' THEN format('now table %s', relation) END));
END
$$;

COMMENT ON FUNCTION zbxhist_internal.take_off IS
'Drops a partition or packed day, or detaches a partition, and logs it (internal)';
