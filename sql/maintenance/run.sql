-- sql/maintenance/run.sql

-- Runs a statement with the rights of a table's owner, for somebody who has them; returns the first
-- column of the first row, or the number of rows.
-- What a statement on a table may run is its owner's code: triggers, rules,
-- policies, expressions of indexes and constraints.  The user who maintains it,
-- a superuser maybe, runs that as the owner, in a security-restricted operation.
CREATE FUNCTION zbxhist_internal.execute_as_owner(
    relation regclass, statement text, VARIADIC arguments text[] DEFAULT '{}') RETURNS text
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_execute_as_owner';

-- Has neither the statement under way nor its present transaction end by a timeout, but wait so many
-- milliseconds for each answer of an archive server.
CREATE FUNCTION zbxhist_internal.set_timeouts(answer_limit integer DEFAULT 60000) RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_set_timeouts';

-- Commits, and begins a transaction with a safe search_path and without a timeout.
-- A procedure that commits cannot have a SET clause, so each transaction sets
-- its search_path itself, and how long it may take.  The types of its variables are looked up before that,
-- in the caller's.
--
-- No COMMIT waits for a synchronous standby, which would have readers wait for the locks of a swap as
-- long as it is away.  A standby that has not got the last steps has the same values in the form that
-- they had before, and what is past retention for another run; what others may still need on an
-- archive server stays there for a day.
CREATE PROCEDURE zbxhist_internal.next_transaction()
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM zbxhist_internal.require_own_transactions();
    -- an archive server commits, too
    PERFORM zbxhist_internal.set_timeouts();
    COMMIT;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    PERFORM zbxhist_internal.set_timeouts();
    IF pg_catalog.current_setting('synchronous_commit') OPERATOR(pg_catalog.<>) 'off' THEN
        PERFORM pg_catalog.set_config('synchronous_commit', 'local', true);
    END IF;
END
$$;

-- Logs the failure of a step of maintenance that began at some time; returns what the step answers.
-- That an archive server is away when a run looks whether it is there is no failure: it is noted for
-- check() and metrics(), and nothing else.
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
                                          -- others' details hold values
                                          problem || CASE state WHEN '2BP01' THEN format(' (%s)', replace(detail, E'\n', '; '))
                                                     ELSE '' END);
    RETURN answer;
END
$$;

-- Runs one step of maintenance, logs its failure, and says whether to go on.
-- One step of maintenance on one parent, in the transaction of the caller,
-- which commits after it.  Whatever goes wrong is undone, logged and answered
-- with a word, but for a cancel, which ends the run, and a connection to an archive server that was
-- lost: postgres_fdw commits no transaction in which that has happened.
--
-- Answers: done, more (call again), wait (call again later), busy (another run
-- is at this parent), locked (no lock in time), later (in the next run),
-- postponed (to a later run, for a reason), unfit (nothing can be done for the
-- table as it is now), failed.
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
    -- an undo waits for the step that is under way
    IF starts_with(step, 'undo_')
       OR step = 'unpack' AND EXISTS (SELECT FROM zbxhist.parent_state s
                                       WHERE s.parent = run_step.parent AND s.undo_pid = pg_backend_pid()) THEN
        PERFORM pg_advisory_xact_lock(zbxhist_internal.lock_class(), parent::oid::integer);
    ELSIF NOT pg_try_advisory_xact_lock(zbxhist_internal.lock_class(), parent::oid::integer) THEN
        RETURN 'busy';
    END IF;
    -- an undo may have begun since this run did: from then on only its session does something
    IF step !~ '^(undo_.*|archive_clean|archive_reach)$'
       AND EXISTS (SELECT FROM zbxhist.parent_config c
                     LEFT JOIN zbxhist.parent_state s ON s.parent = c.parent
                    WHERE c.parent = run_step.parent AND NOT c.routing
                      AND (step <> 'unpack' OR s.undo_pid IS DISTINCT FROM pg_backend_pid())) THEN
        RETURN 'done';
    END IF;
    -- rows are moved past triggers: who copies one of the tables would not learn of it
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
        -- the others have no managed table to act on, or may find that it is none any more
        IF step !~ '^(take_up|auditlog|archive_clean|archive_reach|end|undo_.*)$' THEN
            PERFORM zbxhist_internal.require_parent(parent);
        END IF;
        EXECUTE format('SELECT zbxhist_internal.%s', CASE
            WHEN step IN ('move', 'undo_move') THEN 'step_move($1, $2, $3)'
            WHEN step IN ('repack', 'compact') THEN 'step_rewrite($1, $2, $3)'
            ELSE quote_ident('step_' || step) || CASE WHEN relation IS NULL THEN '($1)' ELSE '($1, $2)' END END) INTO answer USING parent, relation, step;
        -- who answers that it failed has noted why
        IF answer <> 'failed' THEN
            PERFORM zbxhist_internal.note_outcome(parent, step, label, answer, NULL, answer);
        END IF;
        RETURN answer;
    EXCEPTION WHEN OTHERS OR query_canceled THEN
        GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT, state = RETURNED_SQLSTATE, detail = PG_EXCEPTION_DETAIL,
            context = PG_EXCEPTION_CONTEXT;
        -- what an archive server cancels is no cancel here
        IF state = '57014' AND context !~ 'zbxhist_archive\.' OR state ~ '^(08|57P|25P0[34])' THEN
            RAISE;
        END IF;
    END;
    RETURN zbxhist_internal.note_failure(parent, step, label, state, problem, detail, started);
