-- sql/maintenance/run_step.sql
--
-- One step of maintenance on one parent, in the transaction of the caller,
-- which commits after it.  Whatever goes wrong is undone, logged and answered
-- with a word; only a cancel or a lost connection ends the run.
--
-- Answers: done, more (call again), wait (call again later), busy (another run
-- is at this parent), locked (no lock in time), later (in the next run),
-- postponed (to a later run, for a reason), unfit (nothing can be done for the
-- table as it is now), failed.

CREATE FUNCTION zbxhist_internal.run_step(parent regclass, step text, relation regclass DEFAULT NULL)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    label   CONSTANT text := relation::text;
    answer  text;
    problem text;
    state   text;
    detail  text := '';
BEGIN
    IF NOT pg_try_advisory_xact_lock(zbxhist_internal.lock_class(), parent::oid::integer) THEN
        RETURN 'busy';
    END IF;
    -- undo may have begun since this run did
    IF step IN ('owner', 'premake', 'split', 'replace', 'trigger', 'align', 'index', 'extend', 'move', 'pack', 'merge', 'merge_runs', 'repack', 'compact')
       AND EXISTS (SELECT FROM zbxhist.parent_config c
                    WHERE c.parent = run_step.parent AND NOT c.routing)
       -- runs are packed before they are unpacked
       AND NOT (step = 'pack' AND EXISTS (SELECT FROM zbxhist.packed_day d WHERE d.day = relation AND d.runs)) THEN
        RETURN 'done';
    END IF;
    PERFORM set_config('lock_timeout', zbxhist_internal.short_lock_timeout()::text, true);
    BEGIN
        answer := CASE step
            WHEN 'take_up' THEN zbxhist_internal.step_take_up(parent)
            WHEN 'begin' THEN zbxhist_internal.step_begin(parent)
            WHEN 'owner' THEN zbxhist_internal.step_owner(parent)
            WHEN 'premake' THEN zbxhist_internal.step_premake(parent)
            WHEN 'split' THEN zbxhist_internal.step_split(parent, relation)
            WHEN 'replace' THEN zbxhist_internal.step_replace(parent, relation)
            WHEN 'trigger' THEN zbxhist_internal.step_trigger(parent)
            WHEN 'align' THEN zbxhist_internal.step_align(parent, relation)
            WHEN 'index' THEN zbxhist_internal.step_index(parent, relation)
            WHEN 'extend' THEN zbxhist_internal.step_extend(parent)
            WHEN 'move' THEN zbxhist_internal.step_move(parent, relation)
            WHEN 'attach' THEN zbxhist_internal.step_attach(parent)
            WHEN 'unpack' THEN zbxhist_internal.step_unpack(parent, relation)
            WHEN 'drop' THEN zbxhist_internal.step_drop(parent, relation)
            WHEN 'pack' THEN zbxhist_internal.step_pack(parent, relation)
            WHEN 'merge' THEN zbxhist_internal.step_merge(parent, relation)
            WHEN 'merge_runs' THEN zbxhist_internal.step_merge_runs(parent, relation)
            WHEN 'repack' THEN zbxhist_internal.step_repack(parent, relation)
            WHEN 'compact' THEN zbxhist_internal.step_compact(parent, relation)
            WHEN 'expire' THEN zbxhist_internal.step_expire(parent)
            WHEN 'verify' THEN zbxhist_internal.step_verify(parent)
            WHEN 'inspect' THEN zbxhist_internal.step_inspect(parent, relation)
            WHEN 'truncate' THEN zbxhist_internal.step_truncate(parent)
            WHEN 'undo_begin' THEN zbxhist_internal.step_undo_begin(parent)
            WHEN 'undo_move' THEN zbxhist_internal.step_undo_move(parent, relation)
            WHEN 'undo_settle' THEN zbxhist_internal.step_undo_settle(parent)
            WHEN 'undo_drop' THEN zbxhist_internal.step_undo_drop(parent, relation)
            WHEN 'undo_end' THEN zbxhist_internal.step_undo_end(parent)
            WHEN 'measure' THEN zbxhist_internal.step_measure(parent)
            WHEN 'end' THEN zbxhist_internal.step_end(parent)
        END;
        -- who answers that it failed has noted why
        IF answer <> 'failed' THEN
            PERFORM zbxhist_internal.note_outcome(parent, step, label, answer, NULL, answer);
        END IF;
        RETURN answer;
    EXCEPTION
        WHEN lock_not_available OR deadlock_detected OR serialization_failure OR object_in_use THEN
            GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT, state = RETURNED_SQLSTATE;
            answer := 'locked';
        WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT, state = RETURNED_SQLSTATE,
                                    detail = PG_EXCEPTION_DETAIL;
            answer := 'failed';
            RAISE WARNING 'zbxhist: % of % failed: %', step, coalesce(label, parent::text), problem;
    END;
    PERFORM zbxhist_internal.log_action(parent, step, label, NULL, NULL, started,
                               CASE answer WHEN 'locked' THEN clock_timestamp() - started END,
                               state, problem);
    PERFORM zbxhist_internal.note_outcome(parent, step, label, answer, state,
                                          -- others' details hold values
                                          problem || CASE state WHEN '2BP01' THEN format(' (%s)', replace(detail, E'\n', '; '))
                                                     ELSE '' END);
    RETURN answer;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.run_step(regclass, text, regclass) IS
'Runs one step of maintenance, logs its failure, and says whether to go on (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.run_step(regclass, text, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.run_step(regclass, text, regclass) TO pg_database_owner;
