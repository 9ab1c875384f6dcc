-- sql/check/check_runs.sql

CREATE FUNCTION zbxhist_internal.check_runs(parent regclass)
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    present CONSTANT bigint := zbxhist_internal.current_clock();
    problem text;
    hour    regclass;
    waiting bigint;
BEGIN
    IF EXISTS (SELECT FROM zbxhist.parent_config c WHERE c.parent = check_runs.parent AND c.ingest = 'runs') THEN
        problem := zbxhist_internal.why_no_runs(parent);
        RETURN QUERY
            SELECT 'warning', 'no_runs', parent::text,
                   format('its new values are stored in ordinary partitions, for they cannot be stored as runs: %s.  If that is to stay, the command says so in its policy, too', problem),
                   format('SELECT zbxhist.alter_parent(%L, ingest => ''heap'');', parent)
             WHERE problem IS NOT NULL;
    END IF;
    RETURN QUERY
        SELECT 'warning', 'runs_altered', d.day::text,
               format('values of its time are stored in %s itself, and UPDATE and DELETE of those that it has fail, for it is not as zbxhist has made it: %s',
                      check_runs.parent, a.problem),
               a.remedy
          FROM zbxhist.packed_day d
         CROSS JOIN LATERAL (SELECT * FROM zbxhist_internal.altered_runs(d.day) r LIMIT 1) a
         WHERE d.parent = check_runs.parent AND d.runs;
    FOR hour IN
        SELECT d.day
          FROM zbxhist.packed_day d
          JOIN pg_class k ON k.oid = d.day
         WHERE d.parent = check_runs.parent AND d.runs AND has_table_privilege(k.oid, 'SELECT')
           AND zbxhist_internal.own_pages(d.day) > 0
         ORDER BY d.from_clock
    LOOP
        EXECUTE format('SELECT count(*) FROM ONLY %s WHERE batch IS NULL AND last_clock < %s', hour, present - 600)
           INTO waiting;
        RETURN QUERY
            SELECT 'warning', 'runs_not_merged', hour::text,
                   format('%s runs have not been merged for ten minutes, which makes queries slow: a transaction has the table locked, or there is no worker process left for it (max_worker_processes is %s)',
                          waiting, current_setting('max_worker_processes')),
                   'CALL zbxhist.run_maintenance();'
             WHERE waiting > 200;
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.check_runs(regclass) IS
'The part of check that is about hours whose values are stored as runs (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.check_runs(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.check_runs(regclass) TO PUBLIC;