END
$$;

-- Runs a step of maintenance, or one by hand, until it is done for all of some relations, in a
-- transaction each time; a null stands for the table itself.
-- Between two batches it sleeps as long as the batch took, so that maintenance
-- takes at most half of a disk.  A lock not got, or a transaction that has to
-- end first, is waited for a little; the next run tries again.  Relations that take
-- the same step one after the other wait together, else to unpack a thousand hours would
-- be to wait two thousand times.  By hand a problem is an error, and nobody sleeps between
-- two steps for the sake of others.
--
-- Whatever is wrong with a table, a run comes to an end: steps that go through rows prove that
-- each batch has got on, the others are repeated only so often.
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
                BEGIN
                    result := zbxhist_internal.run_step(parent, step, relation);
                -- all that run_step raises again, but for a cancel
                EXCEPTION WHEN connection_exception OR admin_shutdown OR crash_shutdown OR cannot_connect_now
                               OR database_dropped OR idle_session_timeout
                               OR idle_in_transaction_session_timeout OR SQLSTATE '25P04' THEN
                    GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT, state = RETURNED_SQLSTATE;
                    result := 'lost';
                END;
                IF result = 'lost' THEN
                    ROLLBACK;
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
            -- these raise an error when a batch of rows has not got on
            IF rounds > 5000 AND step NOT IN ('move', 'merge', 'expire', 'undo_move', 'auditlog', 'archive', 'archive_clean') THEN
                RAISE WARNING 'zbxhist: % of % does not come to an end', step, coalesce(relations[1], parent);
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

-- The partitions or packed days on which a step of maintenance has something to do.  A null stands
-- for the table itself.
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
                        -- it is detached as a partition
                        OR policy.retention_action = 'detach'
                           AND d.day IN (SELECT e.relation FROM zbxhist_internal.expired(targets_of.parent) e))
                 ORDER BY d.from_clock);
        -- what step_verify has found out, and nobody has marked since, need not be looked for
        -- again: in a parent of terabytes that would be a walk over all its items, each
        -- quarter of an hour
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
        -- one of more than 1 GB is not cleaned row by row: its rows wait until all of them are
        -- past retention, and then one TRUNCATE takes them
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
    -- who may not give them to the owner of the table, see step_owner, may do nothing else
    IF result <> '{}' AND step IN ('split', 'align', 'index', 'drop', 'pack', 'merge', 'repack', 'archive') THEN
        result := ARRAY(SELECT w.relation FROM unnest(result) WITH ORDINALITY w (relation, place)
                         WHERE w.relation NOT IN (SELECT zbxhist_internal.foreign_children(parent))
                         ORDER BY w.place);
    END IF;
    RETURN coalesce(result, CASE WHEN is_due THEN '{NULL}'::regclass[] ELSE '{}' END);
END
$$;

-- The partitions or packed days on which a step of maintenance has something to do; none, and a log
-- entry, if that cannot be found out.  A table that somebody has locked is hardly waited for.
CREATE FUNCTION zbxhist_internal.work_list(parent regclass, step text) RETURNS regclass[]
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET lock_timeout = 0 AS $$
DECLARE
    result  regclass[];
    problem text;
    state   text;
BEGIN
    PERFORM set_config('lock_timeout', least(zbxhist_internal.short_lock_timeout(), 100)::text, true);
    result := zbxhist_internal.targets_of(parent, step);
    IF result IS DISTINCT FROM '{NULL}' THEN
        PERFORM zbxhist_internal.note_outcome(parent, step, NULL, 'done');
    END IF;
    RETURN result;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT, state = RETURNED_SQLSTATE;
    PERFORM zbxhist_internal.log_action(parent, step, NULL, sqlstate => state, message => problem);
    PERFORM zbxhist_internal.note_outcome(parent, step, NULL, 'failed', state, problem);
    RAISE WARNING 'zbxhist: % of % failed: %', step, parent, problem;
    RETURN '{}';
