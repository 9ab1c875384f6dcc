-- sql/views.sql

CREATE VIEW zbxhist.parents AS
SELECT c.parent,
       c.partition_interval,
       c.premake,
       c.retention,
       r.retention AS effective_retention,
       coalesce(r.source, 'none') AS retention_source,
       c.pack_after,
       c.move_existing,
       c.routing,
       c.created_at,
       c.deleted_items,
       c.retention_action,
       c.retention_schema,
       c.time_precision,
       c.time_precision_after,
       c.max_age,
       c.max_ahead,
       c.out_of_range,
       c.packed_tablespace,
       c.packed_tablespace_after,
       c.archive_server,
       c.archive_after,
       c.auto_analyze
  FROM zbxhist.parent_config c
  JOIN pg_catalog.pg_class k ON k.oid = c.parent
  CROSS JOIN LATERAL zbxhist_internal.effective_retention(c.parent, c.retention) r
 ORDER BY c.parent::pg_catalog.text;

COMMENT ON VIEW zbxhist.parents IS 'The managed tables, their policy, and the retention that counts';
COMMENT ON COLUMN zbxhist.parents.effective_retention IS 'The retention that counts; NULL drops nothing';
COMMENT ON COLUMN zbxhist.parents.retention_source IS 'Where that comes from: policy, zabbix: and the setting, or none';

CREATE VIEW zbxhist.partitions AS
SELECT c.parent,
       p.relation AS partition,
       CASE WHEN p.is_packed THEN 'packed' ELSE 'heap' END AS kind,
       p.from_clock,
       p.to_clock,
       pg_catalog.to_timestamp(p.from_clock) AS from_time,
       pg_catalog.to_timestamp(p.to_clock) AS to_time,
       CASE WHEN a.copy IS NOT NULL THEN 'archived'
            WHEN p.is_packed THEN 'packed'
            WHEN p.from_clock > t.present THEN 'future'
            WHEN p.to_clock > t.present THEN 'current'
            ELSE 'open' END AS state,
       e.rows,
       e.bytes,
       pg_catalog.round((e.bytes + coalesce(a.bytes, 0))::pg_catalog.numeric / nullif(e.rows, 0), 1) AS bytes_per_value,
       zbxhist_internal.tablespace_of(p.relation) AS tablespace
  FROM zbxhist.parent_config c
  JOIN pg_catalog.pg_class k ON k.oid = c.parent
  CROSS JOIN LATERAL zbxhist_internal.list_ranges(c.parent) p
  CROSS JOIN LATERAL (SELECT pg_catalog.date_part('epoch', pg_catalog.now()) AS present) t
  CROSS JOIN LATERAL (
       SELECT CASE WHEN p.is_packed
                   THEN (SELECT CASE WHEN NOT d.unpacked THEN d.nrows ELSE 0 END
                           FROM zbxhist.packed_day d WHERE d.day = p.relation)
                   ELSE zbxhist_internal.estimated_rows(p.relation) END AS rows,
              pg_catalog.pg_total_relation_size(p.relation) AS bytes) e
  LEFT JOIN LATERAL (
       SELECT d.archive_copy AS copy, w.bytes
         FROM zbxhist.packed_day d
         LEFT JOIN zbxhist.archive_copy w ON w.copy = d.archive_copy
        WHERE p.is_packed AND d.day = p.relation) a ON true
 ORDER BY c.parent::pg_catalog.text, p.from_clock, p.is_packed;

COMMENT ON VIEW zbxhist.partitions IS 'The partitions and packed days of all managed tables';
COMMENT ON COLUMN zbxhist.partitions.partition IS 'Its partition, or the table of the packed day';
COMMENT ON COLUMN zbxhist.partitions.kind IS 'How it is stored: heap, an ordinary table, or packed';
COMMENT ON COLUMN zbxhist.partitions.from_clock IS 'First clock of its range';
COMMENT ON COLUMN zbxhist.partitions.to_clock IS 'End of its range: the first clock that is not in it';
COMMENT ON COLUMN zbxhist.partitions.from_time IS 'from_clock as a time';
COMMENT ON COLUMN zbxhist.partitions.to_time IS 'to_clock as a time';
COMMENT ON COLUMN zbxhist.partitions.state IS 'future, current, open: its time has gone by; packed; or archived on another server';
COMMENT ON COLUMN zbxhist.partitions.rows IS 'Number of values, an estimate';
COMMENT ON COLUMN zbxhist.partitions.bytes IS 'Disk space with indexes, here';
COMMENT ON COLUMN zbxhist.partitions.bytes_per_value IS 'Disk space of one value, here and on an archive server';
COMMENT ON COLUMN zbxhist.partitions.tablespace IS 'The tablespace that has it';

