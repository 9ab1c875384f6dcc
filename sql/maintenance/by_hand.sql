-- sql/maintenance/by_hand.sql

-- Waits for maintenance of a managed table of the caller's to come to the end of its
-- step, and keeps it from the next.
CREATE FUNCTION zbxhist_internal.lock_for_hand(parent regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- a run of maintenance goes from step to step and is soon at its next
    PERFORM set_config('lock_timeout', zbxhist_internal.patient_lock_timeout()::text, true);
    BEGIN
        PERFORM pg_advisory_xact_lock(zbxhist_internal.lock_class(), parent::oid::integer);
    EXCEPTION WHEN lock_not_available THEN
        PERFORM zbxhist_internal.refuse('55P03', format('maintenance is at work on table %s', parent),
            detail => 'Repeat the call when that is done.',
            hint => 'SELECT * FROM zbxhist.progress;');
    END;
    PERFORM zbxhist_internal.require_parent(parent);
    PERFORM set_config('lock_timeout', zbxhist_internal.short_lock_timeout()::text, true);
END
$$;

-- Runs a step of packing or unpacking for somebody who is told what goes wrong.
CREATE FUNCTION zbxhist_internal.run_by_hand(parent regclass, step text, relation regclass) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET lock_timeout = 0 AS $$
BEGIN
    PERFORM zbxhist_internal.lock_for_hand(parent);
    RETURN CASE step
        WHEN 'pack' THEN zbxhist_internal.pack_partition(parent, relation)
        WHEN 'repack' THEN zbxhist_internal.rewrite_days(parent, 'repack', ARRAY[relation])
        WHEN 'compact' THEN coalesce((SELECT zbxhist_internal.rewrite_days(parent, 'compact', c.days)
                                         FROM zbxhist_internal.compactable_days(parent, true) c
                                        WHERE c.days[1] = relation), 'done')
        WHEN 'archive' THEN zbxhist_internal.archive_day(parent, relation)
        WHEN 'unarchive' THEN zbxhist_internal.unarchive_day(parent, relation)
        WHEN 'unpack' THEN zbxhist_internal.step_unpack(parent, relation)
        WHEN 'salvage' THEN zbxhist_internal.step_unpack(parent, relation, true)
    END;
END
$$;

-- Runs a step of packing or unpacking until it is done, each time in a transaction of
-- its own.
CREATE PROCEDURE zbxhist_internal.repeat_by_hand(parent regclass, step text, relation regclass)
LANGUAGE plpgsql AS $$
DECLARE
    answer pg_catalog.text;
    tries  integer := 0;
BEGIN
    LOOP
        CALL zbxhist_internal.next_transaction();
        answer := zbxhist_internal.run_by_hand(parent, step, relation);
        CALL zbxhist_internal.next_transaction();
        EXIT WHEN answer = 'done';
        IF answer = 'wait' THEN
            tries := tries + 1;
            PERFORM zbxhist_internal.refuse_to_wait(parent, tries);
            PERFORM pg_sleep(0.25);
        END IF;
    END LOOP;
    -- the session's own search_path again, for the caller's next statement
    COMMIT;
END
$$;

-- Runs a step of packing or unpacking for one relation after the other, each until it
-- is done.
CREATE PROCEDURE zbxhist_internal.repeat_each_by_hand(parent regclass, step text, relations regclass[])
LANGUAGE plpgsql AS $$
DECLARE
    relation pg_catalog.regclass;
BEGIN
    CALL zbxhist_internal.next_transaction();
    FOREACH relation IN ARRAY relations LOOP
        CALL zbxhist_internal.repeat_by_hand(parent, step, relation);
    END LOOP;
    -- the session's own search_path again, for the caller's next statement
    COMMIT;
END
$$;

-- Unpacks packed days, each step in a transaction of its own, that wait together for
-- older transactions.
-- Each day waits twice for transactions that have to end first.  Days that take
-- the same step one after the other wait for them together, else a table of a
-- thousand hours would wait two thousand times.  By hand a problem is an error,
-- and nobody sleeps between two steps for the sake of others.
CREATE PROCEDURE zbxhist_internal.unpack_together(parent regclass, days regclass[], by_hand boolean, INOUT answer text)
LANGUAGE plpgsql AS $$
DECLARE
    day       pg_catalog.regclass;
    result    pg_catalog.text;
    began     pg_catalog.timestamptz;
    told      pg_catalog.timestamptz := pg_catalog.clock_timestamp();
    remaining pg_catalog.regclass[];
    results   pg_catalog.text[];
    rounds    pg_catalog.int4 := 0;
    waits     pg_catalog.int4 := 0;
    locked    pg_catalog.int4 := 0;
BEGIN
    CALL zbxhist_internal.next_transaction();
    answer := 'done';
    WHILE cardinality(days) > 0 LOOP
        remaining := '{}';
        results := '{}';
        FOREACH day IN ARRAY days LOOP
            CALL zbxhist_internal.next_transaction();
            began := clock_timestamp();
            result := CASE WHEN by_hand THEN zbxhist_internal.run_by_hand(parent, 'unpack', day)
                           ELSE zbxhist_internal.run_step(parent, 'unpack', day) END;
            CALL zbxhist_internal.next_transaction();
            PERFORM zbxhist_internal.tell_progress(parent, 'unpack', day, told);
            told := clock_timestamp();
            IF result IN ('more', 'wait', 'locked') THEN
                remaining := remaining || day;
                results := results || result;
            ELSIF result <> 'done' THEN
                answer := result;
            END IF;
            IF result = 'more' AND NOT by_hand THEN
                PERFORM pg_sleep(least(2, extract(epoch FROM clock_timestamp() - began)));
            END IF;
        END LOOP;
        days := remaining;
        EXIT WHEN days = '{}';
        IF 'more' = ANY (results) THEN
            rounds := rounds + 1;
            waits := 0;
            IF rounds > zbxhist_internal.most_calls(parent, 'unpack') THEN
                answer := zbxhist_internal.give_up(parent, 'unpack', days[1]::text, rounds);
                EXIT;
            END IF;
        ELSE
            waits := waits + 1;
            locked := locked + ('locked' = ANY (results))::integer;
            IF by_hand THEN
                PERFORM zbxhist_internal.refuse_to_wait(parent, waits);
            ELSIF locked = 3 OR waits >= zbxhist_internal.most_tries(8) THEN
                answer := CASE WHEN answer <> 'done' THEN answer WHEN locked > 0 THEN 'locked' ELSE 'wait' END;
                EXIT;
            END IF;
            PERFORM pg_sleep(0.25);
        END IF;
    END LOOP;
END
$$;
