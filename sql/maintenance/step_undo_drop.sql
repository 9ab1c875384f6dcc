-- sql/maintenance/step_undo_drop.sql

CREATE FUNCTION zbxhist_internal.step_undo_drop(parent regclass, partition regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    label   CONSTANT text := partition::text;
    waited  interval;
BEGIN
    IF NOT zbxhist_internal.settled(parent) OR zbxhist_internal.has_own_rows(partition, NULL) THEN
        RETURN 'again';
    END IF;
    waited := zbxhist_internal.lock_exclusively(partition, zbxhist_internal.short_lock_timeout());
    -- a transaction that began before the undo may have written to it
    IF zbxhist_internal.has_own_rows(partition, NULL) THEN
        RETURN 'again';
    END IF;
    PERFORM zbxhist_internal.end_older_snapshots(partition, s.last_move)
       FROM zbxhist.parent_state s WHERE s.parent = step_undo_drop.parent;
    PERFORM zbxhist_internal.execute_as_owner(parent, format('DROP TABLE %s', partition));
    PERFORM zbxhist_internal.invalidate(parent);
    PERFORM zbxhist_internal.log_action(parent, 'undo_drop', label, 0, NULL, started, waited);
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist_internal.step_undo_drop(regclass, regclass) IS
'Undo: drops a partition that has been emptied (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.step_undo_drop(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.step_undo_drop(regclass, regclass) TO pg_database_owner;
