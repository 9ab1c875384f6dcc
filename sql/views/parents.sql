-- sql/views/parents.sql

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
       c.ingest,
       c.retention_action,
       c.retention_schema
  FROM zbxhist.parent_config c
  JOIN pg_catalog.pg_class k ON k.oid = c.parent
  CROSS JOIN LATERAL zbxhist_internal.effective_retention(c.parent, c.retention) r
 ORDER BY c.parent::pg_catalog.text;

COMMENT ON VIEW zbxhist.parents IS
'The managed tables, their policy, and the retention that counts';
COMMENT ON COLUMN zbxhist.parents.parent IS 'The managed table';
COMMENT ON COLUMN zbxhist.parents.partition_interval IS 'Time range of one partition';
COMMENT ON COLUMN zbxhist.parents.premake IS 'Number of partitions kept ahead of the current one; of days, where partitions divide a day';
COMMENT ON COLUMN zbxhist.parents.retention IS 'Retention of the policy; NULL follows Zabbix';
COMMENT ON COLUMN zbxhist.parents.effective_retention IS 'The retention that counts; NULL drops nothing';
COMMENT ON COLUMN zbxhist.parents.retention_source IS 'Where that comes from: policy, zabbix: and the setting, or none';
COMMENT ON COLUMN zbxhist.parents.pack_after IS 'Age at which a partition is packed';
COMMENT ON COLUMN zbxhist.parents.move_existing IS 'Whether maintenance moves rows older than the oldest partition, too';
COMMENT ON COLUMN zbxhist.parents.routing IS 'False while an undo is in progress';
COMMENT ON COLUMN zbxhist.parents.created_at IS 'When the table was taken into care';
COMMENT ON COLUMN zbxhist.parents.deleted_items IS 'What becomes of values of items that Zabbix has deleted when days are packed: keep or drop';
COMMENT ON COLUMN zbxhist.parents.ingest IS 'What takes new values: heap, ordinary partitions, or runs';
COMMENT ON COLUMN zbxhist.parents.retention_action IS 'What becomes of partitions past retention: drop, or detach, which makes tables of their own of them';
COMMENT ON COLUMN zbxhist.parents.retention_schema IS 'The schema to which these are moved; NULL: they stay in that of their parent';

REVOKE ALL ON zbxhist.parents FROM PUBLIC;
GRANT SELECT ON zbxhist.parents TO PUBLIC;
