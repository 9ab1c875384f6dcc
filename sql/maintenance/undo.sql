-- sql/maintenance/undo.sql

-- Step of undo: from now on every new row stays in the parent.
CREATE FUNCTION zbxhist_internal.step_undo_begin(parent regclass) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE zbxhist.parent_config c SET routing = false WHERE c.parent = step_undo_begin.parent;
    PERFORM zbxhist_internal.step_begin(parent);
    UPDATE zbxhist.parent_state s SET undo_pid = pg_backend_pid(), begun_pid = NULL, duplicates = 0 WHERE s.parent = step_undo_begin.parent;
    UPDATE zbxhist.managed_schema m
       SET excluded = m.excluded || k.relname
      FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace
     WHERE k.oid = step_undo_begin.parent AND m.schema_name = n.nspname
       AND k.relname <> ALL (m.excluded);
    PERFORM zbxhist_internal.invalidate(parent);
    RETURN 'done';
END
$$;

-- Step of undo: waits for transactions that may need the moved rows where they were.
CREATE FUNCTION zbxhist_internal.step_undo_settle(parent regclass) RETURNS text
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN zbxhist_internal.settled(parent) THEN 'done' ELSE 'wait' END
$$;

-- Step of undo: drops an empty partition.
CREATE FUNCTION zbxhist_internal.step_undo_drop(parent regclass, partition regclass) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    label   CONSTANT text := partition::text;
    waited  interval;
BEGIN
    IF NOT zbxhist_internal.settled(parent) OR zbxhist_internal.has_own_rows(partition, NULL) THEN
        RETURN 'again';
    END IF;
    waited := zbxhist_internal.lock_exclusively(partition);
    -- a transaction that began before the undo may have written to it
    IF zbxhist_internal.has_own_rows(partition, NULL) THEN
        RETURN 'again';
    END IF;
    PERFORM zbxhist_internal.end_older_snapshots(partition, s.last_move)
       FROM zbxhist.parent_state s WHERE s.parent = step_undo_drop.parent;
    PERFORM zbxhist_internal.execute_as_owner(parent, format('DROP TABLE %s', partition));
    PERFORM zbxhist_internal.invalidate(parent);
    PERFORM zbxhist_internal.log_action(parent, 'undo_drop', label, rows => 0, lock_wait => waited);
    RETURN 'done';
END
$$;

-- Step of undo: drops the packed table and the triggers, and deletes the policy.
CREATE FUNCTION zbxhist_internal.step_undo_end(parent regclass) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    packed  CONSTANT regclass := zbxhist_internal.packed_table(parent);
    waited  interval;
BEGIN
    IF EXISTS (SELECT FROM zbxhist_internal.list_ranges(parent))
       OR EXISTS (SELECT FROM zbxhist_internal.own_children(parent)) THEN
        RETURN 'again';
    END IF;
    IF packed IS NOT NULL THEN
        PERFORM zbxhist_internal.lock_patiently(parent);
        waited := zbxhist_internal.lock_exclusively(packed);
        PERFORM zbxhist_internal.execute_as_owner(parent, format('DROP FOREIGN TABLE %s', packed));
    END IF;
    waited := zbxhist_internal.lock_exclusively(parent);
    PERFORM zbxhist_internal.execute_as_owner(parent, format('DROP TRIGGER %I ON %s', t.tgname, parent))
       FROM pg_trigger t
      WHERE t.tgrelid = parent AND t.tgfoid = 'zbxhist.route()'::regprocedure;
    PERFORM zbxhist_internal.log_action(parent, 'undo', NULL, lock_wait => waited);
    DELETE FROM zbxhist.step_problem p WHERE p.parent = step_undo_end.parent;
    DELETE FROM zbxhist.parent_state s WHERE s.parent = step_undo_end.parent;
    DELETE FROM zbxhist.parent_config c WHERE c.parent = step_undo_end.parent;
    PERFORM zbxhist_internal.invalidate(parent);
    RETURN 'done';
END
$$;