END
$$;

-- Runs a step of maintenance for all on which it has something to do, or the table as a whole.  The
-- answer stays what it is if there is nothing.
-- A step that would keep readers out passes over what somebody has open: the next run tries again.
-- Each transaction is waited for once, for a moment, and for none of the other partitions that it
-- has open.
CREATE PROCEDURE zbxhist_internal.do_step(parent regclass, step text, INOUT answer text)
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
    FOREACH relation IN ARRAY zbxhist_internal.work_list(parent, step) LOOP
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
            -- two days of hours: where there is more to pack, there are other tables, too; a snapshot
            -- that is too old for three, say a dump's, is so for all that come after
            WHEN step = 'pack' THEN tried = 48 OR unsettled = 3
            WHEN step IN ('compact', 'repack') THEN answer NOT IN ('done', 'failed', 'locked')
            -- a server that cannot be had for one cannot be for the next
            WHEN step = 'archive' THEN answer <> 'done'
            -- an UPDATE or DELETE keeps rows of all partitions from being moved
            WHEN step = 'undo_move' THEN answer = 'locked'
            -- the rest is for the next runs
            WHEN step = 'inspect' THEN clock_timestamp() > began + interval '1 minute' END;
    END LOOP;
END
$$;

-- Unpacks all that maintenance, or an undo, wants unpacked.
-- What was begun by hand and broken off, or was packed with other columns.  No more
-- than 48, two days of hours, are in both forms at once.
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

-- Maintenance of one managed table.  Most runs find that no step has anything to do.
CREATE PROCEDURE zbxhist_internal.maintain_parent(parent regclass, INOUT is_idle boolean)
LANGUAGE plpgsql AS $$
DECLARE
    steps  CONSTANT pg_catalog.text[] := '{owner,premake,split,attach,trigger,align,unpack,move,drop,pack,index,merge,truncate,expire,
        verify,compact,repack,archive,archive_clean,archive_reach,inspect,analyze}';
    step   pg_catalog.text;
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
        CONTINUE WHEN step = 'expire' AND answer NOT IN ('idle', 'done', 'postponed')
                   OR zbxhist_internal.work_list(parent, step) = '{}'
                      -- existing rows, or what could not be moved when that was last tried
                      AND NOT (step = 'move'
                               AND (zbxhist_internal.work_list(parent, 'extend') <> '{}'
                                    OR EXISTS (SELECT FROM zbxhist.parent_state s
                                                WHERE s.parent = maintain_parent.parent AND s.duplicates > 0)))
                      -- one look in an hour, see waiting_days
                      AND NOT (step = 'merge' AND zbxhist_internal.own_pages(parent) > 131072);
        is_idle := false;
        CASE step
            WHEN 'unpack' THEN CALL zbxhist_internal.unpack_due(parent, answer);
            WHEN 'move' THEN CALL zbxhist_internal.move_waiting(parent, answer);
            ELSE CALL zbxhist_internal.do_step(parent, step, answer);
        END CASE;
        IF step = 'merge' THEN
            UPDATE zbxhist.parent_state s SET merged_at = clock_timestamp()
             WHERE s.parent = maintain_parent.parent
               AND coalesce(s.merged_at < clock_timestamp() - interval '1 hour', true)
               AND NOT EXISTS (SELECT FROM zbxhist.step_problem p WHERE p.parent = s.parent AND p.step = 'merge');
        END IF;
    END LOOP;
    CALL zbxhist_internal.repeat_step(parent, 'end', ARRAY[NULL::regclass], false, answer);
END
$$;

-- Does all maintenance that is due, of one managed table or all: creates partitions ahead, moves
-- rows out of the parent, drops, packs, merges late rows, repacks; each step in a transaction of
-- its own.  Call it every 5 to 15 minutes.
CREATE PROCEDURE zbxhist.run_maintenance(parent regclass DEFAULT NULL)
LANGUAGE plpgsql AS $$
DECLARE
    target  pg_catalog.regclass;
    answer  pg_catalog.text;
    is_idle pg_catalog.bool := true;
BEGIN
    CALL zbxhist_internal.next_transaction();
    -- a standby gets all this from its primary
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
        -- that of which a run was broken off comes last
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
             OR NOT EXISTS (SELECT FROM zbxhist.check_summary s WHERE s.checked_at > clock_timestamp() - interval '1 hour');
    END IF;
    -- the session's own search_path again, for the caller's next statement
    COMMIT;
END
$$;
