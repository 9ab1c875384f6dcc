-- sql/maintenance/step_merge.sql

CREATE FUNCTION zbxhist_internal.step_merge(parent regclass, day regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    entry zbxhist.packed_day;
    state zbxhist.parent_state;
    batch record;
BEGIN
    PERFORM zbxhist_internal.require_parent(parent);
    SELECT * INTO entry FROM zbxhist.packed_day d
     WHERE d.parent = step_merge.parent AND d.day = step_merge.day AND d.partition IS NULL
       FOR UPDATE;
    IF NOT FOUND OR NOT EXISTS (SELECT FROM pg_class k WHERE k.oid = day) THEN
        RETURN 'done';
    END IF;
    SELECT * INTO state FROM zbxhist.parent_state s WHERE s.parent = step_merge.parent;
    IF state.action IS DISTINCT FROM 'merge' OR state.relation IS DISTINCT FROM day::text THEN
        PERFORM zbxhist_internal.set_action(parent, 'merge', day::text);
        SELECT * INTO STRICT state FROM zbxhist.parent_state s WHERE s.parent = step_merge.parent;
    END IF;
    PERFORM zbxhist_internal.lock_moves(parent);
    batch := zbxhist_internal.merge_rows(parent, day, entry.from_clock, entry.to_clock, 50000);
    UPDATE zbxhist.parent_state s
       SET action_rows = s.action_rows + batch.merged,
           duplicates = s.duplicates + batch.duplicates,
           last_move = CASE WHEN batch.merged > 0 THEN pg_current_xact_id() ELSE s.last_move END,
           settling = CASE WHEN batch.merged > 0 THEN NULL ELSE s.settling END
     WHERE s.parent = step_merge.parent;
    UPDATE zbxhist.packed_day d SET nrows = d.nrows + batch.merged
     WHERE d.day = step_merge.day AND batch.merged > 0;
    IF NOT batch.done THEN
        RETURN 'more';
    END IF;
    IF state.action_rows + batch.merged > 0 OR batch.duplicates > 0 THEN
        PERFORM zbxhist_internal.log_action(parent, 'merge', day::text, state.action_rows + batch.merged,
                                   NULL, state.action_started);
    END IF;
    UPDATE zbxhist.packed_day d SET merged_at = clock_timestamp() WHERE d.day = step_merge.day;
    PERFORM zbxhist_internal.set_action(parent, NULL, NULL);
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist_internal.step_merge(regclass, regclass) IS
'Maintenance: merges a batch of rows from the parent into their packed day (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.step_merge(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.step_merge(regclass, regclass) TO pg_database_owner;
