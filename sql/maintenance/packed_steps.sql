-- sql/maintenance/packed_steps.sql

-- Step of maintenance: packs a partition that is due.
CREATE FUNCTION zbxhist_internal.step_pack(parent regclass, partition regclass) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    problem text;
BEGIN
    -- another session may have packed it, or changed the policy
    IF NOT EXISTS (SELECT FROM zbxhist_internal.packable_partitions(parent, partition)) THEN
        RETURN 'done';
    END IF;
    BEGIN
        RETURN zbxhist_internal.pack_partition(parent, partition);
    EXCEPTION WHEN program_limit_exceeded OR feature_not_supported THEN
        -- the next run would fail in the same way
        GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT;
    END;
    INSERT INTO zbxhist.partition_state AS s (partition, parent, settling, not_packable, not_packable_at)
    VALUES (partition, parent, zbxhist_internal.running_transactions(), problem, clock_timestamp())
    ON CONFLICT ON CONSTRAINT partition_state_pkey DO UPDATE
       SET not_packable = excluded.not_packable, not_packable_at = excluded.not_packable_at;
    PERFORM zbxhist_internal.set_action(parent, NULL, NULL);
    RETURN 'done';
END
$$;

-- Step of maintenance: repacks a packed day that wastes space (repack), or makes one packed day of the
-- parts of a day (compact).  Returns "later" if the limit does not allow it now, "postponed" if locks or
-- other transactions are in the way.
-- Those go away by themselves, so they are no errors; it is tried again after an hour or more.  A day that
-- is damaged, or on which something depends, is repacked only after it has grown, and never compacted.
-- This is noted here.
CREATE FUNCTION zbxhist_internal.step_rewrite(parent regclass, day regclass, step text) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    has_begun CONSTANT boolean := zbxhist_internal.has_begun(parent, step, day::text);
    days      regclass[] := ARRAY[day];
    culprit   text := day::text;
    bytes     bigint;
    answer    text;
    problem   text;
    state     text;
BEGIN
    -- another session may have done it
    IF step = 'compact' THEN
        SELECT c.days INTO days FROM zbxhist_internal.compactable_days(parent) c WHERE c.days[1] = step_rewrite.day;
    ELSE
        SELECT w.bytes INTO bytes FROM zbxhist_internal.wasteful_days(parent) w WHERE w.day = step_rewrite.day;
    END IF;
    IF NOT FOUND THEN
        RETURN 'done';
    ELSIF step = 'repack' AND NOT has_begun AND NOT zbxhist_internal.may_repack(parent) THEN
        RETURN 'later';
    END IF;
    BEGIN
        answer := zbxhist_internal.rewrite_days(parent, step, days);
        IF answer = 'more' THEN
            UPDATE zbxhist.parent_state s
               SET repack_after = greatest(s.repack_after, clock_timestamp() - interval '1 hour')
                                + bytes / pg_size_bytes(zbxhist_internal.library_setting('maintenance_repack_limit', '0'))::float8 * interval '1 hour'
             WHERE s.parent = step_rewrite.parent AND step = 'repack';
        END IF;
        IF answer <> 'wait' THEN
            RETURN answer;
        END IF;
        problem := 'some transactions do not see its newest rows yet';
    EXCEPTION
        WHEN lock_not_available OR deadlock_detected OR serialization_failure THEN
            GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT;
            UPDATE zbxhist.packed_day d SET repacked_at = clock_timestamp() WHERE d.day = ANY (days) AND has_begun;
        WHEN data_corrupted OR index_corrupted OR dependent_objects_still_exist OR datatype_mismatch THEN
            GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT, state = RETURNED_SQLSTATE;
            UPDATE zbxhist.packed_day d
               SET packed_bytes = bytes, packed_rows = d.nrows, repacked_at = clock_timestamp()
             WHERE d.day = step_rewrite.day AND step = 'repack';
            IF step = 'compact' THEN
                -- the message names the table; by the SQLSTATE check() sees that it is damage, which it
                -- reports in another line
                UPDATE zbxhist.packed_day d SET not_compacted = format('%s (%s)', problem, state)
                 WHERE d.day = (
                       SELECT k.oid
                         FROM unnest(days) WITH ORDINALITY u (day, place)
                         JOIN pg_class k ON k.oid = u.day
                        ORDER BY strpos(problem, k.relname) = 0, length(k.relname) DESC, u.place
                        LIMIT 1)
                RETURNING d.day INTO culprit;
            END IF;
            PERFORM zbxhist_internal.log_action(parent, step, culprit, sqlstate => state, message => problem);
            PERFORM zbxhist_internal.note_outcome(parent, step, culprit, 'failed', state, problem);
    END;
    PERFORM zbxhist_internal.set_action(parent, NULL, NULL);
    IF state IS NOT NULL THEN
        RETURN 'failed';
    END IF;
    PERFORM zbxhist_internal.log_action(parent, step, day::text, message => 'postponed: ' || problem);
    RETURN 'postponed';
END
$$;

-- Does one of the three steps of unpacking a packed day; returns "done", "more" (call again) or "wait" (call
-- again later).
-- First it creates an empty partition.  When all transactions can see that, it moves the rows there; each
-- snapshot sees them in one of the two places.  When no transaction needs them in the packed day any more,
-- it drops that.  Between the first and the second step late rows stay in the parent; afterwards they go to
-- the partition.  "salvage" does the same with a damaged day and reports what is lost.
--
-- If an undo unpacks the day of a table that cannot have partitions any more, the rows go to the table
-- itself.
CREATE FUNCTION zbxhist_internal.step_unpack(parent regclass, day regclass, salvage boolean DEFAULT false) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    policy  CONSTANT zbxhist.parent_config := zbxhist_internal.require_parent(parent);
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
    -- before anything is changed
    IF salvage AND NOT coalesce(entry.unpacked, false) THEN
        PERFORM zbxhist_internal.verify_archive_server(day);
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
                entry.partition::text, rows => rows, bytes => before - pg_total_relation_size(entry.partition),
                message => format('%s before, %s after', pg_size_pretty(before),
                                  pg_size_pretty(pg_total_relation_size(entry.partition))));
            RETURN 'more';
        ELSE
            waited := zbxhist_internal.lock_exclusively(day);
            PERFORM zbxhist_internal.end_older_snapshots(day, entry.changed);
            PERFORM zbxhist_internal.execute_as_owner(parent, format('DROP TABLE %s', day));
            DELETE FROM zbxhist.packed_day d WHERE d.day = step_unpack.day;
            PERFORM zbxhist_internal.invalidate(parent);
            PERFORM zbxhist_internal.log_action(parent, 'unpack_drop', label, lock_wait => waited);
            RETURN 'done';
    END CASE;
END
$$;
