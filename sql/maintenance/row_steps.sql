-- sql/maintenance/row_steps.sql

-- Maintenance: merges a batch of rows from the parent into their packed day.
CREATE FUNCTION zbxhist_internal.step_merge(parent regclass, day regclass) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    entry zbxhist.packed_day;
    state zbxhist.parent_state;
    batch record;
BEGIN
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
    -- an archive server may not answer: it is asked before writers are in the way
    IF entry.archive_copy IS NOT NULL THEN
        PERFORM zbxhist_internal.merge_rows(parent, day, entry.from_clock, entry.to_clock, 50000, true);
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
        PERFORM zbxhist_internal.log_action(parent, 'merge', day::text, rows => state.action_rows + batch.merged,
            started_at => state.action_started);
    END IF;
    UPDATE zbxhist.packed_day d SET merged_at = clock_timestamp() WHERE d.day = step_merge.day;
    PERFORM zbxhist_internal.set_action(parent, NULL, NULL);
    RETURN 'done';
END
$$;

-- Maintenance: deletes a batch of rows past retention from the parent itself.
-- A parent of more than 1 GB is not cleaned row by row: its rows wait until all
-- of them are past retention, and then one TRUNCATE takes them.
CREATE FUNCTION zbxhist_internal.step_expire(parent regclass) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    cutoff CONSTANT bigint := zbxhist_internal.deletion_clock(parent);
    state  zbxhist.parent_state;
    batch  record;
BEGIN
    IF cutoff IS NULL OR zbxhist_internal.own_pages(parent) NOT BETWEEN 1 AND 131072 THEN
        RETURN 'done';
    END IF;
    SELECT * INTO STRICT state FROM zbxhist.parent_state s WHERE s.parent = step_expire.parent;
    IF state.action IS DISTINCT FROM 'expire' THEN
        IF zbxhist_internal.waiting_clock(parent, -2147483648, cutoff, false) IS NULL THEN
            RETURN 'done';
        END IF;
        PERFORM zbxhist_internal.set_action(parent, 'expire', NULL);
        SELECT * INTO STRICT state FROM zbxhist.parent_state s WHERE s.parent = step_expire.parent;
    END IF;
    batch := zbxhist_internal.delete_expired(parent, cutoff, state.position_itemid, 5000);
    PERFORM zbxhist_internal.refuse('54000', format('deleting rows of %s makes no progress', parent),
        detail => format('No row was deleted after item %s.', state.position_itemid))
      WHERE NOT batch.done AND batch.deleted = 0 AND batch.last_itemid IS NOT DISTINCT FROM state.position_itemid;
    UPDATE zbxhist.parent_state s
       SET position_itemid = batch.last_itemid, action_rows = s.action_rows + batch.deleted,
           settling = NULL
     WHERE s.parent = step_expire.parent;
    IF NOT batch.done THEN
        RETURN 'more';
    END IF;
    PERFORM zbxhist_internal.log_action(parent, 'expire', NULL, rows => state.action_rows + batch.deleted,
        started_at => state.action_started);
    PERFORM zbxhist_internal.set_action(parent, NULL, NULL);
    RETURN 'done';
END
$$;

-- Maintenance: notes for which partitions no row is in the parent.
-- Finds out for which partitions the parent has no rows, so
-- that inserts need not look there, see src/tables/stray.c.  What a transaction that
-- did not know the partition yet puts into the parent is not to be seen before it
-- ends, so a partition is verified when all those have ended that ran when it
-- was first seen here; one of them may be prepared by then.
--
-- The strays lock keeps some inserts waiting.  A small parent is looked through
-- under it; a large one in the transaction after the one that took it and
-- removed the marks, and what has been marked meanwhile makes the look void.
CREATE FUNCTION zbxhist_internal.step_verify(parent regclass) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    present CONSTANT text[] := zbxhist_internal.running_transactions();
    looking boolean;
    divide  boolean;
    version xid;
    newest  bigint;
BEGIN
    INSERT INTO zbxhist.partition_state (partition, parent, settling)
    SELECT t.partition, step_verify.parent, present || 'prepared'::text
      FROM zbxhist.list_partitions(parent) t
        ON CONFLICT ON CONSTRAINT partition_state_pkey DO NOTHING;

    -- outside of a run of maintenance there may be no row
    SELECT s.verifying INTO looking FROM zbxhist.parent_state s
     WHERE s.parent = step_verify.parent FOR UPDATE;
    divide := FOUND AND NOT looking AND zbxhist_internal.own_pages(parent) >= 1000;
    looking := coalesce(looking, false);

    -- strays are waited for; then a fresh snapshot shows their rows
    IF NOT looking THEN
        PERFORM zbxhist_internal.lock_strays(parent);
    END IF;
    UPDATE zbxhist.parent_state s SET verifying = false
     WHERE s.parent = step_verify.parent AND s.verifying;
    SELECT t.xmin INTO version FROM pg_trigger t
     WHERE t.tgrelid = parent AND t.tgname = 'zzz_zbxhist_route' AND t.tgenabled <> 'D';
    IF NOT (EXISTS (SELECT FROM zbxhist.stray_mark m WHERE m.parent = step_verify.parent)
            OR EXISTS (SELECT FROM zbxhist.partition_state s
                        WHERE s.parent = step_verify.parent AND s.verified IS DISTINCT FROM version
                          AND NOT coalesce(s.settling && present, false))) THEN
        RETURN 'done';
    END IF;
    IF divide THEN
        PERFORM zbxhist_internal.remove_marks(parent);
        UPDATE zbxhist.parent_state s SET verifying = true WHERE s.parent = step_verify.parent;
        RETURN 'more';
    END IF;
    SELECT zbxhist_internal.waiting_clock(parent, min(t.from_clock), max(t.to_clock), true) INTO newest
      FROM zbxhist.list_partitions(parent) t;
    IF looking THEN
        PERFORM zbxhist_internal.lock_strays(parent);
        IF EXISTS (SELECT FROM zbxhist.stray_mark m WHERE m.parent = step_verify.parent) THEN
            RETURN 'done';
        END IF;
    END IF;

    PERFORM zbxhist_internal.remove_marks(parent);
    UPDATE zbxhist.partition_state s
       SET settling = CASE WHEN s.settling && present THEN s.settling END,
           verified = CASE WHEN t.from_clock > newest OR newest IS NULL THEN version END
      FROM zbxhist.list_partitions(step_verify.parent) t
     WHERE s.partition = t.partition AND NOT coalesce(s.settling && present, false);
    RETURN 'done';
END
$$;
