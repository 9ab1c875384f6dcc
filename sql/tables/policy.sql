-- sql/tables/policy.sql

-- Managed tables and their policy; change it with zbxhist.create_parent, alter_parent and undo.
--
-- One row per managed table.  The C code reads parent, routing, max_age, max_ahead and
-- out_of_range by name.
-- Partitions are not listed here: they are known from pg_inherits and each partition's constraint
-- zbxhist_clock alone.
CREATE TABLE zbxhist.parent_config (
    parent             regclass NOT NULL PRIMARY KEY,  -- the managed table
    -- time range of one partition: whole minutes aligned to 1970-01-01 UTC, or whole calendar months
    partition_interval interval NOT NULL,
    retention          interval,  -- how long rows are kept; NULL follows the storage period set in Zabbix
    -- number of partitions kept ahead of the current one; of days, where partitions divide a day
    premake            integer NOT NULL,
    pack_after         interval,  -- age at which a partition is packed; NULL never packs
    -- whether maintenance also moves rows older than the oldest partition out of the parent
    move_existing      boolean NOT NULL DEFAULT false,
    -- false while an undo is in progress: every new row stays in the parent
    routing            boolean NOT NULL DEFAULT true,
    created_at         timestamptz NOT NULL DEFAULT pg_catalog.now(),  -- when the table became a managed one
    -- whether values of items that Zabbix has deleted are left out (drop) when days are packed or
    -- written anew, or stay until retention (keep)
    deleted_items      text NOT NULL DEFAULT 'keep' CHECK (deleted_items IN ('keep', 'drop')),
    -- what becomes of partitions past retention: they are dropped (drop), or become tables of their
    -- own (detach)
    retention_action   text NOT NULL DEFAULT 'drop' CHECK (retention_action IN ('drop', 'detach')),
    retention_schema   name,  -- the schema to which those are moved; NULL: they stay in that of their parent
    -- what the nanoseconds of packed values are rounded to; 1 ns: they stay as they are
    time_precision     text NOT NULL DEFAULT '1 ns' CHECK (time_precision IN ('1 ns', '1 us', '1 ms', '1 s')),
    time_precision_after interval NOT NULL DEFAULT '7 days',  -- age at which that is done
    max_age            interval,  -- values that are older than this when they come are left out; NULL: none are
    -- values whose clocks are further ahead than this when they come are left out; NULL: none are
    max_ahead          interval,
    -- what becomes of these: they are only counted (drop), or kept for a day in zbxhist.left_out
    -- (keep)
    out_of_range       text NOT NULL DEFAULT 'drop' CHECK (out_of_range IN ('drop', 'keep')),
    packed_tablespace  name,  -- the tablespace of packed days; NULL: that of the parent
    -- age at which packed days are moved there; 0: they are created there
    packed_tablespace_after interval NOT NULL DEFAULT '0',
    archive_server     name,  -- the server of postgres_fdw on which packed days are archived; NULL: none are
    archive_after      interval,  -- age at which maintenance archives packed days; NULL: it does not
    -- whether maintenance has the table and its packed days analyzed when it has packed
    auto_analyze       boolean NOT NULL DEFAULT true,
    -- clock below which values may be deleted, by the maintenance that did so last, or because
    -- somebody has agreed; NULL: none yet
    deleted_until      bigint,
    deleted_by         interval  -- the retention by which that was
);

-- a table dropped since would be dumped as a bare number, which might name
-- another table after the restore
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
    -- clock below which rows may be deleted, by the maintenance that did so last, or because
    -- somebody has agreed; NULL: none yet
    deleted_until      bigint,
    deleted_by         interval  -- the retention by which that was
);

SELECT pg_catalog.pg_extension_config_dump('zbxhist.auditlog_config',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = parent)');

-- Schemas in which zbxhist.setup() was called, with its options for tables that appear later.
--
-- Schemas of which setup() was called: maintenance manages tables that a Zabbix upgrade creates
-- there later with the same options.
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
