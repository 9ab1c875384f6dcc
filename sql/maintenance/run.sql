-- sql/maintenance/run.sql

-- Runs a statement as the owner of a table, if the caller has the owner's rights; returns the first column
-- of the first row, or the number of rows.
-- A statement on a table may run code of its owner: triggers, rules, policies, expressions of indexes and
-- constraints.  The caller may be a superuser, so the statement runs as the owner, in a security-restricted
-- operation.
CREATE FUNCTION zbxhist_internal.execute_as_owner(
    relation regclass, statement text, VARIADIC arguments text[] DEFAULT '{}') RETURNS text
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_execute_as_owner';

-- Disables the timeouts of the current statement and transaction, and limits the wait for each answer of an
-- archive server to some milliseconds.
CREATE FUNCTION zbxhist_internal.set_timeouts(answer_limit integer DEFAULT 60000) RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_set_timeouts';

-- Commits, and begins a transaction.  If that is not possible, for example because an archive server does not
-- commit, the transaction is rolled back and the reason returned.  A cancel is an error.
CREATE PROCEDURE zbxhist_internal.try_commit(OUT state text, OUT problem text)
LANGUAGE c AS 'MODULE_PATHNAME', 'zbxhist_try_commit';

-- Commits, and begins a transaction with a safe search_path and without timeouts.  Each statement of a
-- function is planned once in a session, not anew for each of the first five tables.
-- A procedure that commits cannot have a SET clause, so each transaction sets search_path itself.  The types
-- of a procedure's variables are looked up before that, so they are qualified.
--
-- COMMIT does not wait for a synchronous standby: while that is away, readers would wait for the locks of
-- maintenance.  A standby that lacks the last steps has the same values in their former place, and expired
-- ones until the next run.  Copies on an archive server that it may need are kept for a day.
CREATE PROCEDURE zbxhist_internal.next_transaction()
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM zbxhist_internal.require_own_transactions();
    -- also for this COMMIT, which an archive server must answer
    PERFORM zbxhist_internal.set_timeouts();
    COMMIT;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true),
            pg_catalog.set_config('plan_cache_mode', 'force_generic_plan', true);
    PERFORM zbxhist_internal.set_timeouts();
    IF pg_catalog.current_setting('synchronous_commit') OPERATOR(pg_catalog.<>) 'off' THEN
        PERFORM pg_catalog.set_config('synchronous_commit', 'local', true);
    END IF;
END
$$;

-- Logs the failure of a step of maintenance; returns "locked" or "failed".
-- If archive_reach finds that an archive server is away, that is not logged, only noted for check() and
-- metrics().
CREATE FUNCTION zbxhist_internal.note_failure(
    parent regclass, step text, label text, state text, problem text, detail text, started timestamptz) RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    answer CONSTANT text := CASE WHEN zbxhist_internal.is_transient(state) THEN 'locked' ELSE 'failed' END;
BEGIN
    IF step <> 'archive_reach' OR state !~ '^08' THEN
        IF answer = 'failed' THEN
            RAISE WARNING 'zbxhist: % of % failed: %', step, coalesce(label, parent::text), problem;
        END IF;
        PERFORM zbxhist_internal.log_action(parent, step, label,
            lock_wait => CASE answer WHEN 'locked' THEN clock_timestamp() - started END, sqlstate => state, message => problem);
    END IF;
    PERFORM zbxhist_internal.note_outcome(parent, step, label, answer, state,
                                          -- details of other errors may contain values
                                          problem || CASE state WHEN '2BP01' THEN format(' (%s)', replace(detail, E'\n', '; '))
                                                     ELSE '' END);
    RETURN answer;
END
$$;

