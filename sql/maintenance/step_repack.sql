-- sql/maintenance/step_repack.sql
--
-- What is in the way goes by itself, so it is no error.  A day that could not
-- be repacked after all is not tried again for some hours; one that never can
-- be, which is noted here, not before it has grown.

CREATE FUNCTION zbxhist_internal.step_repack(parent regclass, day regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    has_begun CONSTANT boolean := EXISTS (
        SELECT FROM zbxhist.parent_state s
         WHERE s.parent = step_repack.parent AND s.action = 'repack'
           AND s.relation = day::text AND s.action_pid = pg_backend_pid());
    bytes   bigint;
    answer  text;
    problem text;
    state   text;
BEGIN
    PERFORM zbxhist_internal.require_parent(parent);
    -- another run may have repacked it
    SELECT w.bytes INTO bytes FROM zbxhist_internal.wasteful_days(parent) w WHERE w.day = step_repack.day;
    IF NOT FOUND THEN
        RETURN 'done';
    END IF;
    IF NOT has_begun AND NOT zbxhist_internal.may_repack(parent) THEN
        RETURN 'later';
    END IF;
    BEGIN
        answer := zbxhist_internal.repack_day(parent, day);
        IF answer = 'more' THEN
            UPDATE zbxhist.parent_state s
               SET repack_after = greatest(s.repack_after, clock_timestamp() - interval '1 hour')
                                + bytes / zbxhist_internal.repack_limit()::float8 * interval '1 hour'
             WHERE s.parent = step_repack.parent;
        END IF;
        IF answer <> 'wait' THEN
            RETURN answer;
        END IF;
        problem := 'some transactions do not see its newest rows yet';
        answer := 'postponed';
    EXCEPTION
        WHEN lock_not_available OR deadlock_detected OR serialization_failure THEN
            GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT;
            UPDATE zbxhist.packed_day d SET repacked_at = clock_timestamp()
             WHERE d.day = step_repack.day AND has_begun;
            answer := 'postponed';
        WHEN data_corrupted OR index_corrupted OR dependent_objects_still_exist OR datatype_mismatch THEN
            GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT, state = RETURNED_SQLSTATE;
            UPDATE zbxhist.packed_day d SET packed_bytes = bytes, packed_rows = d.nrows
             WHERE d.day = step_repack.day;
            PERFORM zbxhist_internal.log_action(parent, 'repack', day::text, NULL, NULL, started, NULL,
                                                state, problem);
            PERFORM zbxhist_internal.note_outcome(parent, 'repack', day::text, 'failed', state, problem);
            answer := 'failed';
    END;
    IF answer = 'postponed' THEN
        PERFORM zbxhist_internal.log_action(parent, 'repack', day::text, NULL, NULL, started, NULL,
                                            NULL, 'postponed: ' || problem);
    END IF;
    PERFORM zbxhist_internal.set_action(parent, NULL, NULL);
    RETURN answer;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.step_repack(regclass, regclass) IS
'Maintenance: repacks a packed day that wastes space; later, if the limit does not allow it yet; postponed, if something is in the way (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.step_repack(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.step_repack(regclass, regclass) TO pg_database_owner;
