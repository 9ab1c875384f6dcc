-- sql/views.sql

-- The managed tables, their policy, and the retention in effect.
CREATE VIEW zbxhist.parents AS
SELECT c.parent,
       c.partition_interval,
       c.premake,
       c.retention,
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
       c.auto_analyze,
       r.retention AS effective_retention,  -- the retention in effect; NULL: nothing is dropped
       coalesce(r.source, 'none') AS retention_source  -- where it comes from: policy, zabbix: and the setting, or none
  FROM zbxhist.parent_config c
  JOIN pg_catalog.pg_class k ON k.oid = c.parent
  CROSS JOIN LATERAL zbxhist_internal.effective_retention(c.parent, c.retention) r
 ORDER BY c.parent::pg_catalog.text;

-- The partitions and packed days of all managed tables.
CREATE VIEW zbxhist.partitions AS
SELECT c.parent,
       p.relation AS partition,  -- the partition, or the table of the packed day
       CASE WHEN p.is_packed THEN 'packed' ELSE 'heap' END AS kind,  -- how it is stored: heap, an ordinary table, or packed
       p.from_clock,  -- first clock of its range
       p.to_clock,  -- end of its range: the first clock that is not in it
       pg_catalog.to_timestamp(p.from_clock) AS from_time,  -- from_clock as a time
       pg_catalog.to_timestamp(p.to_clock) AS to_time,  -- to_clock as a time
       CASE WHEN d.archive_copy IS NOT NULL THEN 'archived'
            WHEN p.is_packed THEN 'packed'
            WHEN p.from_clock > t.present THEN 'future'
            WHEN p.to_clock > t.present THEN 'current'
            ELSE 'open' END AS state,  -- future; current; open: past, not packed yet; packed; archived: on another server
       e.rows,  -- number of values, an estimate
       e.bytes,  -- disk space with indexes, here
       pg_catalog.round((e.bytes + coalesce(a.bytes, 0))::pg_catalog.numeric / nullif(e.rows, 0), 1) AS bytes_per_value,
       zbxhist_internal.tablespace_of(p.relation) AS tablespace  -- the tablespace that it is in
  FROM zbxhist.parent_config c
  JOIN pg_catalog.pg_class k ON k.oid = c.parent
  CROSS JOIN LATERAL zbxhist_internal.list_ranges(c.parent) p
  CROSS JOIN LATERAL (SELECT pg_catalog.date_part('epoch', pg_catalog.now()) AS present) t
  LEFT JOIN zbxhist.packed_day d ON p.is_packed AND d.day = p.relation
  LEFT JOIN zbxhist.archive_copy a ON a.copy = d.archive_copy
  CROSS JOIN LATERAL (
       SELECT CASE WHEN NOT p.is_packed THEN zbxhist_internal.estimated_rows(p.relation)
                   WHEN d.unpacked THEN 0 ELSE d.nrows END AS rows,
              pg_catalog.pg_total_relation_size(p.relation) AS bytes) e
 ORDER BY c.parent::pg_catalog.text, p.from_clock, p.is_packed;

COMMENT ON COLUMN zbxhist.partitions.bytes_per_value IS 'Disk space of one value, here and on an archive server';

-- The partitions and packed days of all managed tables, added up by the day (UTC) on which they begin.
CREATE VIEW zbxhist.partitions_by_day AS
SELECT p.parent,
       pg_catalog.min(p.from_time) AS from_time,  -- start of the first one
       pg_catalog.max(p.to_time) AS to_time,  -- end of the last one
       pg_catalog.count(*) FILTER (WHERE p.state = 'future') AS future,  -- number of partitions of the future
       pg_catalog.count(*) FILTER (WHERE p.state IN ('current', 'open')) AS heap,  -- number of other partitions
       pg_catalog.count(*) FILTER (WHERE p.state IN ('packed', 'archived')) AS packed,  -- number of packed tables
       pg_catalog.sum(p.rows)::bigint AS rows,
       pg_catalog.sum(p.bytes)::bigint AS bytes,
       pg_catalog.round(pg_catalog.sum(p.bytes + coalesce(a.bytes, 0)) / nullif(pg_catalog.sum(p.rows), 0), 1) AS bytes_per_value
  FROM zbxhist.partitions p
  LEFT JOIN zbxhist.packed_day d ON d.day = p.partition
  LEFT JOIN zbxhist.archive_copy a ON a.copy = d.archive_copy
 GROUP BY p.parent, pg_catalog.floor(p.from_clock::pg_catalog.numeric / 86400)
 ORDER BY p.parent::pg_catalog.text, pg_catalog.min(p.from_clock);

-- How each managed table is doing.
CREATE VIEW zbxhist.status AS
SELECT c.parent,
       p.partitions,  -- number of its partitions
       p.packed_days,  -- number of its packed days
       p.partitions_ahead,  -- how many of its partitions are in the future
       p.covered_until,  -- end of the last one
       w.rows AS rows_waiting,  -- rows in the parent itself
       w.exact AS rows_waiting_exact,  -- whether these were counted; if not, they are an estimate
       s.last_run,  -- when maintenance of this table last ended
       s.last_success,  -- when it last ended without an error
       s.last_error,  -- the last error
       s.last_error_at,  -- when that was
       pg_catalog.to_timestamp(p.first_end) + r.retention AS next_drop,  -- when the oldest partition or packed day will be past retention
       v.values_routed,  -- values stored in its partitions since the server started, or the statistics were reset
       v.values_kept,  -- values stored in the parent itself; NULL if not counted
       v.batches,  -- batches in which they were stored; NULL if not counted
       v.values_fast,  -- how many of them came in INSERTs of literals only, which need no planner and no trigger; NULL if not counted
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