-- Runs one step of maintenance on one parent, in the caller's transaction; the caller commits.
-- Takes the lock of maintenance on the parent.  An error is rolled back and logged, and answered with a
-- word.  Two errors are raised again: a cancel, which ends the run, and a lost connection to an archive
-- server, after which postgres_fdw cannot commit the transaction.
--
-- Answers: done, more (call again), wait (call again later), busy (another session maintains this parent),
-- locked (a lock was not available), later (in the next run), postponed (to a later run, for a reason),
-- unfit (nothing can be done for the table as it is now), failed.
CREATE FUNCTION zbxhist_internal.run_step(parent regclass, step text, relation regclass DEFAULT NULL) RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET lock_timeout = 0 AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    label   CONSTANT text := relation::text;
    answer  text;
    problem text;
    state   text;
    detail  text;
    context text;
BEGIN
    -- an undo waits for the step in progress
    IF starts_with(step, 'undo_')
       OR step = 'unpack' AND EXISTS (SELECT FROM zbxhist.parent_state s
                                       WHERE s.parent = run_step.parent AND s.undo_pid = pg_backend_pid()) THEN
        PERFORM pg_advisory_xact_lock(zbxhist_internal.lock_class(), parent::oid::integer);
    ELSIF NOT pg_try_advisory_xact_lock(zbxhist_internal.lock_class(), parent::oid::integer) THEN
        RETURN 'busy';
    END IF;
    -- an undo may have begun meanwhile: then only its session maintains the table
    IF step !~ '^(undo_.*|archive_clean|archive_reach)$'
       AND EXISTS (SELECT FROM zbxhist.parent_config c
                     LEFT JOIN zbxhist.parent_state s ON s.parent = c.parent
                    WHERE c.parent = run_step.parent AND NOT c.routing
                      AND (step <> 'unpack' OR s.undo_pid IS DISTINCT FROM pg_backend_pid())) THEN
        RETURN 'done';
    END IF;
    -- moving rows fires no triggers, so a tool that copies one of the tables would miss it
    IF step IN ('move', 'undo_move', 'merge') THEN
        SELECT format('trigger "%s" is on table %s: a tool follows its changes', t.tgname, t.tgrelid::regclass) INTO problem
          FROM unnest(ARRAY[parent, relation]) r, zbxhist_internal.tool_triggers(r) t LIMIT 1;
        IF FOUND THEN
            PERFORM zbxhist_internal.note_outcome(parent, step, label, 'postponed', NULL, problem);
            RETURN 'postponed';
        END IF;
    END IF;
    PERFORM set_config('lock_timeout', zbxhist_internal.short_lock_timeout()::text, true);
    BEGIN
        -- the other steps do not need a managed table, or may find it no longer managed
        IF step !~ '^(take_up|auditlog|archive_clean|archive_reach|end|undo_.*)$' THEN
            PERFORM zbxhist_internal.require_parent(parent);
        END IF;
        EXECUTE format('SELECT zbxhist_internal.%s', CASE
            WHEN step IN ('move', 'undo_move') THEN 'step_move($1, $2, $3)'
            WHEN step IN ('repack', 'compact') THEN 'step_rewrite($1, $2, $3)'
            ELSE quote_ident('step_' || step) || CASE WHEN relation IS NULL THEN '($1)' ELSE '($1, $2)' END END) INTO answer USING parent, relation, step;
        -- a step that returns "failed" has noted the reason itself
        IF answer <> 'failed' THEN
            PERFORM zbxhist_internal.note_outcome(parent, step, label, answer, NULL, answer);
        END IF;
        RETURN answer;
    EXCEPTION WHEN OTHERS OR query_canceled THEN
        GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT, state = RETURNED_SQLSTATE, detail = PG_EXCEPTION_DETAIL,
            context = PG_EXCEPTION_CONTEXT;
        -- if an archive server cancelled its statement, that is no cancel of this session
        IF state = '57014' AND context !~ 'zbxhist_archive\.' OR state ~ '^(08|57P|25P0[34])' THEN
            RAISE;
        END IF;
    END;
    RETURN zbxhist_internal.note_failure(parent, step, label, state, problem, detail, started);
END
$$;

