-- sql/maintenance/unpack_together.sql
--
-- Each day waits twice for transactions that have to end first.  Days that take
-- the same step one after the other wait for them together, else a table of a
-- thousand hours would wait two thousand times.  By hand a problem is an error,
-- and nobody sleeps between two steps for the sake of others.

CREATE PROCEDURE zbxhist_internal.unpack_together(
    parent regclass,
    days regclass[],
    by_hand boolean,
    INOUT answer text)
LANGUAGE plpgsql
AS $$
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

COMMENT ON PROCEDURE zbxhist_internal.unpack_together(regclass, regclass[], boolean, text) IS
'Unpacks packed days, each step in a transaction of its own, that wait together for older transactions (internal)';

REVOKE ALL ON PROCEDURE zbxhist_internal.unpack_together(regclass, regclass[], boolean, text) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist_internal.unpack_together(regclass, regclass[], boolean, text) TO pg_database_owner;
