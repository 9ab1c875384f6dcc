-- sql/operate/metrics.sql
--
-- Names are a contract: templates and dashboards have them.  Times are seconds
-- since 1970, durations seconds, sizes bytes; what is not known is null.

CREATE FUNCTION zbxhist.metrics()
RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT jsonb_build_object(
               'version', zbxhist.version(),
               'time', zbxhist_internal.current_clock(),
               'server_started', floor(extract(epoch FROM pg_postmaster_start_time()))::bigint,
               'database_bytes', pg_database_size(current_database()),
               'maintenance', m.summary,
               'check', k.summary,
               'damaged_days', (SELECT count(*) FROM zbxhist.packed_day d
                                 WHERE d.day IN (SELECT v.day FROM zbxhist.verified_day v WHERE v.problem IS NOT NULL
                                                  UNION ALL
                                                 SELECT m.day FROM zbxhist_internal.met_damage() m)),
               'tables', coalesce(t.list, '[]'))
      FROM (SELECT jsonb_build_object(
                       'last_run', floor(extract(epoch FROM max(s.last_run)))::bigint,
                       'last_success', floor(extract(epoch FROM min(s.last_success)))::bigint,
                       'since_success', (zbxhist_internal.current_clock()
                                         - floor(extract(epoch FROM min(coalesce(s.last_success, c.created_at)))))::bigint,
                       'failing_tables', count(*) FILTER (WHERE s.failed)) AS summary
              FROM zbxhist.parent_config c
              JOIN pg_class k ON k.oid = c.parent
              LEFT JOIN zbxhist.parent_state s ON s.parent = c.parent) m,
           (SELECT jsonb_build_object(
                       'error', sum(s.lines) FILTER (WHERE s.severity = 'error'),
                       'warning', sum(s.lines) FILTER (WHERE s.severity = 'warning'),
                       'info', sum(s.lines) FILTER (WHERE s.severity = 'info'),
                       'time', floor(extract(epoch FROM min(s.checked_at)))::bigint) AS summary
              FROM zbxhist.check_summary s) k,
           (SELECT jsonb_agg(zbxhist_internal.table_metrics(p, l.locked) ORDER BY p::text) AS list
              FROM unnest(zbxhist_internal.parent_list()) p,
                   (SELECT coalesce(array_agg(DISTINCT l.relation), '{}') AS locked
                      FROM pg_locks l
                      JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
                     WHERE l.locktype = 'relation' AND l.mode = 'AccessExclusiveLock') l) t
$$;

COMMENT ON FUNCTION zbxhist.metrics() IS
'How everything is doing, as one JSON document for monitoring: seconds since 1970, seconds, bytes and numbers of values';

REVOKE ALL ON FUNCTION zbxhist.metrics() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.metrics() TO pg_monitor, pg_database_owner;