-- Says of a table that becomes plain that nobody will delete its old rows, if Zabbix's housekeeping
-- of it is off.
CREATE FUNCTION zbxhist_internal.tell_housekeeping(parent regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    command text;
BEGIN
    SELECT zbxhist_internal.setting_command(n.nspname, o.name, '1') INTO command
      FROM pg_class k
      JOIN pg_namespace n ON n.oid = k.relnamespace
     CROSS JOIN LATERAL (SELECT format('hk_%s_mode', substring(k.relname FROM '^(history|trends|audit)'))) o (name)
     WHERE k.oid = parent AND (zbxhist_internal.zabbix_setting(n.nspname, o.name)).value = '0';
    IF command IS NOT NULL THEN
        RAISE NOTICE 'old rows of table % will not be deleted, because Zabbix''s housekeeping of it is off', parent
            USING HINT = command;
    END IF;
END
$$;

-- Turns a managed table back into a plain one with every row, in batches; can be interrupted and
-- repeated.  An audit log is copied while it is locked.
CREATE PROCEDURE zbxhist.undo(parent regclass)
LANGUAGE plpgsql AS $$
DECLARE
    answer  pg_catalog.text;
    problem pg_catalog.record;
BEGIN
    CALL zbxhist_internal.next_transaction();
    IF EXISTS (SELECT FROM zbxhist.auditlog_config c WHERE c.parent = undo.parent) THEN
        PERFORM zbxhist_internal.tell_housekeeping(parent);
        PERFORM zbxhist_internal.undo_auditlog(parent);
        COMMIT;
        RETURN;
    END IF;
    PERFORM zbxhist_internal.require_parent(parent);
    PERFORM zbxhist_internal.tell_housekeeping(parent);
    CALL zbxhist_internal.repeat_step(parent, 'owner', ARRAY[NULL::regclass], false, answer);
    CALL zbxhist_internal.repeat_step(parent, 'undo_begin', ARRAY[NULL::regclass], false, answer);
    CALL zbxhist_internal.unpack_due(parent, answer);
    -- a second round for rows of transactions that began before the first
    FOR round IN 1 .. 3 LOOP
        EXIT WHEN answer = 'failed' OR cardinality(zbxhist_internal.work_list(parent, 'undo_move')) = 0;
        CALL zbxhist_internal.do_step(parent, 'undo_move', answer);
        CALL zbxhist_internal.do_step(parent, 'undo_settle', answer);
        CALL zbxhist_internal.do_step(parent, 'undo_drop', answer);
    END LOOP;
    CALL zbxhist_internal.repeat_step(parent, 'undo_end', ARRAY[NULL::regclass], false, answer);
    IF answer = 'done' AND zbxhist_internal.has_archive(parent) THEN
        CALL zbxhist_internal.repeat_step(parent, 'archive_clean', ARRAY[NULL::regclass], false, answer);
    ELSIF answer <> 'done' THEN
        SELECT format('%s: %s.', nullif(p.relation, ''), p.message) AS cause,
               zbxhist_internal.drop_views(to_regclass(nullif(p.relation, ''))) AS command
          INTO problem
          FROM zbxhist.step_problem p
         WHERE p.parent = undo.parent AND NOT zbxhist_internal.is_transient(p.sqlstate)
           AND p.last_at >= statement_timestamp()
         ORDER BY p.last_at DESC LIMIT 1;
        IF problem.cause IS NULL
           AND EXISTS (SELECT FROM zbxhist.parent_state s WHERE s.parent = undo.parent AND s.duplicates > 0) THEN
            SELECT format('Rows of %s have keys of other rows, in the table itself.  The command shows both: delete the wrong one.', p) AS cause,
                   format('SELECT tableoid::regclass, * FROM %s WHERE (itemid, clock) IN (SELECT itemid, clock FROM ONLY %s) ORDER BY itemid, clock;',
                          parent, p) AS command
              INTO problem
              FROM unnest(zbxhist_internal.work_list(parent, 'undo_move')) p LIMIT 1;
        END IF;
        RAISE NOTICE 'table % is not a plain table yet: % and % are left', parent,
                     zbxhist_internal.count_of(cardinality(zbxhist_internal.work_list(parent, 'undo_move')), 'partition'),
                     zbxhist_internal.count_of(cardinality(zbxhist_internal.work_list(parent, 'unpack')), 'packed day')
            USING DETAIL = coalesce(problem.cause || '  Repeat the call when that is fixed.',
                                    'Older transactions may still need them, or a lock was not available: see zbxhist.maintenance_log.')
                           || '  All rows can be read at any time.',
                  HINT = coalesce(problem.command, format('CALL zbxhist.undo(%L);', parent));
    END IF;
    -- ends the transaction's search_path: the caller's next statement has the session's
    COMMIT;
END
$$;
