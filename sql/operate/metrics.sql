-- sql/operate/metrics.sql

-- Notes how many lines of each severity check() returns.
-- If check() fails, that is only a warning: it must not stop maintenance.
CREATE FUNCTION zbxhist_internal.summarize_check() RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    problem text;
BEGIN
    INSERT INTO zbxhist.check_summary AS s (severity, lines, checked_at)
    SELECT v.severity, count(c.severity), clock_timestamp()
      FROM (VALUES ('error'), ('warning'), ('info')) AS v (severity)
      LEFT JOIN zbxhist.check() c ON c.severity = v.severity
     GROUP BY v.severity
    ON CONFLICT ON CONSTRAINT check_summary_pkey
    DO UPDATE SET lines = excluded.lines, checked_at = excluded.checked_at;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT;
    RAISE WARNING 'zbxhist: check() failed: %', problem;
END
$$;

-- Returns the metrics of one managed table.
-- It does not open packed days, because zbxhist.packed_day has all that is needed, nor the tables
-- "locked", for whose locks it would have to wait.
CREATE FUNCTION zbxhist_internal.table_metrics(parent regclass, locked oid[]) RETURNS jsonb
LANGUAGE sql VOLATILE STRICT PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
    SELECT jsonb_build_object(
               'schema', n.nspname,
               'table', k.relname,
               'interval', floor(extract(epoch FROM c.partition_interval))::bigint,
               'retention', floor(extract(epoch FROM r.retention))::bigint,
               'partitions', h.partitions,
               'partitions_ahead', h.ahead,
               'runway', greatest(0, coalesce(h.until, 0) - t.present),
               'packed_days', p.days,
               'packed_values', p.rows,
               'packed_bytes', p.bytes,
               'bytes_per_value', round(p.bytes / nullif(p.rows - p.archived_rows, 0), 2),
               'archived_days', p.archived_days,
               'archived_values', p.archived_rows,
               'archived_bytes', p.archived_bytes,
               'archived_until', coalesce(p.archived_until, 0),
               'archived_rows_waiting', CASE WHEN p.archived_days = 0 OR w.rows = 0 THEN 0
                                             WHEN w.exact THEN zbxhist_internal.count_own_rows(c.parent, p.archived_from, p.archived_until) END,
               'heap_bytes', h.bytes,
               'parent_bytes', own.bytes,
               'bytes', coalesce(p.bytes, 0) + coalesce(p.left_here, 0) + coalesce(h.bytes, 0) + coalesce(own.bytes, 0),
               'rows_waiting', w.rows,
               'rows_waiting_exact', w.exact,
               'values_stored', coalesce(v.values_routed, 0) + coalesce(v.values_kept, 0),
               'values_fast', v.values_fast,
               'values_per_second', l.rate,
               'ways', coalesce(i.ways, '{}'),
               'oldest_value', CASE WHEN o.is_known THEN least(h.oldest, p.oldest, o.clock) END,
               'next_drop', least(h.first_end, p.first_end) + floor(extract(epoch FROM r.retention))::bigint,
               'last_run', floor(extract(epoch FROM s.last_run))::bigint,
               'last_success', floor(extract(epoch FROM s.last_success))::bigint,
               'since_success', t.present - floor(extract(epoch FROM coalesce(s.last_success, c.created_at)))::bigint,
               'last_error', s.last_error,
               'last_error_at', floor(extract(epoch FROM s.last_error_at))::bigint)
      FROM zbxhist.parent_config c
      JOIN pg_class k ON k.oid = c.parent
      JOIN pg_namespace n ON n.oid = k.relnamespace
      LEFT JOIN zbxhist.parent_state s ON s.parent = c.parent
     CROSS JOIN LATERAL (SELECT zbxhist_internal.current_clock()::bigint AS present) t
     CROSS JOIN LATERAL zbxhist_internal.effective_retention(c.parent, c.retention) r
     CROSS JOIN LATERAL (
           SELECT count(*) AS partitions, count(*) FILTER (WHERE q.from_clock > t.present) AS ahead,
                  max(q.to_clock) AS until, min(q.from_clock) AS oldest, min(q.to_clock) AS first_end,
                  sum(CASE WHEN q.relation <> ALL (locked) THEN pg_total_relation_size(q.relation) END)::bigint AS bytes
             FROM zbxhist_internal.list_ranges(c.parent) q
            WHERE NOT q.is_packed) h
     CROSS JOIN LATERAL (
           SELECT count(*) AS days, coalesce(sum(d.nrows), 0)::bigint AS rows,
                  coalesce(sum(d.packed_bytes) FILTER (WHERE a.copy IS NULL), 0)::bigint AS bytes,
                  min(d.from_clock) AS oldest, min(d.to_clock) AS first_end,
                  count(a.copy) AS archived_days, coalesce(sum(d.nrows) FILTER (WHERE a.copy IS NOT NULL), 0)::bigint AS archived_rows,
                  coalesce(sum(a.bytes), 0)::bigint AS archived_bytes,
                  sum(CASE WHEN a.copy IS NOT NULL AND d.day <> ALL (locked) THEN pg_total_relation_size(d.day) END)::bigint AS left_here,
                  min(d.from_clock) FILTER (WHERE a.copy IS NOT NULL) AS archived_from,
                  max(d.to_clock) FILTER (WHERE a.copy IS NOT NULL) AS archived_until
             FROM zbxhist.packed_day d
             LEFT JOIN zbxhist.archive_copy a ON a.copy = d.archive_copy
            WHERE d.parent = c.parent AND NOT d.unpacked) p
     CROSS JOIN LATERAL (SELECT CASE WHEN c.parent <> ALL (locked) THEN pg_total_relation_size(c.parent) END AS bytes) own
     CROSS JOIN LATERAL zbxhist_internal.waiting_rows(c.parent) w
     -- few rows are searched; for many, maintenance has noted the oldest clock
     CROSS JOIN LATERAL (
           SELECT w.exact OR s.oldest_at IS NOT NULL AS is_known,
                  CASE WHEN zbxhist_internal.own_pages(c.parent) = 0 THEN NULL
                       WHEN w.exact AND (zbxhist_internal.column_problem(c.parent)).problem IS NULL
                       THEN zbxhist_internal.waiting_clock(c.parent, -2147483648, 2147483648, false)
                       ELSE s.oldest_clock END AS clock) o
     CROSS JOIN LATERAL zbxhist_internal.stored_values(c.parent) v
      LEFT JOIN LATERAL (
           SELECT round(d.nrows::numeric / (d.to_clock - d.from_clock), 2) AS rate
             FROM zbxhist.packed_day d WHERE d.parent = c.parent AND NOT d.unpacked AND d.nrows > 0
            ORDER BY d.from_clock DESC LIMIT 1) l ON true
     CROSS JOIN LATERAL (
           SELECT jsonb_object_agg(q.path, q.values_stored) AS ways
             FROM zbxhist.insert_paths() q WHERE q.parent = c.parent) i
     WHERE c.parent = table_metrics.parent
