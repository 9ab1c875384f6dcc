-- sql/views/maintenance_by_day.sql

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

COMMENT ON VIEW zbxhist.maintenance_by_day IS
'The log of maintenance, a row for each day (UTC), table and action';
COMMENT ON COLUMN zbxhist.maintenance_by_day.day IS 'Begin of the day';
COMMENT ON COLUMN zbxhist.maintenance_by_day.parent IS 'The managed table';
COMMENT ON COLUMN zbxhist.maintenance_by_day.action IS 'What was done, as in maintenance_log';
COMMENT ON COLUMN zbxhist.maintenance_by_day.times IS 'How often it was done';
COMMENT ON COLUMN zbxhist.maintenance_by_day.in_vain IS 'How often it failed, or had no lock in time';
COMMENT ON COLUMN zbxhist.maintenance_by_day.rows IS 'Rows of all';
COMMENT ON COLUMN zbxhist.maintenance_by_day.bytes IS 'Bytes of all';
COMMENT ON COLUMN zbxhist.maintenance_by_day.duration IS 'Duration of all';
COMMENT ON COLUMN zbxhist.maintenance_by_day.longest_lock_wait IS 'The longest wait for a lock';
COMMENT ON COLUMN zbxhist.maintenance_by_day.last_problem IS 'Why it was last in vain';

REVOKE ALL ON zbxhist.maintenance_by_day FROM PUBLIC;
GRANT SELECT ON zbxhist.maintenance_by_day TO pg_monitor;
GRANT SELECT ON zbxhist.maintenance_by_day TO pg_database_owner;