-- Repeats a step until it is done for all relations of a list, each time in a transaction of its own; a
-- null stands for the table itself.
-- After each batch it sleeps as long as the batch took, so that maintenance takes at most half of a disk.
-- It waits a little for locks and older transactions, and then leaves the rest to the next run.  It waits
-- for all relations of the list together: one by one, unpacking a thousand hours would wait two thousand
-- times.  With by_hand, a problem is raised as an error, and it does not sleep after batches.
--
-- It always ends: steps that work through rows raise an error if a batch made no progress, and other steps
-- are repeated 5000 times at most.
CREATE PROCEDURE zbxhist_internal.repeat_step(
    parent regclass, step text, relations regclass[], by_hand boolean, INOUT answer text)
LANGUAGE plpgsql AS $$
DECLARE
    relation  pg_catalog.regclass;
    result    pg_catalog.text;
    problem   pg_catalog.text;
    state     pg_catalog.text;
    began     pg_catalog.timestamptz;
    remaining pg_catalog.regclass[];
    results   pg_catalog.text[];
    rounds    pg_catalog.int4 := 0;
    waits     pg_catalog.int4 := 0;
    locked    pg_catalog.int4 := 0;
BEGIN
    CALL zbxhist_internal.next_transaction();
    answer := 'done';
    WHILE cardinality(relations) > 0 LOOP
        remaining := '{}';
        results := '{}';
        FOREACH relation IN ARRAY relations LOOP
            CALL zbxhist_internal.next_transaction();
            began := clock_timestamp();
            IF by_hand THEN
                result := zbxhist_internal.run_by_hand(parent, step, relation);
            ELSE
                state := NULL;
                BEGIN
                    result := zbxhist_internal.run_step(parent, step, relation);
                -- all errors that run_step raises again, except a cancel
                EXCEPTION WHEN OTHERS THEN
                    GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT, state = RETURNED_SQLSTATE;
                END;
                IF state IS NULL THEN
                    PERFORM zbxhist_internal.set_timeouts();
                    CALL zbxhist_internal.try_commit(state, problem);
                ELSE
                    ROLLBACK;
                END IF;
                IF state IS NOT NULL THEN
                    CALL zbxhist_internal.next_transaction();
                    result := zbxhist_internal.note_failure(parent, step, relation::text, state, problem, NULL, began);
                END IF;
            END IF;
            CALL zbxhist_internal.next_transaction();
            IF result IN ('more', 'wait', 'locked') THEN
                remaining := remaining || relation;
                results := results || result;
            ELSIF result <> 'done' THEN
                answer := result;
            END IF;
            IF result = 'more' AND NOT by_hand THEN
                PERFORM pg_sleep(least(2, extract(epoch FROM clock_timestamp() - began)));
            END IF;
        END LOOP;
        relations := remaining;
        EXIT WHEN relations = '{}';
        IF 'more' = ANY (results) THEN
            rounds := rounds + 1;
            waits := 0;
            locked := 0;
            -- these raise an error themselves if a batch makes no progress
            IF rounds > 5000 AND step NOT IN ('move', 'merge', 'expire', 'undo_move', 'auditlog', 'archive', 'archive_clean') THEN
                RAISE WARNING 'zbxhist: % of % makes no progress', step, coalesce(relations[1], parent);
                answer := 'failed';
                EXIT;
            END IF;
        ELSE
            waits := waits + 1;
            locked := locked + ('locked' = ANY (results))::integer;
            IF by_hand THEN
                PERFORM zbxhist_internal.refuse_to_wait(parent, waits);
            ELSIF locked = 3
                  OR waits >= (CASE WHEN step IN ('unpack', 'undo_settle') THEN zbxhist_internal.most_tries(8) ELSE 8 END) THEN
                answer := CASE WHEN answer <> 'done' THEN answer WHEN locked > 0 THEN 'locked' ELSE 'wait' END;
                EXIT;
            END IF;
            PERFORM pg_sleep(0.25);
        END IF;
    END LOOP;
END
$$;

-- Returns the partitions or packed days for which a step of maintenance is due.  A null stands for the
-- table itself.
CREATE FUNCTION zbxhist_internal.targets_of(parent regclass, step text) RETURNS regclass[]
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    policy CONSTANT zbxhist.parent_config := (SELECT c FROM zbxhist.parent_config c WHERE c.parent = targets_of.parent);
    is_due boolean := true;
    result regclass[];
