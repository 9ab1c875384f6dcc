-- sql/views/progress.sql

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
-- src/packed/jobs/day_progress.h
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
-- an import, until its slices are done and compared; who runs another statement by
-- now has broken it off
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

COMMENT ON VIEW zbxhist.progress IS
'What is being done now that takes long, by maintenance or by hand';
COMMENT ON COLUMN zbxhist.progress.parent IS 'The managed table';
COMMENT ON COLUMN zbxhist.progress.action IS 'move, expire, pack, merge, compact, repack, undo, unpack, salvage, verify or import';
COMMENT ON COLUMN zbxhist.progress.partition IS 'The partition or packed day concerned, or the table that is imported';
COMMENT ON COLUMN zbxhist.progress.pid IS 'The server process';
COMMENT ON COLUMN zbxhist.progress.started_at IS 'When the action began';
COMMENT ON COLUMN zbxhist.progress.rows IS 'Rows done so far';
COMMENT ON COLUMN zbxhist.progress.percent IS 'How far it has come, judged by the item reached or, of a partition that is packed, by the blocks read and the rows written; of a day that is compacted, repacked, unpacked or salvaged, by the bytes read; of verify, by those of all days; of an import, by the parts that are done and compared';

REVOKE ALL ON zbxhist.progress FROM PUBLIC;
GRANT SELECT ON zbxhist.progress TO PUBLIC;
