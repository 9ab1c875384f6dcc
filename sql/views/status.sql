-- sql/views/status.sql

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
           AND i.path <> 'fast') AS values_slow
  FROM zbxhist.parent_config c
  JOIN pg_catalog.pg_class k ON k.oid = c.parent
  LEFT JOIN zbxhist.parent_state s ON s.parent = c.parent
  CROSS JOIN LATERAL zbxhist_internal.effective_retention(c.parent, c.retention) r
  CROSS JOIN LATERAL (
       SELECT pg_catalog.count(*) FILTER (WHERE NOT l.is_packed OR d.runs) AS partitions,
              pg_catalog.count(*) FILTER (WHERE l.is_packed AND NOT d.runs) AS packed_days,
              pg_catalog.count(*) FILTER (WHERE l.from_clock > pg_catalog.date_part('epoch', pg_catalog.now()))
                  AS partitions_ahead,
              pg_catalog.to_timestamp(pg_catalog.max(l.to_clock)) AS covered_until,
              pg_catalog.min(l.to_clock) AS first_end
         FROM zbxhist_internal.list_ranges(c.parent) l
         LEFT JOIN zbxhist.packed_day d ON d.day = l.relation) p
  CROSS JOIN LATERAL zbxhist_internal.waiting_rows(c.parent) w
  CROSS JOIN LATERAL zbxhist_internal.stored_values(c.parent) v
 ORDER BY c.parent::pg_catalog.text;

COMMENT ON VIEW zbxhist.status IS
'How each managed table is doing';
COMMENT ON COLUMN zbxhist.status.parent IS 'The managed table';
COMMENT ON COLUMN zbxhist.status.partitions IS 'Number of its partitions';
COMMENT ON COLUMN zbxhist.status.packed_days IS 'Number of its packed days';
COMMENT ON COLUMN zbxhist.status.partitions_ahead IS 'How many of them are for time to come';
COMMENT ON COLUMN zbxhist.status.covered_until IS 'End of the last one';
COMMENT ON COLUMN zbxhist.status.rows_waiting IS 'Rows in the parent itself';
COMMENT ON COLUMN zbxhist.status.rows_waiting_exact IS 'Whether these are counted; otherwise estimated';
COMMENT ON COLUMN zbxhist.status.last_run IS 'When maintenance last came to the end for it';
COMMENT ON COLUMN zbxhist.status.last_success IS 'When it last did so without an error';
COMMENT ON COLUMN zbxhist.status.last_error IS 'The last error';
COMMENT ON COLUMN zbxhist.status.last_error_at IS 'When that was';
COMMENT ON COLUMN zbxhist.status.next_drop IS 'When the oldest partition or packed day will be past retention';
COMMENT ON COLUMN zbxhist.status.values_routed IS 'Values stored in its partitions since the server started, or the statistics were reset';
COMMENT ON COLUMN zbxhist.status.values_kept IS 'Values stored in the parent itself; NULL if not counted';
COMMENT ON COLUMN zbxhist.status.batches IS 'Batches in which they were stored; NULL if not counted';
COMMENT ON COLUMN zbxhist.status.values_fast IS 'How many of the values came in statements of literals, which need neither planner nor trigger; NULL if not counted';
COMMENT ON COLUMN zbxhist.status.values_slow IS 'The other values, by what kept their statements from it, see insert_paths(); NULL if there are none, or not counted';

REVOKE ALL ON zbxhist.status FROM PUBLIC;
GRANT SELECT ON zbxhist.status TO PUBLIC;