CREATE VIEW zbxhist.partitions_by_day AS
SELECT p.parent,
       pg_catalog.min(p.from_time) AS from_time,
       pg_catalog.max(p.to_time) AS to_time,
       pg_catalog.count(*) FILTER (WHERE p.state = 'future') AS future,
       pg_catalog.count(*) FILTER (WHERE p.state IN ('current', 'open')) AS heap,
       pg_catalog.count(*) FILTER (WHERE p.state IN ('packed', 'archived')) AS packed,
       pg_catalog.sum(p.rows)::bigint AS rows,
       pg_catalog.sum(p.bytes)::bigint AS bytes,
       pg_catalog.round(pg_catalog.sum(p.bytes + coalesce(a.bytes, 0)) / nullif(pg_catalog.sum(p.rows), 0), 1) AS bytes_per_value
  FROM zbxhist.partitions p
  LEFT JOIN zbxhist.packed_day d ON d.day = p.partition
  LEFT JOIN zbxhist.archive_copy a ON a.copy = d.archive_copy
 GROUP BY p.parent, pg_catalog.floor(p.from_clock::pg_catalog.numeric / 86400)
 ORDER BY p.parent::pg_catalog.text, pg_catalog.min(p.from_clock);

COMMENT ON VIEW zbxhist.partitions_by_day IS
'The partitions and packed days of all managed tables, a row for all that begin on one day (UTC)';
COMMENT ON COLUMN zbxhist.partitions_by_day.from_time IS 'Begin of the first';
COMMENT ON COLUMN zbxhist.partitions_by_day.to_time IS 'End of the last';
COMMENT ON COLUMN zbxhist.partitions_by_day.future IS 'Number of partitions of the future';
COMMENT ON COLUMN zbxhist.partitions_by_day.heap IS 'Number of the other ordinary tables';
COMMENT ON COLUMN zbxhist.partitions_by_day.packed IS 'Number of packed tables';

CREATE VIEW zbxhist.maintenance_by_day
WITH (security_invoker = true) AS
SELECT pg_catalog.date_trunc('day', l.started_at, 'UTC') AS day,
       l.parent,
       l.action,
       pg_catalog.count(*) FILTER (WHERE l.sqlstate IS NULL) AS times,
       pg_catalog.count(l.sqlstate) AS in_vain,
       pg_catalog.sum(l.rows)::bigint AS rows,
       pg_catalog.sum(l.bytes)::bigint AS bytes,
       pg_catalog.sum(l.duration) AS duration,
       pg_catalog.max(l.lock_wait) AS longest_lock_wait,
       (pg_catalog.array_agg(l.message ORDER BY l.id DESC) FILTER (WHERE l.sqlstate IS NOT NULL))[1] AS last_problem
  FROM zbxhist.maintenance_log l
 GROUP BY 1, l.parent, l.action
 ORDER BY 1, l.parent::pg_catalog.text, pg_catalog.min(l.id);

COMMENT ON VIEW zbxhist.maintenance_by_day IS 'The log of maintenance, a row for each day (UTC), table and action';
COMMENT ON COLUMN zbxhist.maintenance_by_day.day IS 'Begin of the day';
COMMENT ON COLUMN zbxhist.maintenance_by_day.action IS 'What was done, as in maintenance_log';
COMMENT ON COLUMN zbxhist.maintenance_by_day.times IS 'How often it was done';
COMMENT ON COLUMN zbxhist.maintenance_by_day.in_vain IS 'How often it failed, or had no lock in time';
COMMENT ON COLUMN zbxhist.maintenance_by_day.rows IS 'Rows of all';
COMMENT ON COLUMN zbxhist.maintenance_by_day.bytes IS 'Bytes of all';
COMMENT ON COLUMN zbxhist.maintenance_by_day.duration IS 'Duration of all';
COMMENT ON COLUMN zbxhist.maintenance_by_day.longest_lock_wait IS 'The longest wait for a lock';
COMMENT ON COLUMN zbxhist.maintenance_by_day.last_problem IS 'Why it was last in vain';

