-- sql/views/partitions.sql

CREATE VIEW zbxhist.partitions AS
SELECT c.parent,
       p.relation AS partition,
       CASE WHEN u.is_runs THEN 'runs' WHEN p.is_packed THEN 'packed' ELSE 'heap' END AS kind,
       p.from_clock,
       p.to_clock,
       pg_catalog.to_timestamp(p.from_clock) AS from_time,
       pg_catalog.to_timestamp(p.to_clock) AS to_time,
       CASE WHEN p.is_packed AND NOT u.is_runs THEN 'packed'
            WHEN p.from_clock > t.present THEN 'future'
            WHEN p.to_clock > t.present THEN 'current'
            ELSE 'open' END AS state,
       e.rows,
       e.bytes,
       pg_catalog.round(e.bytes::pg_catalog.numeric / nullif(e.rows, 0), 1) AS bytes_per_value
  FROM zbxhist.parent_config c
  JOIN pg_catalog.pg_class k ON k.oid = c.parent
  CROSS JOIN LATERAL zbxhist_internal.list_ranges(c.parent) p
  CROSS JOIN LATERAL (SELECT p.is_packed AND EXISTS (SELECT FROM zbxhist.packed_day r
                                                      WHERE r.day = p.relation AND r.runs) AS is_runs) u
  CROSS JOIN LATERAL (SELECT pg_catalog.date_part('epoch', pg_catalog.now()) AS present) t
  CROSS JOIN LATERAL (
       -- of runs, what is known is how many bytes they have
       SELECT CASE WHEN u.is_runs THEN pg_catalog.pg_relation_size(p.relation) / 10
                   WHEN p.is_packed
                   THEN (SELECT CASE WHEN NOT d.unpacked THEN d.nrows ELSE 0 END
                           FROM zbxhist.packed_day d WHERE d.day = p.relation)
                   ELSE zbxhist_internal.estimated_rows(p.relation) END AS rows,
              pg_catalog.pg_total_relation_size(p.relation) AS bytes) e
 ORDER BY c.parent::pg_catalog.text, p.from_clock, p.is_packed;

COMMENT ON VIEW zbxhist.partitions IS
'The partitions and packed days of all managed tables';
COMMENT ON COLUMN zbxhist.partitions.parent IS 'The managed table';
COMMENT ON COLUMN zbxhist.partitions.partition IS 'Its partition, or the table of the packed day';
COMMENT ON COLUMN zbxhist.partitions.kind IS 'How it is stored: heap, an ordinary table; runs, statement by statement; or packed';
COMMENT ON COLUMN zbxhist.partitions.from_clock IS 'First clock of its range';
COMMENT ON COLUMN zbxhist.partitions.to_clock IS 'End of its range: the first clock that is not in it';
COMMENT ON COLUMN zbxhist.partitions.from_time IS 'from_clock as a time';
COMMENT ON COLUMN zbxhist.partitions.to_time IS 'to_clock as a time';
COMMENT ON COLUMN zbxhist.partitions.state IS 'future, current, open: its time has gone by; or packed';
COMMENT ON COLUMN zbxhist.partitions.rows IS 'Number of values, an estimate';
COMMENT ON COLUMN zbxhist.partitions.bytes IS 'Disk space with indexes';
COMMENT ON COLUMN zbxhist.partitions.bytes_per_value IS 'Disk space of one value';

REVOKE ALL ON zbxhist.partitions FROM PUBLIC;
GRANT SELECT ON zbxhist.partitions TO PUBLIC;
