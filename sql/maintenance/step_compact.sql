-- sql/maintenance/step_compact.sql
--
-- What is in the way goes by itself, so it is no error; what could not be made
-- one after all is tried again in an hour.  A day that never can be, since it is
-- damaged or something depends on it, is left out from then on.

CREATE FUNCTION zbxhist_internal.step_compact(parent regclass, day regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    has_begun CONSTANT boolean := EXISTS (
        SELECT FROM zbxhist.parent_state s
         WHERE s.parent = step_compact.parent AND s.action = 'compact'
           AND s.relation = day::text AND s.action_pid = pg_backend_pid());
    days    regclass[];
    answer  text;
    problem text;
    state   text;
    culprit text;
BEGIN
    PERFORM zbxhist_internal.require_parent(parent);
    -- another run may have compacted it
    SELECT c.days INTO days FROM zbxhist_internal.compactable_days(parent) c WHERE c.days[1] = step_compact.day;
    IF NOT FOUND THEN
        RETURN 'done';
    END IF;
    BEGIN
        answer := zbxhist_internal.rewrite_days(parent, 'compact', days);
        IF answer <> 'wait' THEN
            RETURN answer;
        END IF;
        problem := 'some transactions do not see its newest rows yet';
    EXCEPTION
        WHEN lock_not_available OR deadlock_detected OR serialization_failure THEN
            GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT;
            UPDATE zbxhist.packed_day d SET repacked_at = clock_timestamp()
             WHERE d.day = ANY (days) AND has_begun;
        WHEN data_corrupted OR index_corrupted OR dependent_objects_still_exist OR datatype_mismatch THEN
            GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT, state = RETURNED_SQLSTATE;
            culprit := zbxhist_internal.note_culprit(days, state, problem)::text;
            PERFORM zbxhist_internal.log_action(parent, 'compact', culprit, NULL, NULL, started, NULL,
                                                state, problem);
            PERFORM zbxhist_internal.note_outcome(parent, 'compact', culprit, 'failed', state, problem);
    END;
    PERFORM zbxhist_internal.set_action(parent, NULL, NULL);
    IF state IS NOT NULL THEN
        RETURN 'failed';
    END IF;
    PERFORM zbxhist_internal.log_action(parent, 'compact', day::text, NULL, NULL, started, NULL,
                                        NULL, 'postponed: ' || problem);
    RETURN 'postponed';
END
$$;

COMMENT ON FUNCTION zbxhist_internal.step_compact(regclass, regclass) IS
'Maintenance: makes the packed parts of a day one; postponed, if something is in the way (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.step_compact(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.step_compact(regclass, regclass) TO pg_database_owner;
