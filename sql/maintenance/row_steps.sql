-- sql/maintenance/row_steps.sql

-- Step of maintenance: merges a batch of rows of the parent into their packed day.
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
    -- an archive server may not answer, so fetch its groups before taking the lock that stops writers
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

-- Step of maintenance: deletes a batch of rows past retention from the parent itself.
-- In a parent of more than 1 GB no single rows are deleted: when all are past retention, step_truncate
-- removes them.
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

-- Step of maintenance: notes for which partitions the parent has no rows, so that INSERTs need not look for
-- keys there, see src/tables/stray.c.
-- A transaction that cannot see a new partition yet may store its rows in the parent, invisible until it
-- ends.  So a partition is verified only after all transactions have ended that ran when it was first seen
-- here, prepared ones included.
--
-- INSERTs of strays wait for the lock for strays.  A small parent is searched under that lock.  For a large
-- one, a first transaction takes the lock and removes the marks, and a second one searches; if a session
-- has set a mark meanwhile, the result is discarded.
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

    -- outside a run of maintenance parent_state may have no row
    SELECT s.verifying INTO looking FROM zbxhist.parent_state s
     WHERE s.parent = step_verify.parent FOR UPDATE;
    divide := FOUND AND NOT looking AND zbxhist_internal.own_pages(parent) >= 1000;
    looking := coalesce(looking, false);

    -- waits for transactions that have stored strays; the next snapshot sees their rows
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
