-- sql/tables/parent_config.sql
--
-- One row per managed table.  The C code reads (parent, routing) by name.
-- Which partitions there are is not written here: pg_inherits and each
-- partition's constraint zbxhist_clock are the only truth about that.

CREATE TABLE zbxhist.parent_config (
    parent             regclass NOT NULL PRIMARY KEY,
    partition_interval interval NOT NULL,
    retention          interval,
    premake            integer NOT NULL,
    pack_after         interval,
    move_existing      boolean NOT NULL DEFAULT false,
    routing            boolean NOT NULL DEFAULT true,
    created_at         timestamptz NOT NULL DEFAULT pg_catalog.now(),
    deleted_items      text NOT NULL DEFAULT 'keep' CHECK (deleted_items IN ('keep', 'drop')),
    ingest             text NOT NULL DEFAULT 'heap' CHECK (ingest IN ('heap', 'runs')),
    retention_action   text NOT NULL DEFAULT 'drop' CHECK (retention_action IN ('drop', 'detach')),
    retention_schema   name
);

COMMENT ON TABLE zbxhist.parent_config IS
'Managed tables and their policy; change it with zbxhist.create_parent, alter_parent and undo';
COMMENT ON COLUMN zbxhist.parent_config.parent IS
'The managed table';
COMMENT ON COLUMN zbxhist.parent_config.partition_interval IS
'Time range of one partition: whole minutes aligned to 1970-01-01 UTC, or whole calendar months';
COMMENT ON COLUMN zbxhist.parent_config.retention IS
'How long rows are kept; NULL follows the storage period set in Zabbix';
COMMENT ON COLUMN zbxhist.parent_config.premake IS
'Number of partitions kept ahead of the current one; of days, where partitions divide a day';
COMMENT ON COLUMN zbxhist.parent_config.pack_after IS
'Age at which a partition is packed; NULL never packs';
COMMENT ON COLUMN zbxhist.parent_config.move_existing IS
'Whether maintenance also moves rows older than the oldest partition out of the parent';
COMMENT ON COLUMN zbxhist.parent_config.routing IS
'False while an undo is in progress: every new row stays in the parent';
COMMENT ON COLUMN zbxhist.parent_config.created_at IS
'When the table was taken into care';
COMMENT ON COLUMN zbxhist.parent_config.deleted_items IS
'Whether values of items that Zabbix has deleted are left out (drop) when days are packed or written anew, or stay until retention (keep)';
COMMENT ON COLUMN zbxhist.parent_config.ingest IS
'What new partitions shorter than a day are: ordinary tables (heap), or tables of runs (runs)';
COMMENT ON COLUMN zbxhist.parent_config.retention_action IS
'What becomes of partitions past retention: they are dropped (drop), or become tables of their own (detach)';
COMMENT ON COLUMN zbxhist.parent_config.retention_schema IS
'The schema to which those are moved; NULL: they stay in that of their parent';

-- a table dropped since would be dumped as a bare number, which might name
-- another table after the restore
SELECT pg_catalog.pg_extension_config_dump('zbxhist.parent_config',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = parent)');

REVOKE ALL ON zbxhist.parent_config FROM PUBLIC;
GRANT SELECT ON zbxhist.parent_config TO PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON zbxhist.parent_config TO pg_database_owner;
