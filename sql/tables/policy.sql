-- sql/tables/policy.sql

-- Managed tables and their policy; change it with zbxhist.create_parent, alter_parent and undo.
--
-- One row per managed table.  The C code reads parent, routing, max_age, max_ahead and out_of_range by
-- name.  Partitions are not listed in any table: pg_inherits and the constraint zbxhist_clock of each
-- partition say which there are.
CREATE TABLE zbxhist.parent_config (
    parent             regclass NOT NULL PRIMARY KEY,  -- the managed table
    -- time range of one partition: whole minutes aligned to 1970-01-01 UTC, or whole calendar months
    partition_interval interval NOT NULL,
    retention          interval,  -- how long rows are kept; NULL follows the storage period set in Zabbix
    -- number of partitions kept ahead of the current one; of days, where partitions divide a day
    premake            integer NOT NULL,
    pack_after         interval,  -- age at which a partition is packed; NULL: it is never packed
    -- whether maintenance also moves rows older than the oldest partition out of the parent
    move_existing      boolean NOT NULL DEFAULT false,
    -- false while an undo is in progress: every new row stays in the parent
    routing            boolean NOT NULL DEFAULT true,
    created_at         timestamptz NOT NULL DEFAULT pg_catalog.now(),  -- since when the table is managed
    -- whether values of items that Zabbix has deleted are removed (drop) when a day is packed or
    -- rewritten, or stay until retention (keep)
    deleted_items      text NOT NULL DEFAULT 'keep' CHECK (deleted_items IN ('keep', 'drop')),
    -- whether partitions past retention are dropped (drop), or become independent tables (detach)
    retention_action   text NOT NULL DEFAULT 'drop' CHECK (retention_action IN ('drop', 'detach')),
    retention_schema   name,  -- the schema of detached tables; NULL: that of the parent
    -- precision to which times of packed values are rounded; 1 ns: they are not
    time_precision     text NOT NULL DEFAULT '1 ns' CHECK (time_precision IN ('1 ns', '1 us', '1 ms', '1 s')),
    time_precision_after interval NOT NULL DEFAULT '7 days',  -- age at which they are rounded
    max_age            interval,  -- values that are older when they arrive are left out; NULL: none are
    -- values whose clocks are further in the future when they arrive are left out; NULL: none are
    max_ahead          interval,
    -- whether values left out are only counted (drop), or kept for a day in zbxhist.left_out (keep)
    out_of_range       text NOT NULL DEFAULT 'drop' CHECK (out_of_range IN ('drop', 'keep')),
    packed_tablespace  name,  -- the tablespace of packed days; NULL: that of the parent
    -- age at which packed days are moved there; 0: they are created there
    packed_tablespace_after interval NOT NULL DEFAULT '0',
    archive_server     name,  -- the postgres_fdw server on which packed days are archived; NULL: none are
    archive_after      interval,  -- age at which maintenance archives packed days; NULL: it does not
    -- whether maintenance analyzes the table and its packed days after packing
    auto_analyze       boolean NOT NULL DEFAULT true,
    -- values with lower clocks may be deleted: maintenance already deleted up to here, or somebody
    -- agreed to it; NULL: nothing was deleted yet
    deleted_until      bigint,
    deleted_by         interval  -- the retention that applied then
);

-- pg_dump would write a dropped table as a bare number, which might be another table's after the
-- restore
SELECT pg_catalog.pg_extension_config_dump('zbxhist.parent_config',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = parent)');

-- Audit logs of Zabbix that are partitioned, and their policy; change it with
-- zbxhist.partition_auditlog and undo.
CREATE TABLE zbxhist.auditlog_config (
    parent             regclass NOT NULL PRIMARY KEY,  -- the audit log
    -- time range of one partition: whole days aligned to 1970-01-01 UTC, or whole calendar months
    partition_interval interval NOT NULL,
    -- how long rows are kept; NULL follows the storage period of the audit log set in Zabbix
    retention          interval,
    premake            integer NOT NULL,  -- number of partitions kept ahead of the current one
    created_at         timestamptz NOT NULL DEFAULT pg_catalog.now(),  -- when it was partitioned
    -- rows with lower clocks may be deleted: maintenance already deleted up to here, or somebody
    -- agreed to it; NULL: nothing was deleted yet
    deleted_until      bigint,
    deleted_by         interval  -- the retention that applied then
);

SELECT pg_catalog.pg_extension_config_dump('zbxhist.auditlog_config',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = parent)');

-- Schemas in which zbxhist.setup() was called, with its options for tables that appear later.
--
-- If an upgrade of Zabbix creates a table there, maintenance manages it with these options.
CREATE TABLE zbxhist.managed_schema (
    schema_name       name NOT NULL PRIMARY KEY,  -- the schema
    history_retention interval,  -- retention of new history tables; NULL follows Zabbix
    trends_retention  interval,  -- retention of new trends tables; NULL follows Zabbix
    premake           integer NOT NULL,
    pack_after        interval,
    move_existing     boolean NOT NULL,
    excluded          name[] NOT NULL DEFAULT '{}',  -- tables that zbxhist.undo() turned back into plain ones
    history_interval  interval NOT NULL,  -- length of the partitions of new history tables
    max_age           interval,
    max_ahead         interval
);

SELECT pg_catalog.pg_extension_config_dump('zbxhist.managed_schema', '');