COMMENT ON COLUMN zbxhist.status.saved_bytes IS 'Disk space that packing saves on this server, for the packed days that exist; NULL if there are none';

-- Long work that is in progress, by maintenance or by hand.
CREATE VIEW zbxhist.progress AS
SELECT s.parent,
       s.action,  -- move, expire, pack, merge, compact, repack, undo, unpack, salvage, verify or import; total: of all tables
       s.relation AS partition,  -- the partition or packed day concerned, or the table that is imported
       s.action_pid AS pid,  -- the server process
       s.action_started AS started_at,
       coalesce(p.rows, s.action_rows) AS rows,  -- rows done so far
       CASE WHEN p.rows IS NULL THEN s.action_percent
            WHEN s.action IN ('compact', 'repack') THEN pg_catalog.round(100.0 * least(1, p.read), 1)
            ELSE pg_catalog.round(50.0 * p.read + 50.0 * p.written, 1) END AS percent,
       t.rows_left,  -- about how many rows of the whole table are left to move, by move_existing or undo
       t.time_left  -- how long that takes at the speed of this run
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
  LEFT JOIN LATERAL zbxhist_internal.rows_left(s.parent) t ON true
 WHERE s.action IS NOT NULL
   AND EXISTS (SELECT FROM pg_catalog.pg_stat_activity a
                WHERE a.pid = s.action_pid
                  AND a.datname = pg_catalog.current_database())
UNION ALL
-- work that is one statement: verify, and the rows of unpack and salvage; see
-- src/packed/day_progress.h
SELECT d.parent,
       CASE i.param5 WHEN 101 THEN 'verify' WHEN 102 THEN 'unpack' ELSE 'salvage' END,
       d.day::pg_catalog.text,
       i.pid,
       a.query_start,
       i.param3,
       pg_catalog.round(100.0 * least(1, i.param1::pg_catalog.numeric / nullif(i.param2, 0)), 1),
       NULL::pg_catalog.int8,
       NULL::pg_catalog.interval
  FROM pg_catalog.pg_stat_get_progress_info('COPY') i
  JOIN zbxhist.packed_day d ON d.day = i.relid::pg_catalog.regclass
  JOIN pg_catalog.pg_stat_activity a ON a.pid = i.pid AND a.datname = pg_catalog.current_database()
 WHERE i.param5 BETWEEN 101 AND 103
UNION ALL
-- an import, until its slices are done and compared; if the session is running another statement
-- now, the import was interrupted
SELECT s.parent,
       'import',
       s.source::pg_catalog.text,
       s.pid,
       pg_catalog.min(s.begun_at),
       pg_catalog.sum(s.rows_read)::pg_catalog.int8,
       pg_catalog.round(25.0 * (3 * pg_catalog.count(s.done_at) + pg_catalog.count(s.compared_at)) / pg_catalog.count(*), 1),
       NULL,
       NULL
  FROM zbxhist.import_slice s
  JOIN pg_catalog.pg_stat_activity a ON a.pid = s.pid AND a.datname = pg_catalog.current_database()
 WHERE coalesce(a.query_start <= s.begun_at AND a.state = 'active', true)
 GROUP BY s.parent, s.source, s.pid
HAVING pg_catalog.count(s.compared_at) < pg_catalog.count(*)
UNION ALL
-- all tables together, those that have not begun included
SELECT NULL,
       'total',
       NULL,
       NULL,
       pg_catalog.min(s.begun_at),
       pg_catalog.sum(t.rows_moved)::pg_catalog.int8,
       pg_catalog.round(100.0 * pg_catalog.sum(t.rows_moved) / nullif(pg_catalog.sum(t.rows_moved + t.rows_left), 0), 1),
       pg_catalog.sum(t.rows_left)::pg_catalog.int8,
       pg_catalog.max(t.time_left / nullif(t.rows_left, 0)) * pg_catalog.sum(t.rows_left)
  FROM zbxhist.parent_state s
 CROSS JOIN LATERAL zbxhist_internal.rows_left(s.parent) t
 WHERE EXISTS (SELECT FROM zbxhist.parent_state o
                 JOIN pg_catalog.pg_stat_activity a ON a.pid = o.action_pid AND a.datname = pg_catalog.current_database()
                WHERE o.action IS NOT NULL)
HAVING pg_catalog.count(t.rows_left) > 0;

COMMENT ON COLUMN zbxhist.progress.percent IS 'Percentage done: of a move, by rows moved; of a pack, by blocks read and rows written; of compact, repack, verify, unpack and salvage, by bytes read; of an import, by slices done and compared';

-- A column without a comment gets that of the column of the same name in parent_config,
-- maintenance_log or the view partitions.
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