BEGIN
    CASE step
        WHEN 'owner' THEN
            is_due := EXISTS (SELECT FROM zbxhist_internal.foreign_children(parent));
        WHEN 'premake' THEN
            is_due := EXISTS (SELECT FROM zbxhist_internal.wanted_ranges(policy));
        WHEN 'split' THEN
            result := ARRAY(SELECT zbxhist_internal.partitions_to_split(parent));
        WHEN 'attach' THEN
            is_due := EXISTS (SELECT FROM zbxhist.packed_change)
                      OR EXISTS (SELECT FROM zbxhist.packed_day d
                                  WHERE d.parent = targets_of.parent
                                    AND NOT EXISTS (SELECT FROM pg_depend p
                                                     WHERE p.classid = 'pg_class'::regclass AND p.objid = d.day
                                                       AND p.refclassid = 'pg_class'::regclass
                                                       AND p.refobjid = zbxhist_internal.packed_table(targets_of.parent)))
                      OR zbxhist_internal.missing_options(parent, zbxhist_internal.packed_table(parent)) IS NOT NULL;
        WHEN 'trigger' THEN
            is_due := EXISTS (SELECT FROM zbxhist_internal.missing_route_triggers(parent));
        WHEN 'align' THEN
            result := ARRAY(SELECT zbxhist_internal.unaligned_partitions(parent));
        WHEN 'unpack' THEN
            result := ARRAY(
                SELECT d.day FROM zbxhist.packed_day d
                 WHERE d.parent = targets_of.parent
                   AND (d.partition IS NOT NULL
                        OR policy.routing IS NOT TRUE
                        -- only partitions can be detached
                        OR policy.retention_action = 'detach'
                           AND d.day IN (SELECT e.relation FROM zbxhist_internal.expired(targets_of.parent) e))
                 ORDER BY d.from_clock);
        -- if step_verify found no rows of partitions, and no mark was set since, do not search again: in a
        -- parent of terabytes that would read the index entries of all items in each run
        WHEN 'move' THEN
            result := ARRAY(SELECT w FROM zbxhist_internal.waiting_partitions(parent) w
                             WHERE NOT zbxhist_internal.is_verified(targets_of.parent));
        WHEN 'extend' THEN
            is_due := (zbxhist_internal.next_existing_range(policy)).from_clock IS NOT NULL;
        WHEN 'drop' THEN
            result := ARRAY(SELECT e.relation FROM zbxhist_internal.expired(parent) e
                             WHERE NOT e.is_packed OR policy.retention_action = 'drop');
        WHEN 'pack' THEN
            result := ARRAY(SELECT zbxhist_internal.packable_partitions(parent));
        WHEN 'index' THEN
            result := ARRAY(SELECT zbxhist_internal.unindexed_partitions(parent));
        WHEN 'merge' THEN
            result := ARRAY(SELECT w FROM zbxhist_internal.waiting_days(parent) w
                             WHERE zbxhist_internal.has_same_columns(targets_of.parent, w));
        WHEN 'truncate' THEN
            is_due := zbxhist_internal.own_pages(parent) > 0
                      AND NOT zbxhist_internal.has_own_rows(parent, zbxhist_internal.deletion_clock(parent));
        -- up to 1 GB, see step_expire
        WHEN 'expire' THEN
            is_due := zbxhist_internal.own_pages(parent) BETWEEN 1 AND 131072
                      AND zbxhist_internal.waiting_clock(parent, -2147483648, zbxhist_internal.deletion_clock(parent), false) IS NOT NULL;
        WHEN 'verify' THEN
            is_due := NOT zbxhist_internal.is_verified(parent)
                      OR EXISTS (SELECT FROM zbxhist.parent_state s WHERE s.parent = targets_of.parent AND s.verifying);
        WHEN 'compact' THEN
            result := ARRAY(SELECT zbxhist_internal.days_to_compact(parent));
        WHEN 'repack' THEN
            result := ARRAY(SELECT w.day FROM zbxhist_internal.wasteful_days(parent) w
                             WHERE zbxhist_internal.may_repack(parent));
        WHEN 'archive' THEN
            result := ARRAY(SELECT a.day FROM zbxhist_internal.archivable_days(parent) a WHERE policy.archive_server IS NOT NULL);
        WHEN 'archive_clean' THEN
            is_due := zbxhist_internal.has_archive(parent);
        WHEN 'archive_reach' THEN
            result := ARRAY(SELECT a FROM zbxhist_internal.archives_to_reach(parent) a
                             WHERE zbxhist_internal.has_archive(parent));
        WHEN 'inspect' THEN
            result := ARRAY(SELECT zbxhist_internal.days_to_verify(parent));
        WHEN 'analyze' THEN
            is_due := zbxhist_internal.wants_analyze(parent);
        WHEN 'undo_move', 'undo_drop' THEN
            result := ARRAY(SELECT zbxhist_internal.own_children(parent));
        ELSE NULL;
    END CASE;
    -- children with another owner are not maintained, see step_owner
    IF result <> '{}' AND step IN ('split', 'align', 'index', 'drop', 'pack', 'merge', 'repack', 'archive') THEN
        result := ARRAY(SELECT w.relation FROM unnest(result) WITH ORDINALITY w (relation, place)
                         WHERE w.relation NOT IN (SELECT zbxhist_internal.foreign_children(parent))
                         ORDER BY w.place);
    END IF;
    RETURN coalesce(result, CASE WHEN is_due THEN '{NULL}'::regclass[] ELSE '{}' END);
