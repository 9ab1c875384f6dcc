-- sql/maintenance/repeat_step.sql
--
-- Between two batches it sleeps as long as the batch took, so that maintenance
-- takes at most half of a disk.  A lock not got, or a transaction that has to
-- end first, is waited for a little; the next run tries again.
--
-- Whatever is wrong with a table, a run comes to an end: steps that go through
-- rows prove that each batch has got on, and the others know how often they
-- may ask to be called again.

CREATE PROCEDURE zbxhist_internal.repeat_step(
    parent regclass,
    step text,
    relation regclass,
    INOUT answer text)
LANGUAGE plpgsql
AS $$
DECLARE
    tries integer := 0;
    calls integer := 0;
    began pg_catalog.timestamptz;
    told  pg_catalog.timestamptz := pg_catalog.clock_timestamp();
    pause double precision;
BEGIN
    LOOP
        CALL zbxhist_internal.next_transaction();
        began := clock_timestamp();
        answer := zbxhist_internal.run_step(parent, step, relation);
        CALL zbxhist_internal.next_transaction();
        PERFORM zbxhist_internal.tell_progress(parent, step, relation, told);
        told := clock_timestamp();
        EXIT WHEN answer NOT IN ('more', 'locked', 'wait');
        IF answer = 'more' THEN
            tries := 0;
            calls := calls + 1;
            IF calls > zbxhist_internal.most_calls(parent, step) THEN
                answer := zbxhist_internal.give_up(parent, step, relation::text, calls);
                EXIT;
            END IF;
            pause := least(2, extract(epoch FROM clock_timestamp() - began));
        ELSE
            tries := tries + 1;
            EXIT WHEN tries >= CASE WHEN answer = 'locked' THEN 3
                                    WHEN step = 'undo_settle' THEN zbxhist_internal.most_tries(8)
                                    ELSE 8 END;
            pause := 0.25;
        END IF;
        PERFORM pg_sleep(pause);
    END LOOP;
END
$$;

COMMENT ON PROCEDURE zbxhist_internal.repeat_step(regclass, text, regclass, text) IS
'Runs a step of maintenance until it is done, in a transaction each time (internal)';

REVOKE ALL ON PROCEDURE zbxhist_internal.repeat_step(regclass, text, regclass, text) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist_internal.repeat_step(regclass, text, regclass, text) TO pg_database_owner;
