-- sql/maintenance/log.sql

-- Writes an entry of the maintenance log; an error is also noted for the view status.
CREATE FUNCTION zbxhist_internal.log_action(
    parent regclass, action text, relation text, rows bigint DEFAULT NULL, bytes bigint DEFAULT NULL,
    lock_wait interval DEFAULT NULL, message text DEFAULT NULL, sqlstate text DEFAULT NULL,
    started_at timestamptz DEFAULT now()) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO zbxhist.maintenance_log
        (started_at, parent, action, relation, rows, bytes, duration, lock_wait, sqlstate, message)
    VALUES (started_at, parent, action, relation, rows, bytes,
            clock_timestamp() - started_at, lock_wait, sqlstate, message);
    IF sqlstate IN ('XX001', 'XX002') THEN
        PERFORM zbxhist_internal.note_verified(d.parent, d.day, message)
           FROM zbxhist.packed_day d WHERE d.parent = log_action.parent AND d.day::text = relation;
    END IF;
    -- a lock that was not available is tried again, so it is no error yet
    IF parent IS NOT NULL AND sqlstate IS NOT NULL AND NOT zbxhist_internal.is_transient(sqlstate) THEN
        INSERT INTO zbxhist.parent_state AS s (parent, failed, last_error, last_error_at)
        VALUES (parent, true, message, clock_timestamp())
        ON CONFLICT ON CONSTRAINT parent_state_pkey DO UPDATE
           SET failed = true, last_error = excluded.last_error,
               last_error_at = excluded.last_error_at;
    END IF;
END
$$;

-- Notes for the view progress that an action begins; NULL: that it has ended.
CREATE FUNCTION zbxhist_internal.set_action(parent regclass, action text, relation text) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO zbxhist.parent_state AS s (parent, action, relation, action_pid, action_started, action_percent)
    VALUES (parent, action, relation, pg_backend_pid(), clock_timestamp(), 0)
    ON CONFLICT ON CONSTRAINT parent_state_pkey DO UPDATE
       SET action = excluded.action, relation = excluded.relation, action_pid = excluded.action_pid,
           action_started = excluded.action_started, action_percent = 0,
           action_total = NULL, position_itemid = NULL, action_rows = 0;
END
$$;

-- Whether this session has noted that it began an action (set_action).
CREATE FUNCTION zbxhist_internal.has_begun(parent regclass, action text, relation text) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (SELECT FROM zbxhist.parent_state s
                    WHERE s.parent = has_begun.parent AND s.action = has_begun.action
                      AND s.relation = has_begun.relation AND s.action_pid = pg_backend_pid())
$$;

-- Whether a step that failed with this SQLSTATE, or had to wait (NULL), is likely to succeed in the next
-- run: a lock was not available, a deadlock, or not all transactions saw the same rows.
CREATE FUNCTION zbxhist_internal.is_transient(sqlstate text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(sqlstate, '55P03') IN ('55P03', '40P01', '40001', '55006')
$$;

-- Notes in step_problem that a step failed or must wait; if it succeeded, deletes the entry.
CREATE FUNCTION zbxhist_internal.note_outcome(
    parent regclass, step text, relation text, answer text, sqlstate text DEFAULT NULL, message text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF answer NOT IN ('wait', 'postponed', 'locked', 'failed') THEN
        DELETE FROM zbxhist.step_problem p
         WHERE p.parent = note_outcome.parent AND p.step = note_outcome.step
           AND p.relation = coalesce(note_outcome.relation, '');
        RETURN;
    END IF;
    INSERT INTO zbxhist.step_problem AS p (parent, step, relation, since, last_at, sqlstate, message)
    VALUES (parent, step, coalesce(relation, ''), clock_timestamp(), clock_timestamp(), sqlstate, message)
    ON CONFLICT ON CONSTRAINT step_problem_pkey DO UPDATE
       SET last_at = excluded.last_at, sqlstate = excluded.sqlstate, message = excluded.message;
END
$$;