END
$$;

-- As targets_of, but logs an error and returns an empty list.  It waits for locks only a tenth of a second.
CREATE FUNCTION zbxhist_internal.work_list(parent regclass, step text) RETURNS regclass[]
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET lock_timeout = 100 AS $$
DECLARE
    problem text;
    state   text;
BEGIN
    RETURN zbxhist_internal.targets_of(parent, step);
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT, state = RETURNED_SQLSTATE;
    PERFORM zbxhist_internal.log_action(parent, step, NULL, sqlstate => state, message => problem);
    PERFORM zbxhist_internal.note_outcome(parent, step, NULL, 'failed', state, problem);
    RAISE WARNING 'zbxhist: % of % failed: %', step, parent, problem;
    RETURN '{}';
END
$$;

-- Runs a step of maintenance for the relations of a list, or all for which it is due; if there are none, the
-- answer stays as it is.
-- A step that takes ACCESS EXCLUSIVE skips relations that another transaction has locked; the next run
-- tries again.  It waits once for each such transaction, a tenth of a second, and not again for other
-- partitions that the transaction has locked.
CREATE PROCEDURE zbxhist_internal.do_step(parent regclass, step text, INOUT answer text, relations regclass[] DEFAULT NULL)
LANGUAGE plpgsql AS $$
DECLARE
    relation pg_catalog.regclass;
    packed   pg_catalog.regclass;
    present  pg_catalog.text[];
    known    pg_catalog.text[] := '{}';
    began    pg_catalog.timestamptz;
    tried    pg_catalog.int4 := 0;
    unsettled pg_catalog.int4 := 0;
