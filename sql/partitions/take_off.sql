-- sql/partitions/take_off.sql

-- Moves a table and its indexes to another schema.  Those whose names are taken there, maybe by a
-- partition of another parent, get a number.
CREATE FUNCTION zbxhist_internal.set_schema(relation regclass, schema name) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    target CONSTANT regnamespace := (SELECT n.oid FROM pg_namespace n WHERE n.nspname = schema);
    item   record;
BEGIN
    FOR item IN
        SELECT k.oid::regclass AS own, k.relkind,
               zbxhist_internal.free_name(target, k.relname, '', k.relnamespace::regnamespace) AS name
          FROM pg_class k
         WHERE (k.oid = relation OR k.oid IN (SELECT x.indexrelid FROM pg_index x WHERE x.indrelid = relation))
           AND (EXISTS (SELECT FROM pg_class o WHERE o.relname = k.relname AND o.relnamespace = target)
                OR EXISTS (SELECT FROM pg_type y WHERE y.typname = k.relname AND y.typnamespace = target))
    LOOP
        PERFORM zbxhist_internal.execute_as_owner(relation, format(
            'ALTER %s %s RENAME TO %I', CASE item.relkind WHEN 'r' THEN 'TABLE' ELSE 'INDEX' END, item.own, item.name));
    END LOOP;
    PERFORM zbxhist_internal.execute_as_owner(relation, format('ALTER TABLE %s SET SCHEMA %I', relation, schema));
END
$$;

-- Drops a partition or packed day, or detaches a partition, which becomes an independent table, maybe in
-- another schema; and logs it.  Takes ACCESS EXCLUSIVE on the partition.
-- A detached partition keeps its constraint zbxhist_clock, which tells the time of its rows.
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
        waited := zbxhist_internal.lock_exclusively(relation);
        IF action = 'detach' THEN
            PERFORM zbxhist_internal.execute_as_owner(parent, format('ALTER TABLE %s NO INHERIT %s', relation, parent));
            -- its state counts only as long as it is a partition
            DELETE FROM zbxhist.partition_state s WHERE s.partition = take_off.relation;
            IF schema_name <> (SELECT n.nspname FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace WHERE k.oid = relation) THEN
                PERFORM zbxhist_internal.set_schema(relation, schema_name);
            END IF;
        ELSE
            PERFORM zbxhist_internal.execute_as_owner(parent, format('DROP TABLE %s', relation));
        END IF;
        PERFORM zbxhist_internal.invalidate(parent);
    END IF;
    PERFORM zbxhist_internal.log_action(parent, action, label, rows => rows, bytes => CASE action WHEN 'drop' THEN bytes END,
        lock_wait => waited,
        message => concat_ws(', ', message, CASE action WHEN 'detach' THEN format('now table %s', relation) END));
END
$$;
