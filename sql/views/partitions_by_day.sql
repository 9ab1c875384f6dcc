-- sql/views/partitions_by_day.sql

CREATE VIEW zbxhist.partitions_by_day AS
SELECT p.parent,
       pg_catalog.min(p.from_time) AS from_time,
       pg_catalog.max(p.to_time) AS to_time,
       pg_catalog.count(*) FILTER (WHERE p.state = 'future') AS future,
       pg_catalog.count(*) FILTER (WHERE p.state IN ('current', 'open')) AS heap,
       pg_catalog.count(*) FILTER (WHERE p.state = 'packed') AS packed,
       pg_catalog.sum(p.rows)::bigint AS rows,
       pg_catalog.sum(p.bytes)::bigint AS bytes,
       pg_catalog.round(pg_catalog.sum(p.bytes) / nullif(pg_catalog.sum(p.rows), 0), 1) AS bytes_per_value
  FROM zbxhist.partitions p
 GROUP BY p.parent, pg_catalog.floor(p.from_clock::pg_catalog.numeric / 86400)
 ORDER BY p.parent::pg_catalog.text, pg_catalog.min(p.from_clock);

COMMENT ON VIEW zbxhist.partitions_by_day IS
'The partitions and packed days of all managed tables, a row for all that begin on one day (UTC)';
COMMENT ON COLUMN zbxhist.partitions_by_day.parent IS 'The managed table';
COMMENT ON COLUMN zbxhist.partitions_by_day.from_time IS 'Begin of the first';
COMMENT ON COLUMN zbxhist.partitions_by_day.to_time IS 'End of the last';
COMMENT ON COLUMN zbxhist.partitions_by_day.future IS 'Number of partitions of the future';
COMMENT ON COLUMN zbxhist.partitions_by_day.heap IS 'Number of the other ordinary tables';
COMMENT ON COLUMN zbxhist.partitions_by_day.packed IS 'Number of packed tables';
COMMENT ON COLUMN zbxhist.partitions_by_day.rows IS 'Number of values, an estimate';
COMMENT ON COLUMN zbxhist.partitions_by_day.bytes IS 'Disk space with indexes';
COMMENT ON COLUMN zbxhist.partitions_by_day.bytes_per_value IS 'Disk space of one value';

REVOKE ALL ON zbxhist.partitions_by_day FROM PUBLIC;
GRANT SELECT ON zbxhist.partitions_by_day TO PUBLIC;