BEGIN
    CALL zbxhist_internal.next_transaction();
    began := clock_timestamp();
    FOREACH relation IN ARRAY coalesce(relations, zbxhist_internal.work_list(parent, step)) LOOP
        IF step IN ('split', 'drop', 'pack', 'compact', 'repack', 'archive') THEN
            packed := CASE WHEN step = 'pack' OR EXISTS (SELECT FROM zbxhist.packed_day d WHERE d.day = relation)
                           THEN zbxhist_internal.packed_table(parent) END;
            present := zbxhist_internal.lock_holders(relation, packed);
            IF NOT present && known THEN
                present := zbxhist_internal.lasting_holders(ARRAY[relation, packed], 100);
            END IF;
            IF present <> '{}' THEN
                known := known || present;
                PERFORM zbxhist_internal.note_outcome(parent, step, relation::text, 'locked', '55P03',
                    format('table %s is in use by another transaction',
                           CASE zbxhist_internal.lock_holders(relation) WHEN '{}' THEN packed ELSE relation END));
                CONTINUE;
            END IF;
        END IF;
        CALL zbxhist_internal.repeat_step(parent, step, ARRAY[relation], false, answer);
        tried := tried + 1;
        unsettled := CASE WHEN answer = 'wait' THEN unsettled + 1 ELSE 0 END;
        EXIT WHEN CASE
            -- two days of hours: other tables wait, too.  If three had to wait for an old snapshot, such as
            -- pg_dump's, all later ones would
            WHEN step = 'pack' THEN tried = 48 OR unsettled = 3
            WHEN step IN ('compact', 'repack') THEN answer NOT IN ('done', 'failed', 'locked')
            -- if the server failed for one day, it would for the next
            WHEN step = 'archive' THEN answer <> 'done'
            -- an UPDATE or DELETE stops the moving of rows of all partitions
            WHEN step = 'undo_move' THEN answer = 'locked'
            -- the next runs verify the rest
            WHEN step = 'inspect' THEN clock_timestamp() > began + interval '1 minute' END;
    END LOOP;
END
$$;

-- Unpacks all days that are due: those whose unpacking by hand was interrupted, those to be detached and,
-- for an undo, all.
-- At most 48 at a time, two days of hours, are on disk twice.
CREATE PROCEDURE zbxhist_internal.unpack_due(parent regclass, INOUT answer text)
LANGUAGE plpgsql AS $$
DECLARE
    days pg_catalog.regclass[];
BEGIN
    CALL zbxhist_internal.next_transaction();
    days := zbxhist_internal.work_list(parent, 'unpack');
    FOR place IN 1 .. cardinality(days) BY 48 LOOP
        EXIT WHEN answer NOT IN ('idle', 'done', 'more', 'wait');
        CALL zbxhist_internal.repeat_step(parent, 'unpack', days[place:place + 47], false, answer);
    END LOOP;
END
$$;

-- Maintains one managed table.  In most runs no step is due.
CREATE PROCEDURE zbxhist_internal.maintain_parent(parent regclass, INOUT is_idle boolean)
LANGUAGE plpgsql AS $$
DECLARE
    steps  CONSTANT pg_catalog.text[] := '{owner,premake,split,attach,trigger,align,unpack,move,drop,pack,index,merge,truncate,expire,
        verify,compact,repack,archive,archive_clean,archive_reach,inspect,analyze}';
    step   pg_catalog.text;
    due    pg_catalog.regclass[];
    answer pg_catalog.text;
BEGIN
    CALL zbxhist_internal.next_transaction();
    IF NOT EXISTS (SELECT FROM zbxhist.parent_config c WHERE c.parent = maintain_parent.parent AND c.routing) THEN
        RETURN;
    END IF;
    CALL zbxhist_internal.repeat_step(parent, 'begin', ARRAY[NULL::regclass], false, answer);
    IF answer NOT IN ('done', 'unfit') THEN
        RETURN;
    END IF;
    is_idle := is_idle AND answer = 'done';
    FOREACH step IN ARRAY CASE answer WHEN 'done' THEN steps ELSE '{}' END LOOP
        answer := CASE step WHEN 'expire' THEN answer ELSE 'idle' END;
        due := zbxhist_internal.work_list(parent, step);
        CONTINUE WHEN step = 'expire' AND answer NOT IN ('idle', 'done', 'postponed')
                   OR due = '{}'
                      -- there are existing rows to move, or rows that could not be moved before
                      AND NOT (step = 'move'
                               AND (zbxhist_internal.work_list(parent, 'extend') <> '{}'
                                    OR EXISTS (SELECT FROM zbxhist.parent_state s
                                                WHERE s.parent = maintain_parent.parent AND s.duplicates > 0)))
                      -- notes that the hourly search was made, see waiting_days
                      AND NOT (step = 'merge' AND zbxhist_internal.own_pages(parent) > 131072);
        is_idle := false;
        CASE step
            WHEN 'unpack' THEN CALL zbxhist_internal.unpack_due(parent, answer);
            WHEN 'move' THEN CALL zbxhist_internal.move_waiting(parent, answer);
            ELSE CALL zbxhist_internal.do_step(parent, step, answer, due);
        END CASE;
        IF step = 'merge' THEN
            UPDATE zbxhist.parent_state s SET merged_at = clock_timestamp()
             WHERE s.parent = maintain_parent.parent
               AND coalesce(s.merged_at < clock_timestamp() - interval '1 hour', true)
               AND NOT EXISTS (SELECT FROM zbxhist.step_problem p
                                WHERE p.parent = s.parent AND p.step = 'merge' AND p.last_at >= s.begun_at);
        END IF;
    END LOOP;
    CALL zbxhist_internal.repeat_step(parent, 'end', ARRAY[NULL::regclass], false, answer);
