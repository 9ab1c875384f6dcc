-- sql/maintenance/step_unpack.sql
--
-- First an empty partition; when every transaction knows of it, the rows go
-- there, so that each snapshot sees them at one of both places; when none sees
-- them in the packed day any more, that is dropped.  From the first step to
-- the second late rows stay in the parent, from the second on they go to the
-- partition.  To salvage a damaged day is the same, but for what is lost.
--
-- A table that cannot have partitions any more gets the rows itself, when they
-- all come back to it anyway.

CREATE FUNCTION zbxhist_internal.step_unpack(parent regclass, day regclass, salvage boolean DEFAULT false)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    policy  CONSTANT zbxhist.parent_config := zbxhist_internal.require_parent(parent);
    started CONSTANT timestamptz := clock_timestamp();
    label   CONSTANT text := day::text;
    entry   zbxhist.packed_day;
    rows    bigint;
    before  bigint;
    waited  interval;
BEGIN
    SELECT * INTO entry FROM zbxhist.packed_day d
     WHERE d.parent = step_unpack.parent AND d.day = step_unpack.day FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'done';
    END IF;
    IF entry.settling IS NULL AND entry.partition IS NOT NULL THEN
        UPDATE zbxhist.packed_day d SET settling = zbxhist_internal.running_transactions()
         WHERE d.day = step_unpack.day RETURNING d.settling INTO entry.settling;
    END IF;
    CASE
        WHEN entry.partition IS NULL
             OR entry.partition <> parent
                AND NOT EXISTS (SELECT FROM zbxhist.list_partitions(parent) p
                                 WHERE p.partition = entry.partition) THEN
            entry.partition := CASE
                WHEN NOT policy.routing AND (zbxhist_internal.why_unfit(parent)).problem IS NOT NULL THEN parent
                ELSE zbxhist_internal.create_range(parent, entry.from_clock, entry.to_clock) END;
            UPDATE zbxhist.packed_day d
               SET partition = entry.partition, unpacked = false, settling = NULL
             WHERE d.day = step_unpack.day;
            RETURN 'more';
        WHEN NOT zbxhist_internal.is_settled(entry.settling, entry.changed) THEN
            RETURN 'wait';
        WHEN NOT entry.unpacked THEN
            before := pg_total_relation_size(day);
            PERFORM zbxhist_internal.lock_moves(parent);
            rows := CASE WHEN salvage THEN zbxhist_internal.salvage_day(parent, day, entry.partition)
                         ELSE zbxhist_internal.unpack_rows(day, entry.partition) END;
            UPDATE zbxhist.packed_day d
               SET unpacked = true, settling = NULL, changed = pg_current_xact_id()
             WHERE d.day = step_unpack.day;
            PERFORM zbxhist_internal.invalidate(parent);
            PERFORM zbxhist_internal.log_action(parent, CASE WHEN salvage THEN 'salvage' ELSE 'unpack' END,
                entry.partition::text, rows,
                before - pg_total_relation_size(entry.partition), started, NULL, NULL,
                format('%s before, %s after', pg_size_pretty(before),
                       pg_size_pretty(pg_total_relation_size(entry.partition))));
            RETURN 'more';
        ELSE
            waited := zbxhist_internal.lock_exclusively(day, zbxhist_internal.short_lock_timeout());
            PERFORM zbxhist_internal.end_older_snapshots(day, entry.changed);
            PERFORM zbxhist_internal.execute_as_owner(parent, format('DROP TABLE %s', day));
            DELETE FROM zbxhist.packed_day d WHERE d.day = step_unpack.day;
            PERFORM zbxhist_internal.invalidate(parent);
            PERFORM zbxhist_internal.log_action(parent, 'unpack_drop', label, NULL, NULL, started, waited);
            RETURN 'done';
    END CASE;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.step_unpack(regclass, regclass, boolean) IS
'Unpacks a packed day, one of its three steps: more, call again; wait, call again later (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.step_unpack(regclass, regclass, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.step_unpack(regclass, regclass, boolean) TO pg_database_owner;
