-- sql/check/check_maintenance.sql

CREATE FUNCTION zbxhist_internal.check_maintenance(parent regclass)
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    remedy CONSTANT text := format('CALL zbxhist.run_maintenance(%L);', parent);
    policy zbxhist.parent_config;
    shown  record;
BEGIN
    SELECT * INTO policy FROM zbxhist.parent_config c WHERE c.parent = check_maintenance.parent;
    SELECT * INTO shown FROM zbxhist.status s WHERE s.parent = check_maintenance.parent;
    IF NOT policy.routing THEN
        RETURN;
    END IF;
    IF NOT EXISTS (SELECT FROM zbxhist.list_partitions(parent) p
                    WHERE zbxhist_internal.current_clock() >= p.from_clock
                      AND zbxhist_internal.current_clock() < p.to_clock) THEN
        RETURN QUERY SELECT 'error', 'no_current_partition', parent::text,
            'there is no partition for the present: new rows stay in the table itself', remedy;
    ELSIF policy.premake > 0 AND shown.partitions_ahead = 0 THEN
        RETURN QUERY SELECT 'warning', 'no_partition_ahead', parent::text,
            format('there is no partition for the time from %s on', zbxhist_internal.format_time(shown.covered_until)), remedy;
    END IF;
    IF coalesce(shown.last_run, policy.created_at) < now() - interval '1 day' THEN
        RETURN QUERY SELECT 'warning', 'maintenance_late', parent::text,
            CASE WHEN shown.last_run IS NULL THEN 'maintenance has never been run'
                 ELSE format('maintenance was last run at %s', zbxhist_internal.format_time(shown.last_run)) END,
            remedy || ' and have it called regularly: by cron, pg_cron, or the background worker.';
    END IF;
    IF shown.last_error_at > coalesce(shown.last_success, '-infinity') THEN
        RETURN QUERY SELECT 'error', 'last_error', parent::text,
            format('maintenance failed at %s: %s', zbxhist_internal.format_time(shown.last_error_at), shown.last_error),
            'Mend the cause, then ' || remedy;
    END IF;
    IF has_table_privilege('zbxhist.maintenance_log', 'SELECT') THEN
        RETURN QUERY
            SELECT DISTINCT 'warning', 'waits_for_lock', coalesce(l.relation, l.parent::text),
                   format('could not be locked for %s', l.action),
                   'A long transaction holds it: see pg_stat_activity and pg_locks.  The next maintenance tries again.'
              FROM zbxhist.maintenance_log l
             WHERE l.parent = check_maintenance.parent AND l.sqlstate = '55P03'
               AND l.action IN ('drop', 'truncate', 'premake')
               AND l.started_at > shown.last_run - interval '1 day'
               AND (l.action = 'drop' AND to_regclass(l.relation) IS NOT NULL
                    OR l.action = 'truncate' AND zbxhist_internal.own_pages(l.parent) > 0
                       AND NOT EXISTS (SELECT FROM zbxhist.maintenance_log n
                                        WHERE n.parent = l.parent AND n.action = 'truncate'
                                          AND n.sqlstate IS NULL AND n.id > l.id));
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.check_maintenance(regclass) IS
'The part of check that is about what maintenance has done (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.check_maintenance(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.check_maintenance(regclass) TO PUBLIC;