END
$$;

-- Maintains one managed table, or all: creates partitions ahead, moves rows out of the parent, drops
-- expired partitions, packs, merges late rows, repacks; each step in its own transaction.  Schedule it
-- every 5 to 15 minutes.
CREATE PROCEDURE zbxhist.run_maintenance(parent regclass DEFAULT NULL)
LANGUAGE plpgsql AS $$
DECLARE
    target  pg_catalog.regclass;
    answer  pg_catalog.text;
    is_idle pg_catalog.bool := true;
BEGIN
    CALL zbxhist_internal.next_transaction();
    -- the primary does all this
    IF pg_is_in_recovery() THEN
        RETURN;
    END IF;
    IF EXISTS (SELECT FROM zbxhist.auditlog_config c WHERE c.parent = run_maintenance.parent) THEN
        CALL zbxhist_internal.repeat_step(parent, 'auditlog', ARRAY[NULL::regclass], false, answer);
    ELSIF parent IS NOT NULL THEN
        PERFORM zbxhist_internal.require_parent(parent);
        CALL zbxhist_internal.maintain_parent(parent, is_idle);
    ELSE
        PERFORM zbxhist_internal.forget_dropped();
        FOREACH target IN ARRAY ARRAY(SELECT zbxhist_internal.new_tables()) LOOP
            CALL zbxhist_internal.repeat_step(target, 'take_up', ARRAY[NULL::regclass], false, answer);
            is_idle := false;
        END LOOP;
        -- tables that were maintained last come last, so that an interrupted run does not always stop before
        -- the same tables
        FOREACH target IN ARRAY ARRAY(SELECT p.parent
                                        FROM unnest(zbxhist_internal.parent_list()) WITH ORDINALITY p (parent, place)
                                        LEFT JOIN zbxhist.parent_state s ON s.parent = p.parent
                                       ORDER BY s.begun_at NULLS FIRST, p.place) LOOP
            CALL zbxhist_internal.maintain_parent(target, is_idle);
        END LOOP;
        FOREACH target IN ARRAY ARRAY(SELECT DISTINCT a.parent FROM zbxhist.archive_copy a
                                       WHERE NOT EXISTS (SELECT FROM zbxhist.parent_config c WHERE c.parent = a.parent)) LOOP
            CALL zbxhist_internal.repeat_step(target, 'archive_clean', ARRAY[NULL::regclass], false, answer);
        END LOOP;
        FOREACH target IN ARRAY ARRAY(SELECT c.parent FROM zbxhist.auditlog_config c ORDER BY c.parent) LOOP
            CALL zbxhist_internal.repeat_step(target, 'auditlog', ARRAY[NULL::regclass], false, answer);
        END LOOP;
        CALL zbxhist_internal.next_transaction();
        PERFORM zbxhist_internal.summarize_check()
          WHERE NOT is_idle
             OR NOT EXISTS (SELECT FROM zbxhist.check_summary s WHERE s.checked_at BETWEEN now() - interval '1 hour' AND now());
    END IF;
    -- ends the transaction's search_path: the caller's next statement has the session's
    COMMIT;
END
$$;