$$;

-- The state of all managed tables, as one JSON document for monitoring.
--
-- Names do not change, because templates and dashboards use them.  Times are seconds since 1970,
-- durations seconds, sizes bytes; unknown values are null.
CREATE FUNCTION zbxhist.metrics() RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
    SELECT jsonb_build_object(
               'version', zbxhist.version(),
               'time', zbxhist_internal.current_clock(),
               'server_started', floor(extract(epoch FROM pg_postmaster_start_time()))::bigint,
               'database_bytes', pg_database_size(current_database()),
               'maintenance', m.summary,
               'check', k.summary,
               'damaged_days', (SELECT count(*) FROM zbxhist.packed_day d
                                 WHERE d.day IN (SELECT v.day FROM zbxhist.verified_day v WHERE v.problem IS NOT NULL)),
               'archives', (
                   SELECT coalesce(jsonb_agg(jsonb_build_object('server', a.server, 'days', a.days, 'bytes', a.bytes,
                                                                'unreachable_since', floor(extract(epoch FROM a.since))::bigint)
                                             ORDER BY a.server), '[]')
                     FROM (SELECT c.server, count(*) AS days, sum(c.bytes)::bigint AS bytes, min(p.since) AS since
                             FROM zbxhist.packed_day d
                             JOIN zbxhist.archive_copy c ON c.copy = d.archive_copy
                             LEFT JOIN zbxhist.step_problem p ON p.step = 'archive_reach' AND p.relation = c.groups::text
                            GROUP BY c.server) a),
               'archives_unreachable', (SELECT count(DISTINCT p.relation) FROM zbxhist.step_problem p WHERE p.step = 'archive_reach'),
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
