-- sql/maintenance/step_index.sql
--
-- Those that are dropped are in the way of UPDATE and DELETE if the table has
-- runs.  While an index is built, readers go on and new rows stay in the parent.

CREATE FUNCTION zbxhist_internal.step_index(parent regclass, partition regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    waited  interval;
    index   regclass;
BEGIN
    PERFORM zbxhist_internal.require_parent(parent);
    IF EXISTS (SELECT FROM zbxhist_internal.unfinished_indexes(parent, partition) u WHERE u.is_dropped) THEN
        waited := zbxhist_internal.lock_exclusively(partition, zbxhist_internal.short_lock_timeout());
        FOR index IN
            SELECT u.index FROM zbxhist_internal.unfinished_indexes(parent, partition) u WHERE u.is_dropped
        LOOP
            EXECUTE format('DROP INDEX %s', index);
        END LOOP;
        PERFORM zbxhist_internal.log_action(parent, 'index', partition::text, NULL, NULL, started, waited);
        RETURN 'more';
    END IF;
    -- another run may have done it, or dropped it
    IF NOT EXISTS (SELECT FROM zbxhist_internal.unindexed_partitions(parent, partition)) THEN
        RETURN 'done';
    END IF;
    PERFORM zbxhist_internal.lock_patiently(partition);
    PERFORM set_config('lock_timeout', zbxhist_internal.short_lock_timeout()::text, true);
    EXECUTE format('LOCK TABLE ONLY %s IN SHARE MODE', partition);
    waited := clock_timestamp() - started;
    PERFORM zbxhist_internal.clone_indexes(parent, partition);
    PERFORM zbxhist_internal.invalidate(parent);
    PERFORM zbxhist_internal.log_action(parent, 'index', partition::text, NULL, NULL, started, waited);
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist_internal.step_index(regclass, regclass) IS
'Maintenance: drops indexes of a partition or packed day that were not built to their end, and builds those of its parent that a partition lacks (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.step_index(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.step_index(regclass, regclass) TO pg_database_owner;