CREATE VIEW zbxhist.status AS
SELECT c.parent,
       p.partitions,
       p.packed_days,
       p.partitions_ahead,
       p.covered_until,
       w.rows AS rows_waiting,
       w.exact AS rows_waiting_exact,
       s.last_run,
       s.last_success,
       s.last_error,
       s.last_error_at,
       pg_catalog.to_timestamp(p.first_end) + r.retention AS next_drop,
       v.values_routed,
       v.values_kept,
       v.batches,
       v.values_fast,
       (SELECT pg_catalog.jsonb_object_agg(i.path, i.values_stored)
          FROM zbxhist_internal.stored_paths() i
         WHERE i.parent = c.parent
           AND i.path <> 'fast') AS values_slow,
       (SELECT pg_catalog.sum(d.heap_bytes - pg_catalog.pg_total_relation_size(d.day))::bigint
          FROM zbxhist.packed_day d
         WHERE d.parent = c.parent AND NOT d.unpacked AND d.heap_bytes IS NOT NULL) AS saved_bytes
  FROM zbxhist.parent_config c
  JOIN pg_catalog.pg_class k ON k.oid = c.parent
  LEFT JOIN zbxhist.parent_state s ON s.parent = c.parent
  CROSS JOIN LATERAL zbxhist_internal.effective_retention(c.parent, c.retention) r
  CROSS JOIN LATERAL (
       SELECT pg_catalog.count(*) FILTER (WHERE NOT l.is_packed) AS partitions,
              pg_catalog.count(*) FILTER (WHERE l.is_packed) AS packed_days,
              pg_catalog.count(*) FILTER (WHERE l.from_clock > pg_catalog.date_part('epoch', pg_catalog.now()))
                  AS partitions_ahead,
              pg_catalog.to_timestamp(pg_catalog.max(l.to_clock)) AS covered_until,
              pg_catalog.min(l.to_clock) AS first_end
         FROM zbxhist_internal.list_ranges(c.parent) l) p
  CROSS JOIN LATERAL zbxhist_internal.waiting_rows(c.parent) w
  CROSS JOIN LATERAL zbxhist_internal.stored_values(c.parent) v
 ORDER BY c.parent::pg_catalog.text;

COMMENT ON VIEW zbxhist.status IS 'How each managed table is doing';
COMMENT ON COLUMN zbxhist.status.partitions IS 'Number of its partitions';
COMMENT ON COLUMN zbxhist.status.packed_days IS 'Number of its packed days';
COMMENT ON COLUMN zbxhist.status.partitions_ahead IS 'How many of them are for time to come';
COMMENT ON COLUMN zbxhist.status.covered_until IS 'End of the last one';
COMMENT ON COLUMN zbxhist.status.rows_waiting IS 'Rows in the parent itself';
COMMENT ON COLUMN zbxhist.status.rows_waiting_exact IS 'Whether these are counted; otherwise estimated';
COMMENT ON COLUMN zbxhist.status.last_run IS 'When maintenance last came to the end for this table';
COMMENT ON COLUMN zbxhist.status.last_success IS 'When it last did so without an error';
COMMENT ON COLUMN zbxhist.status.last_error IS 'The last error';
COMMENT ON COLUMN zbxhist.status.last_error_at IS 'When that was';
COMMENT ON COLUMN zbxhist.status.next_drop IS 'When the oldest partition or packed day will be past retention';
COMMENT ON COLUMN zbxhist.status.values_routed IS 'Values stored in its partitions since the server started, or the statistics were reset';
COMMENT ON COLUMN zbxhist.status.values_kept IS 'Values stored in the parent itself; NULL if not counted';
COMMENT ON COLUMN zbxhist.status.batches IS 'Batches in which they were stored; NULL if not counted';
COMMENT ON COLUMN zbxhist.status.values_fast IS 'How many of the values came in statements of literals, which need neither planner nor trigger; NULL if not counted';
COMMENT ON COLUMN zbxhist.status.values_slow IS 'The other values, by what kept their statements from it, see insert_paths(); NULL if there are none, or not counted';
COMMENT ON COLUMN zbxhist.status.saved_bytes IS 'Disk space that packing saves here, of the packed days that there are; NULL if there are none';

CREATE VIEW zbxhist.progress AS
SELECT s.parent,
       s.action,
       s.relation AS partition,
       s.action_pid AS pid,
       s.action_started AS started_at,
       coalesce(p.rows, s.action_rows) AS rows,
       CASE WHEN p.rows IS NULL THEN s.action_percent
            WHEN s.action IN ('compact', 'repack') THEN pg_catalog.round(100.0 * least(1, p.read), 1)
            ELSE pg_catalog.round(50.0 * p.read + 50.0 * p.written, 1) END AS percent
  FROM zbxhist.parent_state s
  JOIN pg_catalog.pg_class k ON k.oid = s.parent
  LEFT JOIN LATERAL (
       -- pack: first all rows are read and sorted, then they are written
       SELECT i.param3 AS rows,
              coalesce(i.param1::pg_catalog.numeric / nullif(i.param2, 0), 0) AS read,
              coalesce(least(1, i.param3::pg_catalog.numeric
                  / nullif(zbxhist_internal.estimated_rows(i.relid::pg_catalog.regclass), 0)), 0) AS written
         FROM pg_catalog.pg_stat_get_progress_info('COPY') i
        WHERE s.action IN ('pack', 'compact', 'repack') AND i.pid = s.action_pid
          AND i.relid = pg_catalog.to_regclass(s.relation)) p ON true
 WHERE s.action IS NOT NULL
   AND EXISTS (SELECT FROM pg_catalog.pg_stat_activity a
                WHERE a.pid = s.action_pid
                  AND a.datname = pg_catalog.current_database())
