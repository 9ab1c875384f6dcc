-- sql/partitions/detach_partition.sql
--
-- Its constraint zbxhist_clock stays, and says of what time its rows are.  In the
-- other schema there may be a table or index of its name, a partition of another
-- parent maybe: then it gets a number.

CREATE FUNCTION zbxhist_internal.detach_partition(parent regclass, partition regclass, schema_name name)
RETURNS interval
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    waited  CONSTANT interval := zbxhist_internal.lock_exclusively(partition, zbxhist_internal.short_lock_timeout());
    present CONSTANT name := (SELECT n.nspname FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace WHERE k.oid = partition);
    target  CONSTANT oid := (SELECT n.oid FROM pg_namespace n WHERE n.nspname = schema_name);
    item    record;
BEGIN
    PERFORM zbxhist_internal.execute_as_owner(parent, format('ALTER TABLE %s NO INHERIT %s', partition, parent));
    -- what is known of it counts only as long as it is one
    DELETE FROM zbxhist.partition_state s WHERE s.partition = detach_partition.partition;
    IF schema_name <> present THEN
        FOR item IN
            SELECT k.oid::regclass AS relation, k.relkind, free.name
              FROM pg_class k
             CROSS JOIN LATERAL (
                   SELECT left(k.relname, 58) || '_' || i AS name
                     FROM generate_series(1, 9999) i
                    WHERE NOT EXISTS (SELECT FROM pg_class o
                                       WHERE o.relname = (left(k.relname, 58) || '_' || i)::name
                                         AND o.relnamespace IN (k.relnamespace, target))
                    ORDER BY i LIMIT 1) free
             WHERE (k.oid = partition OR k.oid IN (SELECT x.indexrelid FROM pg_index x WHERE x.indrelid = partition))
               AND EXISTS (SELECT FROM pg_class o
                            WHERE o.relname = k.relname AND o.relnamespace = target)
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

COMMENT ON FUNCTION zbxhist_internal.detach_partition(regclass, regclass, name) IS
'Makes a partition a table of its own, in another schema if one is given, and returns the time that it waited for its lock (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.detach_partition(regclass, regclass, name) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.detach_partition(regclass, regclass, name) TO pg_database_owner;
