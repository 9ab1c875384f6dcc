-- sql/tables/policy.sql

-- One row per managed table.  The C code reads parent, routing, max_age, max_ahead and
-- out_of_range by name.
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
    retention_action   text NOT NULL DEFAULT 'drop' CHECK (retention_action IN ('drop', 'detach')),
    retention_schema   name,
    time_precision     text NOT NULL DEFAULT '1 ns' CHECK (time_precision IN ('1 ns', '1 us', '1 ms', '1 s')),
    time_precision_after interval NOT NULL DEFAULT '7 days',
    max_age            interval,
    max_ahead          interval,
    out_of_range       text NOT NULL DEFAULT 'drop' CHECK (out_of_range IN ('drop', 'keep')),
    packed_tablespace  name,
    packed_tablespace_after interval NOT NULL DEFAULT '0',
    archive_server     name,
    archive_after      interval,
    auto_analyze       boolean NOT NULL DEFAULT true,
    deleted_until      bigint,
    deleted_by         interval
);

COMMENT ON TABLE zbxhist.parent_config IS
'Managed tables and their policy; change it with zbxhist.create_parent, alter_parent and undo';
COMMENT ON COLUMN zbxhist.parent_config.parent IS 'The managed table';
COMMENT ON COLUMN zbxhist.parent_config.partition_interval IS
'Time range of one partition: whole minutes aligned to 1970-01-01 UTC, or whole calendar months';
COMMENT ON COLUMN zbxhist.parent_config.retention IS
'How long rows are kept; NULL follows the storage period set in Zabbix';
COMMENT ON COLUMN zbxhist.parent_config.premake IS
'Number of partitions kept ahead of the current one; of days, where partitions divide a day';
COMMENT ON COLUMN zbxhist.parent_config.pack_after IS 'Age at which a partition is packed; NULL never packs';
COMMENT ON COLUMN zbxhist.parent_config.move_existing IS
'Whether maintenance also moves rows older than the oldest partition out of the parent';
COMMENT ON COLUMN zbxhist.parent_config.routing IS
'False while an undo is in progress: every new row stays in the parent';
COMMENT ON COLUMN zbxhist.parent_config.created_at IS 'When the table was taken into care';
COMMENT ON COLUMN zbxhist.parent_config.deleted_items IS
'Whether values of items that Zabbix has deleted are left out (drop) when days are packed or written anew, or stay until retention (keep)';
COMMENT ON COLUMN zbxhist.parent_config.retention_action IS
'What becomes of partitions past retention: they are dropped (drop), or become tables of their own (detach)';
COMMENT ON COLUMN zbxhist.parent_config.retention_schema IS
'The schema to which those are moved; NULL: they stay in that of their parent';
COMMENT ON COLUMN zbxhist.parent_config.time_precision IS
'What the nanoseconds of packed values are rounded to; 1 ns: they stay as they are';
COMMENT ON COLUMN zbxhist.parent_config.time_precision_after IS 'Age at which that is done';
COMMENT ON COLUMN zbxhist.parent_config.max_age IS
'Values that are older than this when they come are left out; NULL: none are';
COMMENT ON COLUMN zbxhist.parent_config.max_ahead IS
'Values whose clocks are further ahead than this when they come are left out; NULL: none are';
COMMENT ON COLUMN zbxhist.parent_config.out_of_range IS
'What becomes of these: they are only counted (drop), or kept for a day in zbxhist.left_out (keep)';
COMMENT ON COLUMN zbxhist.parent_config.packed_tablespace IS 'The tablespace of packed days; NULL: that of the parent';
COMMENT ON COLUMN zbxhist.parent_config.packed_tablespace_after IS
'Age at which packed days are moved there; 0: they are created there';
COMMENT ON COLUMN zbxhist.parent_config.archive_server IS
'The server of postgres_fdw on which packed days are archived; NULL: none are';
COMMENT ON COLUMN zbxhist.parent_config.archive_after IS
'Age at which maintenance archives packed days; NULL: it does not';
COMMENT ON COLUMN zbxhist.parent_config.auto_analyze IS
'Whether maintenance has the table and its packed days analyzed when it has packed';
COMMENT ON COLUMN zbxhist.parent_config.deleted_until IS
'Clock below which values may be deleted, by the maintenance that did so last, or because somebody has agreed; NULL: none yet';
COMMENT ON COLUMN zbxhist.parent_config.deleted_by IS 'The retention by which that was';

-- a table dropped since would be dumped as a bare number, which might name
-- another table after the restore
SELECT pg_catalog.pg_extension_config_dump('zbxhist.parent_config',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = parent)');

-- Where setup() was called: tables that a Zabbix upgrade creates there later
-- are taken up by maintenance with the same options.
CREATE TABLE zbxhist.managed_schema (
    schema_name       name NOT NULL PRIMARY KEY,
    history_retention interval,
    trends_retention  interval,
    premake           integer NOT NULL,
    pack_after        interval,
    move_existing     boolean NOT NULL,
    excluded          name[] NOT NULL DEFAULT '{}',
    history_interval  interval NOT NULL,
    max_age           interval,
    max_ahead         interval
);

COMMENT ON TABLE zbxhist.managed_schema IS
'Schemas in which zbxhist.setup() was called, with its options for tables that appear later';
COMMENT ON COLUMN zbxhist.managed_schema.schema_name IS 'The schema';
COMMENT ON COLUMN zbxhist.managed_schema.history_retention IS 'Retention of new history tables; NULL follows Zabbix';
COMMENT ON COLUMN zbxhist.managed_schema.trends_retention IS 'Retention of new trends tables; NULL follows Zabbix';
COMMENT ON COLUMN zbxhist.managed_schema.excluded IS 'Tables that zbxhist.undo() turned back into plain ones';
COMMENT ON COLUMN zbxhist.managed_schema.history_interval IS 'Length of the partitions of new history tables';

SELECT pg_catalog.pg_extension_config_dump('zbxhist.managed_schema', '');
