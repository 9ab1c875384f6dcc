-- sql/maintenance/step_end.sql

CREATE FUNCTION zbxhist_internal.step_end(parent regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    present CONSTANT timestamptz := clock_timestamp();
BEGIN
    -- what this run had no reason to try any more
    DELETE FROM zbxhist.step_problem p USING zbxhist.parent_state s
     WHERE p.parent = step_end.parent AND s.parent = p.parent AND p.last_at < s.last_run;
    UPDATE zbxhist.parent_state s
       SET last_run = present,
           last_success = CASE WHEN s.failed THEN s.last_success ELSE present END,
           extended_to = NULL, action = NULL, relation = NULL, action_pid = NULL, action_started = NULL
     WHERE s.parent = step_end.parent;
    DELETE FROM zbxhist.maintenance_log l
     WHERE l.started_at < present - interval '30 days';
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist_internal.step_end(regclass) IS
'Maintenance: ends a run for one parent and forgets old log entries (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.step_end(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.step_end(regclass) TO pg_database_owner;