UNION ALL
-- what is one statement: verify and the rows of unpack and salvage; see
-- src/packed/day_progress.h
SELECT d.parent,
       CASE i.param5 WHEN 101 THEN 'verify' WHEN 102 THEN 'unpack' ELSE 'salvage' END,
       d.day::pg_catalog.text,
       i.pid,
       a.query_start,
       i.param3,
       pg_catalog.round(100.0 * least(1,
           CASE WHEN i.param5 = 101
                -- of all days, one after the other
                THEN (v.before + v.this * i.param1 / nullif(i.param2, 0)) / nullif(v.total, 0)
                ELSE i.param1::pg_catalog.numeric / nullif(i.param2, 0) END), 1)
  FROM pg_catalog.pg_stat_get_progress_info('COPY') i
  JOIN zbxhist.packed_day d ON d.day = i.relid::pg_catalog.regclass
  JOIN pg_catalog.pg_stat_activity a ON a.pid = i.pid AND a.datname = pg_catalog.current_database()
 CROSS JOIN LATERAL (
       SELECT coalesce(pg_catalog.sum(o.packed_bytes) FILTER (WHERE o.from_clock < d.from_clock), 0) AS before,
              coalesce(pg_catalog.sum(o.packed_bytes) FILTER (WHERE o.day = d.day), 0) AS this,
              pg_catalog.sum(o.packed_bytes) AS total
         FROM zbxhist.packed_day o WHERE o.parent = d.parent) v
 WHERE i.param5 BETWEEN 101 AND 103
UNION ALL
-- an import, until its slices are done and compared; a session that runs
-- another statement by now has broken it off
SELECT s.parent,
       'import',
       s.source::pg_catalog.text,
       s.pid,
       pg_catalog.min(s.begun_at),
       pg_catalog.sum(s.rows_read)::pg_catalog.int8,
       pg_catalog.round(25.0 * (3 * pg_catalog.count(s.done_at) + pg_catalog.count(s.compared_at)) / pg_catalog.count(*), 1)
  FROM zbxhist.import_slice s
  JOIN pg_catalog.pg_stat_activity a ON a.pid = s.pid AND a.datname = pg_catalog.current_database()
 WHERE coalesce(a.query_start <= s.begun_at AND a.state = 'active', true)
 GROUP BY s.parent, s.source, s.pid
HAVING pg_catalog.count(s.compared_at) < pg_catalog.count(*);

COMMENT ON VIEW zbxhist.progress IS 'What is being done now that takes long, by maintenance or by hand';
COMMENT ON COLUMN zbxhist.progress.action IS 'move, expire, pack, merge, compact, repack, undo, unpack, salvage, verify or import';
COMMENT ON COLUMN zbxhist.progress.partition IS 'The partition or packed day concerned, or the table that is imported';
COMMENT ON COLUMN zbxhist.progress.pid IS 'The server process';
COMMENT ON COLUMN zbxhist.progress.rows IS 'Rows done so far';
COMMENT ON COLUMN zbxhist.progress.percent IS 'How far it has come, judged by the item reached or, of a partition that is packed, by the blocks read and the rows written; of a day that is compacted, repacked, unpacked or salvaged, by the bytes read; of verify, by those of all days; of an import, by the parts that are done and compared';

-- A column that says what one of the same name does in the table of the policy, the log, or
-- the view of all partitions, is described there.  Tables of what maintenance remembers are
-- described where they are created, in sql/tables.
DO $$
DECLARE
    command text;
BEGIN
    FOR command IN
        SELECT DISTINCT ON (k.oid, a.attnum) format('COMMENT ON COLUMN %s.%I IS %L', k.oid::regclass, a.attname, col_description(o, b.attnum))
          FROM unnest('{zbxhist.parent_config,zbxhist.maintenance_log,zbxhist.partitions}'::regclass[]) WITH ORDINALITY s (o, place)
          JOIN pg_attribute b ON b.attrelid = o AND b.attnum > 0
          JOIN pg_attribute a ON a.attname = b.attname AND a.attnum > 0 AND col_description(a.attrelid, a.attnum) IS NULL
          JOIN pg_class k ON k.oid = a.attrelid AND k.relnamespace = 'zbxhist'::regnamespace AND k.relkind IN ('r', 'v')
         ORDER BY k.oid, a.attnum, s.place
    LOOP
        EXECUTE command;
    END LOOP;
END
$$;
