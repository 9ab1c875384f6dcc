-- sql/schema/zbxhist.sql
\echo Use "CREATE EXTENSION zbxhist" to load this file. \quit

COMMENT ON SCHEMA zbxhist IS
'zbxhist: partitioning and fast ingest for the Zabbix history and trends tables';
GRANT USAGE ON SCHEMA zbxhist TO PUBLIC;
-- sql/schema/zbxhist_packed.sql
--
-- The tables of packed days are in here; they are no members of the
-- extension, so pg_dump takes them along.

CREATE SCHEMA zbxhist_packed AUTHORIZATION pg_database_owner;

COMMENT ON SCHEMA zbxhist_packed IS
'zbxhist: the tables of packed days';
GRANT USAGE ON SCHEMA zbxhist_packed TO PUBLIC;
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
    created_at         timestamptz NOT NULL DEFAULT pg_catalog.now()
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
'Number of partitions kept ahead of the current one';
COMMENT ON COLUMN zbxhist.parent_config.pack_after IS
'Age at which a partition is packed; NULL never packs';
COMMENT ON COLUMN zbxhist.parent_config.move_existing IS
'Whether maintenance also moves rows older than the oldest partition out of the parent';
COMMENT ON COLUMN zbxhist.parent_config.routing IS
'False while an undo is in progress: every new row stays in the parent';
COMMENT ON COLUMN zbxhist.parent_config.created_at IS
'When the table was taken into care';

-- a table dropped since would be dumped as a bare number, which might name
-- another table after the restore
SELECT pg_catalog.pg_extension_config_dump('zbxhist.parent_config',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = parent)');

REVOKE ALL ON zbxhist.parent_config FROM PUBLIC;
GRANT SELECT ON zbxhist.parent_config TO PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON zbxhist.parent_config TO pg_database_owner;
-- sql/tables/parent_state.sql
--
-- What maintenance remembers of each parent.  Not dumped: it is about this
-- server, and it is written anew by the next run.

CREATE TABLE zbxhist.parent_state (
    parent          regclass NOT NULL PRIMARY KEY,
    last_run        timestamptz,
    last_success    timestamptz,
    last_error      text,
    last_error_at   timestamptz,
    failed          boolean NOT NULL DEFAULT false,
    duplicates      bigint NOT NULL DEFAULT 0,
    last_move       xid8,
    settling        text[],
    extended_to     bigint,
    action          text,
    relation        text,
    action_pid      integer,
    action_started  timestamptz,
    first_itemid    bigint,
    final_itemid    bigint,
    position_itemid bigint,
    action_rows     bigint NOT NULL DEFAULT 0,
    action_percent  numeric(4, 1),
    verifying       boolean NOT NULL DEFAULT false,
    packed_table    regclass,
    packed_settling text[],
    merged_at       timestamptz
);

COMMENT ON TABLE zbxhist.parent_state IS
'What maintenance remembers of each managed table between two steps (see the views status and progress)';
COMMENT ON COLUMN zbxhist.parent_state.parent IS 'The managed table';
COMMENT ON COLUMN zbxhist.parent_state.last_run IS 'When maintenance last came to the end for this table';
COMMENT ON COLUMN zbxhist.parent_state.last_success IS 'When it last did so without an error';
COMMENT ON COLUMN zbxhist.parent_state.last_error IS 'The last error';
COMMENT ON COLUMN zbxhist.parent_state.last_error_at IS 'When that was';
COMMENT ON COLUMN zbxhist.parent_state.failed IS 'Whether a step has failed since the present run began';
COMMENT ON COLUMN zbxhist.parent_state.duplicates IS 'Rows left in the parent because a different row with their key is in the partition, or too many of their item and second in the packed day';
COMMENT ON COLUMN zbxhist.parent_state.last_move IS 'Transaction that last moved rows';
COMMENT ON COLUMN zbxhist.parent_state.settling IS 'Transactions that ran when the parent was first found empty and may still need its old rows';
COMMENT ON COLUMN zbxhist.parent_state.extended_to IS 'How far down this run has created partitions for existing rows';
COMMENT ON COLUMN zbxhist.parent_state.action IS 'Batched action under way';
COMMENT ON COLUMN zbxhist.parent_state.relation IS 'Partition it works on';
COMMENT ON COLUMN zbxhist.parent_state.action_pid IS 'Server process that does it';
COMMENT ON COLUMN zbxhist.parent_state.action_started IS 'When it began';
COMMENT ON COLUMN zbxhist.parent_state.first_itemid IS 'The first item there was when it began';
COMMENT ON COLUMN zbxhist.parent_state.final_itemid IS 'The last item there was';
COMMENT ON COLUMN zbxhist.parent_state.position_itemid IS 'The last item done';
COMMENT ON COLUMN zbxhist.parent_state.action_rows IS 'Rows done';
COMMENT ON COLUMN zbxhist.parent_state.action_percent IS 'Per cent done, judged by the item reached';
COMMENT ON COLUMN zbxhist.parent_state.verifying IS 'Whether marks of strays have been removed for a look through the parent that is not over yet';
COMMENT ON COLUMN zbxhist.parent_state.packed_table IS 'The foreign table that stands for packed days, when it was first seen here';
COMMENT ON COLUMN zbxhist.parent_state.packed_settling IS 'Transactions that ran then and may not know of it';
COMMENT ON COLUMN zbxhist.parent_state.merged_at IS 'When it was last looked for rows of packed days';

REVOKE ALL ON zbxhist.parent_state FROM PUBLIC;
GRANT SELECT ON zbxhist.parent_state TO PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON zbxhist.parent_state TO pg_database_owner;
-- sql/tables/managed_schema.sql
--
-- Where setup() was called: tables that a Zabbix upgrade creates there later
-- are taken up by maintenance with the same options.

CREATE TABLE zbxhist.managed_schema (
    schema_name       name NOT NULL PRIMARY KEY,
    history_retention interval,
    trends_retention  interval,
    premake           integer NOT NULL,
    pack_after        interval,
    move_existing     boolean NOT NULL,
    excluded          name[] NOT NULL DEFAULT '{}'
);

COMMENT ON TABLE zbxhist.managed_schema IS
'Schemas in which zbxhist.setup() was called, with its options for tables that appear later';
COMMENT ON COLUMN zbxhist.managed_schema.schema_name IS 'The schema';
COMMENT ON COLUMN zbxhist.managed_schema.history_retention IS 'Retention of new history tables; NULL follows Zabbix';
COMMENT ON COLUMN zbxhist.managed_schema.trends_retention IS 'Retention of new trends tables; NULL follows Zabbix';
COMMENT ON COLUMN zbxhist.managed_schema.premake IS 'Number of partitions kept ahead';
COMMENT ON COLUMN zbxhist.managed_schema.pack_after IS 'Age at which a partition is packed';
COMMENT ON COLUMN zbxhist.managed_schema.move_existing IS 'Whether existing rows are moved';
COMMENT ON COLUMN zbxhist.managed_schema.excluded IS 'Tables that zbxhist.undo() turned back into plain ones';

SELECT pg_catalog.pg_extension_config_dump('zbxhist.managed_schema', '');

REVOKE ALL ON zbxhist.managed_schema FROM PUBLIC;
GRANT SELECT ON zbxhist.managed_schema TO PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON zbxhist.managed_schema TO pg_database_owner;
-- sql/tables/maintenance_log.sql

CREATE TABLE zbxhist.maintenance_log (
    id         bigint NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    started_at timestamptz NOT NULL,
    parent     regclass,
    action     text NOT NULL,
    relation   text,
    rows       bigint,
    bytes      bigint,
    duration   interval NOT NULL,
    lock_wait  interval,
    sqlstate   text,
    message    text
);

CREATE INDEX ON zbxhist.maintenance_log (started_at);

COMMENT ON TABLE zbxhist.maintenance_log IS
'Every action of maintenance, kept for 30 days';
COMMENT ON COLUMN zbxhist.maintenance_log.id IS 'Number of the entry';
COMMENT ON COLUMN zbxhist.maintenance_log.started_at IS 'When the action began';
COMMENT ON COLUMN zbxhist.maintenance_log.parent IS 'The managed table';
COMMENT ON COLUMN zbxhist.maintenance_log.action IS 'What was done: take_up, premake, move, extend, drop, expire, truncate, undo, ...';
COMMENT ON COLUMN zbxhist.maintenance_log.relation IS 'The partition, if it was about one';
COMMENT ON COLUMN zbxhist.maintenance_log.rows IS 'Rows moved, deleted or dropped (an estimate for dropped ones)';
COMMENT ON COLUMN zbxhist.maintenance_log.bytes IS 'Disk space freed';
COMMENT ON COLUMN zbxhist.maintenance_log.duration IS 'How long the action took, lock waits included';
COMMENT ON COLUMN zbxhist.maintenance_log.lock_wait IS 'How long it waited for locks that stop writers or readers';
COMMENT ON COLUMN zbxhist.maintenance_log.sqlstate IS 'SQLSTATE if it failed';
COMMENT ON COLUMN zbxhist.maintenance_log.message IS 'Error message or remark';

REVOKE ALL ON zbxhist.maintenance_log FROM PUBLIC;
GRANT SELECT ON zbxhist.maintenance_log TO pg_monitor;
GRANT SELECT, INSERT, DELETE ON zbxhist.maintenance_log TO pg_database_owner;
-- sql/tables/partition_state.sql
--
-- Read by the C code (parent, partition, verified), see src/ingest/stray.c.
-- Not dumped: it is about this server, and the next runs write it anew.

CREATE TABLE zbxhist.partition_state (
    partition    regclass NOT NULL PRIMARY KEY,
    parent       regclass NOT NULL,
    settling     text[],
    verified     xid,
    not_packable text
);

COMMENT ON TABLE zbxhist.partition_state IS
'What maintenance knows of partitions: whether rows of theirs are in the parent, so that inserts have to look there for a key, and why one cannot be packed';
COMMENT ON COLUMN zbxhist.partition_state.partition IS 'The partition';
COMMENT ON COLUMN zbxhist.partition_state.parent IS 'The managed table';
COMMENT ON COLUMN zbxhist.partition_state.settling IS
'Transactions that ran when the partition was first seen and may not know of it';
COMMENT ON COLUMN zbxhist.partition_state.verified IS
'Version of the routing trigger under which the parent was found to have no rows of the partition; NULL: not yet';
COMMENT ON COLUMN zbxhist.partition_state.not_packable IS
'Why its rows cannot be packed, found when it was tried';

REVOKE ALL ON zbxhist.partition_state FROM PUBLIC;
GRANT SELECT ON zbxhist.partition_state TO PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON zbxhist.partition_state TO pg_database_owner;
-- sql/tables/stray_mark.sql
--
-- Written by the C code for whoever inserts, see src/ingest/stray.c; it has
-- one column for that reason.

CREATE TABLE zbxhist.stray_mark (
    parent regclass NOT NULL
);

COMMENT ON TABLE zbxhist.stray_mark IS
'Managed tables in which a row has been stored that belongs to a partition, since maintenance last looked';
COMMENT ON COLUMN zbxhist.stray_mark.parent IS 'The managed table';

REVOKE ALL ON zbxhist.stray_mark FROM PUBLIC;
GRANT SELECT ON zbxhist.stray_mark TO PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON zbxhist.stray_mark TO pg_database_owner;
-- sql/tables/packed_day.sql
--
-- Which packed days there are.  Unlike partitions they are listed here: to
-- read the constraints of a year of days takes a new connection longer than a
-- query.  The C code reads (parent, day, from_clock, to_clock, nrows,
-- partition, unpacked) by name, and the index by its name.

CREATE TABLE zbxhist.packed_day (
    parent     regclass NOT NULL,
    day        regclass NOT NULL PRIMARY KEY,
    from_clock bigint NOT NULL,
    to_clock   bigint NOT NULL,
    nrows      bigint NOT NULL,
    heap_bytes bigint,
    packed_at  timestamptz NOT NULL DEFAULT pg_catalog.now(),
    partition  regclass,
    unpacked   boolean NOT NULL DEFAULT false,
    settling   text[],
    changed    xid8
);

CREATE INDEX packed_day_parent ON zbxhist.packed_day (parent, from_clock);

COMMENT ON TABLE zbxhist.packed_day IS
'The packed days of all managed tables';
COMMENT ON COLUMN zbxhist.packed_day.parent IS 'The managed table';
COMMENT ON COLUMN zbxhist.packed_day.day IS 'The table in schema zbxhist_packed that holds the day';
COMMENT ON COLUMN zbxhist.packed_day.from_clock IS 'First clock of the day';
COMMENT ON COLUMN zbxhist.packed_day.to_clock IS 'End of the day: the first clock that is not in it';
COMMENT ON COLUMN zbxhist.packed_day.nrows IS 'Number of values, less what maintenance has yet to hear was deleted';
COMMENT ON COLUMN zbxhist.packed_day.heap_bytes IS 'Disk space, with indexes, of the partition that it was';
COMMENT ON COLUMN zbxhist.packed_day.packed_at IS 'When it was packed';
COMMENT ON COLUMN zbxhist.packed_day.partition IS 'The partition that it is being unpacked to';
COMMENT ON COLUMN zbxhist.packed_day.unpacked IS 'Whether its values are in that partition already, and here only for older transactions';
COMMENT ON COLUMN zbxhist.packed_day.settling IS 'Transactions that ran at the last step of that and may not know of it';
COMMENT ON COLUMN zbxhist.packed_day.changed IS 'Transaction that brought the values there';

-- a table dropped since would be dumped as a bare number
SELECT pg_catalog.pg_extension_config_dump('zbxhist.packed_day',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = parent)'
    ' AND EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = day)');

REVOKE ALL ON zbxhist.packed_day FROM PUBLIC;
GRANT SELECT ON zbxhist.packed_day TO PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON zbxhist.packed_day TO pg_database_owner;
-- sql/tables/packed_change.sql
--
-- Written by the C code for whoever changes packed rows, see
-- src/packed/day_conflicts.c, which knows its columns and their order.

CREATE TABLE zbxhist.packed_change (
    day     regclass NOT NULL,
    removed bigint NOT NULL
);

COMMENT ON TABLE zbxhist.packed_change IS
'Changes of packed days since maintenance last looked';
COMMENT ON COLUMN zbxhist.packed_change.day IS 'The packed day';
COMMENT ON COLUMN zbxhist.packed_change.removed IS 'Number of values that were deleted';

REVOKE ALL ON zbxhist.packed_change FROM PUBLIC;
GRANT SELECT ON zbxhist.packed_change TO PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON zbxhist.packed_change TO pg_database_owner;
-- sql/foreign/fdw_handler.sql

CREATE FUNCTION zbxhist.fdw_handler()
RETURNS fdw_handler
LANGUAGE c VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_fdw_handler';

COMMENT ON FUNCTION zbxhist.fdw_handler() IS
'Handler of the foreign-data wrapper that reads packed days (internal)';

REVOKE ALL ON FUNCTION zbxhist.fdw_handler() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.fdw_handler() TO pg_database_owner;
-- sql/foreign/fdw_validator.sql

CREATE FUNCTION zbxhist.fdw_validator(options text[], catalog oid)
RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_fdw_validator';

COMMENT ON FUNCTION zbxhist.fdw_validator(text[], oid) IS
'Validator of the options of foreign tables that stand for packed days (internal)';

REVOKE ALL ON FUNCTION zbxhist.fdw_validator(text[], oid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.fdw_validator(text[], oid) TO pg_database_owner;
-- sql/foreign/zbxhist.sql
--
-- A managed table has one foreign table as a child, which stands for all of
-- its packed days.

CREATE FOREIGN DATA WRAPPER zbxhist
    HANDLER zbxhist.fdw_handler
    VALIDATOR zbxhist.fdw_validator;

COMMENT ON FOREIGN DATA WRAPPER zbxhist IS
'zbxhist: reads packed days';

CREATE SERVER zbxhist FOREIGN DATA WRAPPER zbxhist;

COMMENT ON SERVER zbxhist IS
'zbxhist: the packed days of this database';
REVOKE ALL ON FOREIGN SERVER zbxhist FROM PUBLIC;
GRANT USAGE ON FOREIGN SERVER zbxhist TO pg_database_owner;
-- sql/functions/route.sql

CREATE FUNCTION zbxhist.route()
RETURNS trigger
LANGUAGE c VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_route';

COMMENT ON FUNCTION zbxhist.route() IS
'Trigger function of the managed tables: sends each new row to the partition of its clock';

REVOKE ALL ON FUNCTION zbxhist.route() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.route() TO pg_database_owner;
-- sql/functions/version.sql

CREATE FUNCTION zbxhist.version()
RETURNS text
LANGUAGE c STABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_version';

COMMENT ON FUNCTION zbxhist.version() IS
'Version of the loaded library';

REVOKE ALL ON FUNCTION zbxhist.version() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.version() TO PUBLIC;
-- sql/functions/is_preloaded.sql

CREATE FUNCTION zbxhist.is_preloaded()
RETURNS boolean
LANGUAGE c STABLE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'zbxhist_is_preloaded';

COMMENT ON FUNCTION zbxhist.is_preloaded() IS
'Whether the library was loaded before the first statement of the session (internal)';

REVOKE ALL ON FUNCTION zbxhist.is_preloaded() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.is_preloaded() TO PUBLIC;
-- sql/functions/is_shared.sql

CREATE FUNCTION zbxhist.is_shared()
RETURNS boolean
LANGUAGE c STABLE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'zbxhist_is_shared';

COMMENT ON FUNCTION zbxhist.is_shared() IS
'Whether shared_preload_libraries names the library, so that all sessions have it (internal)';

REVOKE ALL ON FUNCTION zbxhist.is_shared() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.is_shared() TO PUBLIC;
-- sql/functions/partition_bounds.sql

CREATE FUNCTION zbxhist.partition_bounds(
    partition regclass,
    OUT from_clock bigint,
    OUT to_clock bigint)
LANGUAGE c STABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_partition_bounds';

COMMENT ON FUNCTION zbxhist.partition_bounds(regclass) IS
'Clock range of a partition, from included, to excluded, as its constraint zbxhist_clock says; NULLs if it has none';

REVOKE ALL ON FUNCTION zbxhist.partition_bounds(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.partition_bounds(regclass) TO PUBLIC;
-- sql/functions/list_partitions.sql

CREATE FUNCTION zbxhist.list_partitions(parent regclass)
RETURNS TABLE (partition regclass, from_clock bigint, to_clock bigint)
LANGUAGE c STABLE STRICT PARALLEL SAFE ROWS 30
AS 'MODULE_PATHNAME', 'zbxhist_list_partitions';

COMMENT ON FUNCTION zbxhist.list_partitions(regclass) IS
'The partitions of a managed table with their clock ranges, oldest first';

REVOKE ALL ON FUNCTION zbxhist.list_partitions(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.list_partitions(regclass) TO PUBLIC;
-- sql/functions/invalidate.sql

CREATE FUNCTION zbxhist.invalidate(parent regclass)
RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_invalidate';

COMMENT ON FUNCTION zbxhist.invalidate(regclass) IS
'Makes every session read the partitions and the configuration of a managed table anew (internal)';

REVOKE ALL ON FUNCTION zbxhist.invalidate(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.invalidate(regclass) TO pg_database_owner;
-- sql/functions/move_rows.sql

CREATE FUNCTION zbxhist.move_rows(
    source regclass,
    target regclass,
    from_clock bigint,
    to_clock bigint,
    after_itemid bigint,
    max_rows integer,
    OUT moved bigint,
    OUT duplicates bigint,
    OUT last_itemid bigint,
    OUT done boolean)
LANGUAGE c VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_move_rows';

COMMENT ON FUNCTION zbxhist.move_rows(regclass, regclass, bigint, bigint, bigint, integer) IS
'Moves one batch of rows between a managed table and its partition, in the order of itemid (internal)';

REVOKE ALL ON FUNCTION zbxhist.move_rows(regclass, regclass, bigint, bigint, bigint, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.move_rows(regclass, regclass, bigint, bigint, bigint, integer) TO pg_database_owner;
-- sql/functions/merge_rows.sql

CREATE FUNCTION zbxhist.merge_rows(
    parent regclass,
    day regclass,
    from_clock bigint,
    to_clock bigint,
    max_rows integer,
    OUT merged bigint,
    OUT duplicates bigint,
    OUT done boolean)
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_merge_rows';

COMMENT ON FUNCTION zbxhist.merge_rows(regclass, regclass, bigint, bigint, integer) IS
'Moves rows of a parent alone that have these clocks into their packed day; those whose key the day has with other values, or that are too many of one item and second, stay (internal)';

REVOKE ALL ON FUNCTION zbxhist.merge_rows(regclass, regclass, bigint, bigint, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.merge_rows(regclass, regclass, bigint, bigint, integer) TO pg_database_owner;
-- sql/functions/pack_rows.sql

CREATE FUNCTION zbxhist.pack_rows(
    partition regclass,
    day regclass,
    OUT rows bigint,
    OUT bytes bigint)
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_pack_rows';

COMMENT ON FUNCTION zbxhist.pack_rows(regclass, regclass) IS
'Writes the rows of a partition into the table of a packed day that was created in the same transaction; 55000 while some transactions see other rows than others (internal)';

REVOKE ALL ON FUNCTION zbxhist.pack_rows(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.pack_rows(regclass, regclass) TO pg_database_owner;
-- sql/functions/unpack_rows.sql

CREATE FUNCTION zbxhist.unpack_rows(day regclass, partition regclass)
RETURNS bigint
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_unpack_rows';

COMMENT ON FUNCTION zbxhist.unpack_rows(regclass, regclass) IS
'Moves all rows of a packed day into a partition and returns their number (internal)';

REVOKE ALL ON FUNCTION zbxhist.unpack_rows(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.unpack_rows(regclass, regclass) TO pg_database_owner;
-- sql/functions/verify_day.sql

CREATE FUNCTION zbxhist.verify_day(day regclass)
RETURNS TABLE (itemid bigint, clock integer, problem text)
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE ROWS 10
AS 'MODULE_PATHNAME', 'zbxhist_verify_day';

COMMENT ON FUNCTION zbxhist.verify_day(regclass) IS
'What is damaged in the table of a packed day: all checksums, values and statistics are looked at (internal)';

REVOKE ALL ON FUNCTION zbxhist.verify_day(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.verify_day(regclass) TO pg_database_owner;
-- sql/functions/counters.sql

CREATE FUNCTION zbxhist.counters()
RETURNS TABLE (parent oid, values_routed bigint, values_kept bigint, batches bigint, values_fast bigint)
LANGUAGE c VOLATILE PARALLEL SAFE ROWS 10
AS 'MODULE_PATHNAME', 'zbxhist_counters';

COMMENT ON FUNCTION zbxhist.counters() IS
'Values sent to partitions, values kept in the parent, batches, and values planned as fast inserts, since the server started; no rows if the server has no shared memory for it';

REVOKE ALL ON FUNCTION zbxhist.counters() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.counters() TO PUBLIC;
-- sql/functions/insert_paths.sql

CREATE FUNCTION zbxhist.insert_paths()
RETURNS TABLE (parent oid, path text, statements bigint, values_stored bigint)
LANGUAGE c VOLATILE PARALLEL SAFE ROWS 10
AS 'MODULE_PATHNAME', 'zbxhist_insert_paths';

COMMENT ON FUNCTION zbxhist.insert_paths() IS
'Statements and their values since the server started, by the way they took: "fast", without planner and trigger, or what kept them from it: column, copy, expression, function, not_loaded, on_conflict, query, replication, returning, row_security, rule, setting, trigger, view, with, other; no rows if the server has no shared memory for it';

REVOKE ALL ON FUNCTION zbxhist.insert_paths() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.insert_paths() TO PUBLIC;
-- sql/functions/lock_strays.sql

CREATE FUNCTION zbxhist.lock_strays(parent regclass)
RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_lock_strays';

COMMENT ON FUNCTION zbxhist.lock_strays(regclass) IS
'Until the end of the transaction, lets nobody store a row in a managed table that belongs to one of its partitions; waits for those who are doing so (internal)';

REVOKE ALL ON FUNCTION zbxhist.lock_strays(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.lock_strays(regclass) TO pg_database_owner;
-- sql/functions/packed_table.sql

CREATE FUNCTION zbxhist.packed_table(parent regclass)
RETURNS regclass
LANGUAGE c STABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_packed_table';

COMMENT ON FUNCTION zbxhist.packed_table(regclass) IS
'The foreign table that stands for a managed table''s packed days; NULL if there is none (internal)';

REVOKE ALL ON FUNCTION zbxhist.packed_table(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.packed_table(regclass) TO PUBLIC;
-- sql/functions/why_not_packable.sql

CREATE FUNCTION zbxhist.why_not_packable(relation regclass)
RETURNS text
LANGUAGE c STABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_why_not_packable';

COMMENT ON FUNCTION zbxhist.why_not_packable(regclass) IS
'Why rows of a table cannot be packed; NULL if they can (internal)';

REVOKE ALL ON FUNCTION zbxhist.why_not_packable(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.why_not_packable(regclass) TO PUBLIC;
-- sql/functions/attach_day.sql

CREATE FUNCTION zbxhist.attach_day(day regclass, packed regclass)
RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_attach_day';

COMMENT ON FUNCTION zbxhist.attach_day(regclass, regclass) IS
'Makes a packed day''s table depend on the foreign table that stands for it, so that CASCADE drops both (internal)';

REVOKE ALL ON FUNCTION zbxhist.attach_day(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.attach_day(regclass, regclass) TO pg_database_owner;
-- sql/functions/end_older_snapshots.sql
--
-- On this server the transactions that need the table have been waited for;
-- those of a standby, unless it sends feedback, are unknown here.

CREATE FUNCTION zbxhist.end_older_snapshots(relation regclass, changed xid8)
RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_end_older_snapshots';

COMMENT ON FUNCTION zbxhist.end_older_snapshots(regclass, xid8) IS
'Has standby servers end queries that do not see a transaction, before the table that has the rows for them is dropped (internal)';

REVOKE ALL ON FUNCTION zbxhist.end_older_snapshots(regclass, xid8) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.end_older_snapshots(regclass, xid8) TO pg_database_owner;
-- sql/functions/lock_packing.sql

CREATE FUNCTION zbxhist.lock_packing(partition regclass)
RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_lock_packing';

COMMENT ON FUNCTION zbxhist.lock_packing(regclass) IS
'Until the end of the transaction, tells inserts that a partition is being packed, so that they look for keys in it however it is locked (internal)';

REVOKE ALL ON FUNCTION zbxhist.lock_packing(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.lock_packing(regclass) TO pg_database_owner;
-- sql/functions/lock_packed_table.sql

CREATE FUNCTION zbxhist.lock_packed_table(packed regclass)
RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_lock_packed_table';

COMMENT ON FUNCTION zbxhist.lock_packed_table(regclass) IS
'Takes ACCESS EXCLUSIVE on a foreign table, which LOCK TABLE does not (internal)';

REVOKE ALL ON FUNCTION zbxhist.lock_packed_table(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.lock_packed_table(regclass) TO pg_database_owner;
-- sql/functions/lock_moves.sql

CREATE FUNCTION zbxhist.lock_moves(parent regclass)
RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_lock_moves';

COMMENT ON FUNCTION zbxhist.lock_moves(regclass) IS
'Until the end of the transaction, makes UPDATE and DELETE of a managed table wait before they take their snapshot; waits for those under way (internal)';

REVOKE ALL ON FUNCTION zbxhist.lock_moves(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.lock_moves(regclass) TO pg_database_owner;
-- sql/functions/adopt.sql

CREATE FUNCTION zbxhist.adopt(policy zbxhist.parent_config)
RETURNS integer
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    made  integer := 0;
    gap  record;
BEGIN
    PERFORM zbxhist.verify_policy(policy);
    PERFORM zbxhist.verify_table(policy.parent);
    PERFORM pg_advisory_xact_lock(zbxhist.lock_class(), policy.parent::oid::integer);
    INSERT INTO zbxhist.parent_config AS c
        (parent, partition_interval, retention, premake, pack_after, move_existing)
    VALUES (policy.parent, policy.partition_interval, policy.retention, policy.premake,
            policy.pack_after, policy.move_existing)
    ON CONFLICT (parent) DO UPDATE
       SET partition_interval = excluded.partition_interval, retention = excluded.retention,
           premake = excluded.premake, pack_after = excluded.pack_after,
           move_existing = excluded.move_existing, routing = true
     WHERE NOT c.routing;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'table % is already managed by zbxhist', policy.parent
            USING ERRCODE = 'duplicate_object',
                  HINT = 'Change its policy with zbxhist.alter_parent().';
    END IF;
    FOR gap IN SELECT * FROM zbxhist.wanted_ranges(policy) LOOP
        PERFORM zbxhist.create_range(policy.parent, gap.from_clock, gap.to_clock);
        made := made + 1;
    END LOOP;
    RETURN made;
END
$$;

COMMENT ON FUNCTION zbxhist.adopt(zbxhist.parent_config) IS
'Writes the policy of a new managed table and creates its first partitions; the triggers are left to attach_triggers (internal)';

REVOKE ALL ON FUNCTION zbxhist.adopt(zbxhist.parent_config) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.adopt(zbxhist.parent_config) TO pg_database_owner;
-- sql/functions/alter_parent.sql

CREATE FUNCTION zbxhist.alter_parent(
    parent regclass,
    partition_interval interval DEFAULT NULL,
    retention interval DEFAULT NULL,
    premake integer DEFAULT NULL,
    pack_after interval DEFAULT NULL,
    move_existing boolean DEFAULT NULL,
    follow_zabbix boolean DEFAULT false,
    never_pack boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    policy zbxhist.parent_config;
BEGIN
    -- somebody who is changing it is waited for, else his change would be undone
    PERFORM FROM zbxhist.parent_config c WHERE c.parent = alter_parent.parent FOR UPDATE;
    policy := zbxhist.require_parent(parent);
    IF follow_zabbix AND retention IS NOT NULL THEN
        RAISE EXCEPTION 'retention and follow_zabbix cannot be given together'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'follow_zabbix sets the retention back to the storage period set in Zabbix.';
    END IF;
    IF never_pack AND pack_after IS NOT NULL THEN
        RAISE EXCEPTION 'pack_after and never_pack cannot be given together'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'never_pack leaves partitions as they are from now on.';
    END IF;
    policy.partition_interval := coalesce(partition_interval, policy.partition_interval);
    policy.premake := coalesce(premake, policy.premake);
    policy.pack_after := CASE WHEN never_pack THEN NULL
                              ELSE coalesce(pack_after, policy.pack_after) END;
    policy.move_existing := coalesce(move_existing, policy.move_existing);
    policy.retention := CASE WHEN follow_zabbix THEN NULL
                             ELSE coalesce(retention, policy.retention) END;
    PERFORM zbxhist.verify_policy(policy);
    UPDATE zbxhist.parent_config c
       SET partition_interval = policy.partition_interval, retention = policy.retention,
           premake = policy.premake, pack_after = policy.pack_after,
           move_existing = policy.move_existing
     WHERE c.parent = policy.parent;
END
$$;

COMMENT ON FUNCTION zbxhist.alter_parent(regclass, interval, interval, integer, interval, boolean, boolean, boolean) IS
'Changes the policy of a managed table, only what is given; the next maintenance acts on it.  follow_zabbix takes the retention from Zabbix again, never_pack sets pack_after to NULL';

REVOKE ALL ON FUNCTION zbxhist.alter_parent(regclass, interval, interval, integer, interval, boolean, boolean, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.alter_parent(regclass, interval, interval, integer, interval, boolean, boolean, boolean) TO pg_database_owner;
-- sql/functions/attach_triggers.sql
--
-- CREATE TRIGGER needs SHARE ROW EXCLUSIVE, for which running INSERTs must end
-- and behind which new ones queue.  So: all locks in the order in which Zabbix
-- takes its own (no deadlock), all waits together no longer than
-- zbxhist.maintenance_lock_timeout, everything let go between the tries.

CREATE FUNCTION zbxhist.attach_triggers(parents regclass[])
RETURNS interval
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $$
DECLARE
    tries    CONSTANT integer := 12;
    budget   CONSTANT integer := zbxhist.short_lock_timeout();
    started  timestamptz;
    waited   interval := '0';
    parent   regclass;
BEGIN
    FOR try IN 1 .. tries LOOP
        started := clock_timestamp();
        BEGIN
            FOREACH parent IN ARRAY parents LOOP
                PERFORM set_config('lock_timeout', greatest(1, budget
                    - round(extract(epoch FROM clock_timestamp() - started) * 1000))::text, true);
                EXECUTE format('LOCK TABLE ONLY %s IN SHARE ROW EXCLUSIVE MODE', parent);
            END LOOP;
            waited := waited + (clock_timestamp() - started);
            EXIT;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            waited := waited + (clock_timestamp() - started);
            IF try = tries THEN
                RAISE EXCEPTION 'could not lock table % within % ms, % times',
                                parent, budget, tries
                    USING ERRCODE = 'lock_not_available',
                          HINT = 'A long transaction is writing to it: see pg_stat_activity and pg_locks, then repeat the call.  Nothing has been changed.';
            END IF;
        END;
        PERFORM pg_sleep(least(0.05 * 2 ^ try, 2));
    END LOOP;
    FOREACH parent IN ARRAY parents LOOP
        PERFORM zbxhist.create_triggers(parent);
        PERFORM zbxhist.invalidate(parent);
    END LOOP;
    RETURN waited;
END
$$;

COMMENT ON FUNCTION zbxhist.attach_triggers(regclass[]) IS
'Locks tables in the order given, for bounded times, and gives them the routing triggers; returns the time spent waiting (internal)';

REVOKE ALL ON FUNCTION zbxhist.attach_triggers(regclass[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.attach_triggers(regclass[]) TO pg_database_owner;
-- sql/functions/check.sql

CREATE FUNCTION zbxhist.check()
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE sql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT f.*
      FROM (SELECT 0 AS place, d.* FROM zbxhist.check_database() d
            UNION ALL
            SELECT u.place, c.*
              FROM unnest(zbxhist.parent_list()) WITH ORDINALITY AS u (parent, place),
                   LATERAL (SELECT * FROM zbxhist.check_policy(u.parent)
                            UNION ALL SELECT * FROM zbxhist.check_maintenance(u.parent)
                            UNION ALL SELECT * FROM zbxhist.check_triggers(u.parent)
                            UNION ALL SELECT * FROM zbxhist.check_partitions(u.parent)
                            UNION ALL SELECT * FROM zbxhist.check_columns(u.parent)
                            UNION ALL SELECT * FROM zbxhist.check_row_triggers(u.parent)
                            UNION ALL SELECT * FROM zbxhist.check_packed(u.parent)
                            UNION ALL SELECT * FROM zbxhist.check_rows(u.parent)) c
           ) AS a (place, severity, code, object, message, hint),
           LATERAL (SELECT a.severity, a.code, a.object, a.message, a.hint) f
     ORDER BY CASE a.severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END,
              a.place, a.code, a.object, a.message COLLATE "C"
$$;

COMMENT ON FUNCTION zbxhist.check() IS
'Everything an administrator should know, with what mends it; no rows when all is well';

REVOKE ALL ON FUNCTION zbxhist.check() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.check() TO PUBLIC;
-- sql/functions/check_columns.sql

CREATE FUNCTION zbxhist.check_columns(parent regclass)
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
        SELECT 'warning', 'own_column', p.partition::text,
               format('it has a column "%s" that its parent has not: new rows of its time stay in the table itself', c),
               format('ALTER TABLE %s DROP COLUMN %I;', p.partition, c)
          FROM zbxhist.list_partitions(parent) p,
               zbxhist.own_column(parent, p.partition) c
         WHERE c IS NOT NULL;
    RETURN QUERY
        SELECT 'info', 'own_constraint', p.partition::text,
               format('it has a constraint "%s" of its own: an INSERT with a row that violates it fails as a whole', c.conname),
               format('ALTER TABLE %s DROP CONSTRAINT %I; if this is not meant.', p.partition, c.conname)
          FROM zbxhist.list_partitions(parent) p
          JOIN pg_constraint c ON c.conrelid = p.partition
         WHERE c.contype = 'c' AND c.coninhcount = 0 AND c.conname <> 'zbxhist_clock';
    RETURN QUERY
        SELECT 'info', 'own_not_null', p.partition::text,
               format('its column "%s" is NOT NULL, that of its parent is not: an INSERT with a row that violates it fails as a whole', a.attname),
               format('ALTER TABLE %s ALTER COLUMN %I DROP NOT NULL; if this is not meant.', p.partition, a.attname)
          FROM zbxhist.list_partitions(parent) p
          JOIN pg_attribute a ON a.attrelid = p.partition
          JOIN pg_attribute o ON o.attrelid = check_columns.parent AND o.attname = a.attname
         WHERE a.attnum > 0 AND a.attnotnull AND NOT o.attnotnull;
END
$$;

COMMENT ON FUNCTION zbxhist.check_columns(regclass) IS
'The part of check that finds columns and constraints which a partition has and its parent has not (internal)';

REVOKE ALL ON FUNCTION zbxhist.check_columns(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.check_columns(regclass) TO PUBLIC;
-- sql/functions/check_database.sql

CREATE FUNCTION zbxhist.check_database()
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF cardinality(zbxhist.parent_list()) = 0 THEN
        RETURN QUERY SELECT 'warning', 'nothing_managed', current_database()::text,
            'no table is managed yet', 'SELECT * FROM zbxhist.setup();';
    END IF;
    RETURN QUERY
        SELECT 'warning', 'new_table', n::text,
               format('table %s has appeared since setup and is not managed yet', n),
               'CALL zbxhist.run_maintenance();'
          FROM zbxhist.new_tables() n;
    RETURN QUERY
        SELECT 'info', 'not_preloaded', current_database()::text,
               'a session loads the library in its first INSERT, which is planned the long way and may be told a count of 0 rows',
               c || ';'
          FROM zbxhist.preload_command() c
         WHERE c IS NOT NULL AND cardinality(zbxhist.parent_list()) > 0;
    RETURN QUERY
        SELECT 'info', 'role_not_preloaded', r.role::text,
               format('session_preload_libraries is set for role %s, which counts before the setting of the database: its sessions load the library in their first INSERT',
                      quote_ident(r.role)),
               r.command || ';'
          FROM zbxhist.overriding_roles() r;
    RETURN QUERY
        SELECT 'warning', 'timescaledb', 'timescaledb',
               'the extension timescaledb is installed: Zabbix 7.0 and later then writes trends with INSERT ... ON CONFLICT',
               'DROP EXTENSION timescaledb; if nothing else in this database needs it.'
          FROM pg_extension e
         WHERE e.extname = 'timescaledb'
           AND EXISTS (SELECT FROM zbxhist.parent_config c JOIN pg_class k ON k.oid = c.parent
                        WHERE k.relname IN ('trends', 'trends_uint'));
    RETURN QUERY
        SELECT 'warning', 'parent_dropped', c.parent::oid::text,
               format('the managed table with OID %s has been dropped', c.parent::oid),
               'CALL zbxhist.run_maintenance();'
          FROM zbxhist.parent_config c
         WHERE NOT EXISTS (SELECT FROM pg_class k WHERE k.oid = c.parent);
    RETURN QUERY
        SELECT 'warning', 'orphaned_day', k.oid::regclass::text,
               'it is the table of a packed day, but of no managed table',
               format('DROP TABLE %s; if its values are not needed.', k.oid::regclass)
          FROM pg_class k
         WHERE k.relnamespace = 'zbxhist_packed'::regnamespace AND k.relkind = 'r'
           AND NOT EXISTS (SELECT FROM zbxhist.packed_day d
                             JOIN pg_class p ON p.oid = d.parent
                            WHERE d.day = k.oid);
    RETURN QUERY
        SELECT 'error', 'take_up_failed', l.parent::text,
               format('taking up table %s failed: %s', l.parent, l.message),
               'Mend the cause, then CALL zbxhist.run_maintenance();'
          FROM zbxhist.new_tables() n
          JOIN LATERAL (SELECT s.parent, s.last_error AS message FROM zbxhist.parent_state s
                         WHERE s.parent = n AND s.failed) l ON true;
END
$$;

COMMENT ON FUNCTION zbxhist.check_database() IS
'The part of check that is about the database (internal)';

REVOKE ALL ON FUNCTION zbxhist.check_database() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.check_database() TO PUBLIC;
-- sql/functions/check_maintenance.sql

CREATE FUNCTION zbxhist.check_maintenance(parent regclass)
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    remedy CONSTANT text := format('CALL zbxhist.run_maintenance(%L);', parent);
    policy zbxhist.parent_config;
    shown  record;
BEGIN
    SELECT * INTO policy FROM zbxhist.parent_config c WHERE c.parent = check_maintenance.parent;
    SELECT * INTO shown FROM zbxhist.status s WHERE s.parent = check_maintenance.parent;
    IF NOT policy.routing THEN
        RETURN;
    END IF;
    IF NOT EXISTS (SELECT FROM zbxhist.list_partitions(parent) p
                    WHERE zbxhist.current_clock() >= p.from_clock
                      AND zbxhist.current_clock() < p.to_clock) THEN
        RETURN QUERY SELECT 'error', 'no_current_partition', parent::text,
            'there is no partition for the present: new rows stay in the table itself', remedy;
    ELSIF policy.premake > 0 AND shown.partitions_ahead = 0 THEN
        RETURN QUERY SELECT 'warning', 'no_partition_ahead', parent::text,
            format('there is no partition for the time from %s on', zbxhist.format_time(shown.covered_until)), remedy;
    END IF;
    IF coalesce(shown.last_run, policy.created_at) < now() - interval '1 day' THEN
        RETURN QUERY SELECT 'warning', 'maintenance_late', parent::text,
            CASE WHEN shown.last_run IS NULL THEN 'maintenance has never been run'
                 ELSE format('maintenance was last run at %s', zbxhist.format_time(shown.last_run)) END,
            remedy || ' and have it called regularly: by cron, pg_cron, or the background worker.';
    END IF;
    IF shown.last_error_at > coalesce(shown.last_success, '-infinity') THEN
        RETURN QUERY SELECT 'error', 'last_error', parent::text,
            format('maintenance failed at %s: %s', zbxhist.format_time(shown.last_error_at), shown.last_error),
            'Mend the cause, then ' || remedy;
    END IF;
    IF has_table_privilege('zbxhist.maintenance_log', 'SELECT') THEN
        RETURN QUERY
            SELECT DISTINCT 'warning', 'waits_for_lock', coalesce(l.relation, l.parent::text),
                   format('could not be locked for %s', l.action),
                   'A long transaction holds it: see pg_stat_activity and pg_locks.  The next maintenance tries again.'
              FROM zbxhist.maintenance_log l
             WHERE l.parent = check_maintenance.parent AND l.sqlstate = '55P03'
               AND l.action IN ('drop', 'truncate', 'premake')
               AND l.started_at > shown.last_run - interval '1 day'
               AND (l.action = 'drop' AND to_regclass(l.relation) IS NOT NULL
                    OR l.action = 'truncate' AND zbxhist.own_pages(l.parent) > 0
                       AND NOT EXISTS (SELECT FROM zbxhist.maintenance_log n
                                        WHERE n.parent = l.parent AND n.action = 'truncate'
                                          AND n.sqlstate IS NULL AND n.id > l.id));
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist.check_maintenance(regclass) IS
'The part of check that is about what maintenance has done (internal)';

REVOKE ALL ON FUNCTION zbxhist.check_maintenance(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.check_maintenance(regclass) TO PUBLIC;
-- sql/functions/check_partitions.sql

CREATE FUNCTION zbxhist.check_partitions(parent regclass)
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    source pg_class;
BEGIN
    SELECT * INTO STRICT source FROM pg_class k WHERE k.oid = parent;
    RETURN QUERY
        SELECT 'error', 'no_bounds', i.inhrelid::regclass::text,
               format('table inherits from %s without a constraint "zbxhist_clock" that zbxhist can read: no row is sent to it', parent),
               format('ALTER TABLE %s NO INHERIT %s; or give it the constraint CHECK (clock >= ... AND clock < ...)',
                      i.inhrelid::regclass, parent)
          FROM pg_inherits i
         WHERE i.inhparent = parent
           AND NOT EXISTS (SELECT FROM zbxhist.list_partitions(parent) p WHERE p.partition = i.inhrelid)
           AND i.inhrelid IS DISTINCT FROM zbxhist.packed_table(parent);
    RETURN QUERY
        SELECT 'error', 'overlap', b.partition::text,
               format('its range overlaps that of %s', a.partition),
               'Move the rows of one of them away and drop it.'
          FROM zbxhist.list_partitions(parent) a
          JOIN zbxhist.list_partitions(parent) b
            ON b.from_clock < a.to_clock AND a.from_clock < b.to_clock
           AND (a.from_clock, a.partition::oid) < (b.from_clock, b.partition::oid);
    RETURN QUERY
        SELECT 'warning', 'owner', k.oid::regclass::text,
               format('it belongs to %s, its parent to %s', k.relowner::regrole, source.relowner::regrole),
               format('ALTER TABLE %s OWNER TO %s;', k.oid::regclass, source.relowner::regrole)
          FROM zbxhist.list_partitions(parent) p JOIN pg_class k ON k.oid = p.partition
         WHERE k.relowner <> source.relowner;
    RETURN QUERY
        SELECT 'warning', 'privileges', p.partition::text,
               'its privileges differ from those of its parent',
               format('SELECT zbxhist.clone_grants(%L, %L);', parent, p.partition)
          FROM zbxhist.list_partitions(parent) p
         WHERE zbxhist.describe_grants(p.partition) <> zbxhist.describe_grants(parent);
    RETURN QUERY
        SELECT 'warning', 'indexes', p.partition::text,
               'its indexes differ from those of its parent',
               'Compare them with \d and create or drop what differs.'
          FROM zbxhist.list_partitions(parent) p
         WHERE zbxhist.describe_indexes(p.partition) <> zbxhist.describe_indexes(parent);
END
$$;

COMMENT ON FUNCTION zbxhist.check_partitions(regclass) IS
'The part of check that compares the partitions with their parent and each other (internal)';

REVOKE ALL ON FUNCTION zbxhist.check_partitions(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.check_partitions(regclass) TO PUBLIC;
-- sql/functions/check_policy.sql

CREATE FUNCTION zbxhist.check_policy(parent regclass)
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
SET intervalstyle = postgres
AS $$
DECLARE
    policy zbxhist.parent_config;
    keeps  record;
    zabbix name;
    option text;
    mode   record;
    period record;
BEGIN
    SELECT * INTO policy FROM zbxhist.parent_config c WHERE c.parent = check_policy.parent;
    SELECT n.nspname, CASE WHEN k.relname LIKE 'trends%' THEN 'hk_trends' ELSE 'hk_history' END
      INTO zabbix, option
      FROM pg_class k
      JOIN pg_namespace n ON n.oid = k.relnamespace
      JOIN zbxhist.zabbix_tables() z ON z.table_name = k.relname
     WHERE k.oid = check_policy.parent;
    keeps := zbxhist.effective_retention(parent, policy.retention);
    -- who may not read the settings cannot tell
    IF keeps.retention IS NULL
       AND (keeps.problem NOT LIKE 'cannot read%'
            OR pg_has_role((SELECT k.relowner FROM pg_class k WHERE k.oid = check_policy.parent), 'USAGE')) THEN
        RETURN QUERY SELECT 'warning', 'no_retention', parent::text,
            format('nothing is ever dropped: %s', keeps.problem),
            format('SELECT zbxhist.alter_parent(%L, retention => ''90 days'');%s', parent,
                   CASE WHEN zabbix IS NOT NULL
                        THEN format(' or SELECT * FROM zbxhist.setup(%L, configure_zabbix => true);', zabbix)
                        ELSE '' END);
    END IF;
    IF NOT policy.routing THEN
        RETURN QUERY SELECT 'warning', 'undo_unfinished', parent::text,
            'an undo has begun and has not come to its end',
            format('CALL zbxhist.undo(%L); or, to stay with zbxhist, SELECT zbxhist.create_parent(%1$L, ...);', parent);
    END IF;
    IF zabbix IS NULL THEN
        RETURN;
    END IF;
    mode := zbxhist.zabbix_setting(zabbix, option || '_mode');
    IF mode.value = '1' THEN
        RETURN QUERY SELECT 'warning', 'housekeeper_on', parent::text,
            format('%s is 1: the Zabbix housekeeper deletes row by row what zbxhist drops by partition', mode.source),
            format('SELECT * FROM zbxhist.setup(%L, configure_zabbix => true);', zabbix);
    END IF;
    period := zbxhist.zabbix_setting(zabbix, option);
    IF policy.retention > zbxhist.parse_period(period.value)
       AND (zbxhist.zabbix_setting(zabbix, option || '_global')).value = '1' THEN
        RETURN QUERY SELECT 'warning', 'zabbix_hides_rows', parent::text,
            format('rows are kept for %s, but Zabbix shows only those of %s (%s)',
                   policy.retention, period.value, period.source),
            'Set the storage period in Administration, Housekeeping to the same.';
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist.check_policy(regclass) IS
'The part of check that is about policy and the settings of Zabbix (internal)';

REVOKE ALL ON FUNCTION zbxhist.check_policy(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.check_policy(regclass) TO PUBLIC;
-- sql/functions/check_row_triggers.sql
--
-- What the parent gets reaches partitions made from then on.

CREATE FUNCTION zbxhist.check_row_triggers(parent regclass)
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
        SELECT 'warning', 'row_triggers', p.partition::text,
               format('trigger "%s" of its parent does not fire for its rows', t.tgname),
               format('SELECT zbxhist.clone_triggers(%L, %L);', parent, p.partition)
          FROM zbxhist.list_partitions(parent) p,
               zbxhist.row_triggers(parent) t
         WHERE NOT EXISTS (SELECT FROM pg_trigger o
                            WHERE o.tgrelid = p.partition AND o.tgname = t.tgname);
    RETURN QUERY
        SELECT 'warning', 'foreign_keys', p.partition::text,
               format('its rows are not checked for the foreign key of its parent "%s"', m.definition),
               format('SELECT zbxhist.clone_foreign_keys(%L, %L);', parent, p.partition)
          FROM zbxhist.list_partitions(parent) p,
               zbxhist.missing_foreign_keys(parent, p.partition) AS m (definition);
    RETURN QUERY
        SELECT 'info', 'own_trigger', p.partition::text,
               format('it has a trigger "%s" of its own', t.tgname),
               format('DROP TRIGGER %I ON %s; if this is not meant.', t.tgname, p.partition)
          FROM zbxhist.list_partitions(parent) p
          JOIN pg_trigger t ON t.tgrelid = p.partition
         WHERE NOT t.tgisinternal
           AND NOT EXISTS (SELECT FROM zbxhist.row_triggers(parent) o WHERE o.tgname = t.tgname);
END
$$;

COMMENT ON FUNCTION zbxhist.check_row_triggers(regclass) IS
'The part of check that compares the row triggers and foreign keys of partitions with those of their parent (internal)';

REVOKE ALL ON FUNCTION zbxhist.check_row_triggers(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.check_row_triggers(regclass) TO PUBLIC;
-- sql/functions/check_rows.sql

CREATE FUNCTION zbxhist.check_rows(parent regclass)
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    policy zbxhist.parent_config;
    shown  record;
BEGIN
    SELECT * INTO policy FROM zbxhist.parent_config c WHERE c.parent = check_rows.parent;
    IF zbxhist.own_pages(parent) = 0 OR NOT has_table_privilege(parent, 'SELECT')
       OR NOT policy.routing THEN
        RETURN;
    END IF;
    SELECT min(b.from_clock) AS oldest, count(*) AS partitions INTO shown
      FROM zbxhist.waiting_partitions(parent) AS w (partition),
           zbxhist.partition_bounds(w.partition) b;
    IF shown.partitions > 0 THEN
        RETURN QUERY SELECT 'warning', 'rows_in_parent', parent::text,
            format('the table itself holds rows that belong to partitions, the oldest of them from %s on',
                   zbxhist.format_time(to_timestamp(shown.oldest))),
            format('CALL zbxhist.run_maintenance(%L);', parent);
    END IF;
    IF zbxhist.own_pages(parent) < 10000 THEN
        RETURN QUERY
            SELECT 'warning', 'late_rows', check_rows.parent::text,
                   format('%s rows of packed days wait in the table itself', sum(w.rows)),
                   format('CALL zbxhist.run_maintenance(%L);', check_rows.parent)
              FROM zbxhist.packed_day d
             CROSS JOIN LATERAL zbxhist.count_waiting(check_rows.parent, d.from_clock, d.to_clock) AS w (rows)
             WHERE d.parent = check_rows.parent
            HAVING sum(w.rows) > 100000;
    END IF;
    RETURN QUERY
        SELECT 'warning', 'duplicates', s.parent::text,
               format('%s rows stay in the table itself because their partition has another row with the same key', s.duplicates)
               || CASE WHEN EXISTS (SELECT FROM zbxhist.packed_day d WHERE d.parent = s.parent)
                       THEN ', or their packed day 65535 rows of the same item and second' ELSE '' END,
               format('See SELECT * FROM ONLY %s; and delete the row that is wrong.', s.parent)
          FROM zbxhist.parent_state s
         WHERE s.parent = check_rows.parent AND s.duplicates > 0;
    IF zbxhist.own_pages(parent) > 8192
       AND NOT zbxhist.has_own_rows(parent, zbxhist.cutoff_clock(parent))
       AND policy.created_at < now() - interval '1 day' THEN
        RETURN QUERY SELECT 'warning', 'not_truncated', parent::text,
            format('nothing in the table itself is needed any more, but its %s have not been freed yet',
                   pg_size_pretty(pg_total_relation_size(parent))),
            format('See zbxhist.maintenance_log; SET zbxhist.maintenance_lock_timeout = ''5s''; CALL zbxhist.run_maintenance(%L);', parent);
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist.check_rows(regclass) IS
'The part of check that is about rows in the parent itself (internal)';

REVOKE ALL ON FUNCTION zbxhist.check_rows(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.check_rows(regclass) TO PUBLIC;
-- sql/functions/check_triggers.sql

CREATE FUNCTION zbxhist.check_triggers(parent regclass)
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    ours CONSTANT oid := 'zbxhist.route()'::regprocedure;
BEGIN
    RETURN QUERY
        SELECT 'error', 'trigger_missing', parent::text,
               format('trigger "%s" is missing: rows are not routed', w),
               format('SELECT zbxhist.attach_triggers(ARRAY[%L::regclass]);', parent)
          FROM unnest('{zzz_zbxhist_route,zzz_zbxhist_replica,00_zbxhist_flush}'::name[]) w
         WHERE NOT EXISTS (SELECT FROM pg_trigger t
                            WHERE t.tgrelid = parent AND t.tgname = w AND t.tgfoid = ours);
    RETURN QUERY
        SELECT 'error', 'trigger_disabled', parent::text,
               format('trigger "%s" is %s', t.tgname,
                      CASE WHEN w.kind <> '' THEN 'not enabled for replication: keys of replicated rows are not checked'
                           WHEN t.tgenabled = 'D' THEN 'disabled: rows are not routed'
                           WHEN t.tgenabled = 'R' THEN 'enabled for replication only: rows are not routed'
                           ELSE 'enabled always: replicated rows cannot be routed' END),
               format('ALTER TABLE %s ENABLE %sTRIGGER %I;', parent, w.kind, t.tgname)
          FROM pg_trigger t,
               LATERAL (SELECT CASE t.tgname WHEN 'zzz_zbxhist_replica' THEN 'REPLICA ' ELSE '' END) w (kind)
         WHERE t.tgrelid = parent AND t.tgfoid = ours
           AND t.tgenabled <> CASE w.kind WHEN '' THEN 'O' ELSE 'R' END;
    RETURN QUERY
        SELECT 'warning', 'trigger_order', parent::text,
               format('trigger "%s" sorts after "zzz_zbxhist_route" and never fires for routed rows', t.tgname),
               format('ALTER TRIGGER %I ON %s RENAME TO ...;', t.tgname, parent)
          FROM pg_trigger t
         WHERE t.tgrelid = parent AND NOT t.tgisinternal AND t.tgfoid <> ours
           AND t.tgtype & 7 = 7 AND t.tgname > 'zzz_zbxhist_route';
    RETURN QUERY
        SELECT 'warning', 'transition_table', parent::text,
               format('trigger "%s" has transition tables: new rows stay in the table itself', t.tgname),
               'Make it a row trigger.'
          FROM pg_trigger t
         WHERE t.tgrelid = parent AND NOT t.tgisinternal AND t.tgnewtable IS NOT NULL
           AND t.tgtype & 4 <> 0;
    RETURN QUERY
        SELECT 'warning', 'rule', parent::text,
               format('rule "%s" rewrites statements on the table before zbxhist sees them', r.rulename),
               format('DROP RULE %I ON %s;', r.rulename, parent)
          FROM pg_rewrite r
         WHERE r.ev_class = parent;
    RETURN QUERY
        SELECT 'warning', 'row_security', parent::text,
               'row security is on: new rows stay in the table itself',
               format('ALTER TABLE %s DISABLE ROW LEVEL SECURITY;', parent)
          FROM pg_class k
         WHERE k.oid = parent AND k.relrowsecurity;
END
$$;

COMMENT ON FUNCTION zbxhist.check_triggers(regclass) IS
'The part of check that is about triggers, rules and row security (internal)';

REVOKE ALL ON FUNCTION zbxhist.check_triggers(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.check_triggers(regclass) TO PUBLIC;
-- sql/functions/clock_range.sql
--
-- Ranges of days, hours and minutes are multiples of the interval counted
-- from 1970-01-01 00:00 UTC; ranges of months are counted from January 1970.
-- No time zone is looked at: timestamps here are without one, in UTC.

CREATE FUNCTION zbxhist.clock_range(
    partition_interval interval,
    clock bigint,
    OUT from_clock bigint,
    OUT to_clock bigint)
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    epoch  CONSTANT timestamp := '1970-01-01';
    months CONSTANT integer := extract(year FROM partition_interval) * 12
                               + extract(month FROM partition_interval);
    seconds bigint;
    moment  timestamp;
    ordinal integer;
BEGIN
    IF months > 0 THEN
        moment := epoch + make_interval(secs => clock);
        ordinal := (extract(year FROM moment) - 1970) * 12 + extract(month FROM moment) - 1;
        ordinal := floor(ordinal::numeric / months) * months;
        from_clock := extract(epoch FROM epoch + make_interval(months => ordinal));
        to_clock := extract(epoch FROM epoch + make_interval(months => ordinal + months));
    ELSE
        seconds := extract(epoch FROM partition_interval);
        from_clock := floor(clock::numeric / seconds) * seconds;
        to_clock := from_clock + seconds;
    END IF;
    -- beyond the range of an integer the bound is open
    from_clock := greatest(from_clock, -2147483648);
    to_clock := least(to_clock, 2147483648);
END
$$;

COMMENT ON FUNCTION zbxhist.clock_range(interval, bigint) IS
'The partition range, from included, to excluded, in which a clock lies (internal)';

REVOKE ALL ON FUNCTION zbxhist.clock_range(interval, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.clock_range(interval, bigint) TO PUBLIC;
-- sql/functions/clone_columns.sql

CREATE FUNCTION zbxhist.clone_columns(parent regclass, partition regclass)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    item record;
BEGIN
    FOR item IN
        SELECT a.attname, a.attstattarget,
               ARRAY(SELECT o FROM unnest(a.attoptions) o WHERE o LIKE 'n\_distinct%') AS options
          FROM pg_attribute a
         WHERE a.attrelid = parent AND a.attnum > 0 AND NOT a.attisdropped
         ORDER BY a.attnum
    LOOP
        IF item.attstattarget >= 0 THEN
            EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS %s',
                           partition, item.attname, item.attstattarget);
        END IF;
        IF cardinality(item.options) > 0 THEN
            EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET (%s)',
                           partition, item.attname, zbxhist.format_options(item.options));
        END IF;
    END LOOP;
    SELECT k.relreplident INTO item FROM pg_class k WHERE k.oid = parent;
    IF item.relreplident = 'f' THEN
        EXECUTE format('ALTER TABLE %s REPLICA IDENTITY FULL', partition);
    ELSIF item.relreplident = 'n' THEN
        EXECUTE format('ALTER TABLE %s REPLICA IDENTITY NOTHING', partition);
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist.clone_columns(regclass, regclass) IS
'Gives a new partition the statistics targets, column options and replica identity of its parent (internal)';

REVOKE ALL ON FUNCTION zbxhist.clone_columns(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.clone_columns(regclass, regclass) TO pg_database_owner;
-- sql/functions/clone_foreign_keys.sql

CREATE FUNCTION zbxhist.clone_foreign_keys(parent regclass, partition regclass)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    definition text;
BEGIN
    FOR definition IN SELECT m FROM zbxhist.missing_foreign_keys(parent, partition) m LOOP
        EXECUTE format('ALTER TABLE %s ADD %s', partition, definition);
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist.clone_foreign_keys(regclass, regclass) IS
'Gives a partition the foreign keys of its parent that it has not (internal)';

REVOKE ALL ON FUNCTION zbxhist.clone_foreign_keys(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.clone_foreign_keys(regclass, regclass) TO pg_database_owner;
-- sql/functions/missing_foreign_keys.sql

CREATE FUNCTION zbxhist.missing_foreign_keys(parent regclass, partition regclass)
RETURNS SETOF text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT pg_get_constraintdef(c.oid)
      FROM pg_constraint c
     WHERE c.conrelid = missing_foreign_keys.parent AND c.contype = 'f'
       AND NOT EXISTS (SELECT FROM pg_constraint o
                        WHERE o.conrelid = missing_foreign_keys.partition AND o.contype = 'f'
                          AND replace(pg_get_constraintdef(o.oid), ' NOT VALID', '')
                              = replace(pg_get_constraintdef(c.oid), ' NOT VALID', ''))
     ORDER BY c.conname
$$;

COMMENT ON FUNCTION zbxhist.missing_foreign_keys(regclass, regclass) IS
'The definitions of those foreign keys of a managed table that a partition has not (internal)';

REVOKE ALL ON FUNCTION zbxhist.missing_foreign_keys(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.missing_foreign_keys(regclass, regclass) TO PUBLIC;
-- sql/functions/clone_grants.sql

CREATE FUNCTION zbxhist.clone_grants(parent regclass, partition regclass)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    item record;
BEGIN
    -- what ALTER DEFAULT PRIVILEGES may have given
    FOR item IN
        SELECT DISTINCT zbxhist.role_name(g.grantee) AS grantee
          FROM pg_class k, aclexplode(k.relacl) g
         WHERE k.oid = partition AND g.grantee <> k.relowner
    LOOP
        EXECUTE format('REVOKE ALL ON TABLE %s FROM %s', partition, item.grantee);
    END LOOP;
    FOR item IN
        SELECT zbxhist.role_name(g.grantee) AS grantee, g.privilege_type, g.is_grantable,
               '' AS columns
          FROM pg_class k, aclexplode(k.relacl) g
         WHERE k.oid = parent AND g.grantee <> k.relowner
           AND NOT k.relrowsecurity   -- else they would show what policies hide
        UNION ALL
        SELECT zbxhist.role_name(g.grantee), g.privilege_type, g.is_grantable,
               format(' (%I)', a.attname)
          FROM pg_attribute a
          JOIN pg_class k ON k.oid = a.attrelid AND NOT k.relrowsecurity,
               aclexplode(a.attacl) g
         WHERE a.attrelid = parent AND a.attnum > 0 AND NOT a.attisdropped
    LOOP
        EXECUTE format('GRANT %s%s ON TABLE %s TO %s%s', item.privilege_type, item.columns,
                       partition, item.grantee,
                       CASE WHEN item.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END);
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist.clone_grants(regclass, regclass) IS
'Gives a new partition the privileges granted on its parent and its columns (internal)';

REVOKE ALL ON FUNCTION zbxhist.clone_grants(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.clone_grants(regclass, regclass) TO pg_database_owner;
-- sql/functions/clone_indexes.sql
--
-- Primary key, unique and exclusion constraints first, then the other
-- indexes, each in the tablespace and with the storage settings that the
-- parent's has.  The names are chosen by PostgreSQL.

CREATE FUNCTION zbxhist.clone_indexes(parent regclass, partition regclass)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET default_tablespace = ''
AS $$
DECLARE
    item   record;
    prefix text;
    copy   oid;
BEGIN
    FOR item IN
        SELECT c.oid AS constraint_oid, x.indexrelid, k.relname, k.reloptions,
               x.indisunique, x.indisreplident,
               coalesce(t.spcname, '') AS tablespace,
               CASE WHEN c.oid IS NULL
                    THEN pg_get_indexdef(x.indexrelid)
                    ELSE pg_get_constraintdef(c.oid) END AS definition
          FROM pg_index x
          JOIN pg_class k ON k.oid = x.indexrelid
          LEFT JOIN pg_constraint c ON c.conindid = x.indexrelid AND c.conrelid = x.indrelid
                                   AND c.contype IN ('p', 'u', 'x')
          LEFT JOIN pg_tablespace t ON t.oid = k.reltablespace
         WHERE x.indrelid = parent AND x.indisvalid
         ORDER BY c.oid IS NULL, c.contype, k.relname
    LOOP
        PERFORM set_config('default_tablespace', item.tablespace, true);
        IF item.constraint_oid IS NOT NULL THEN
            EXECUTE format('ALTER TABLE %s ADD %s', partition, item.definition);
        ELSE
            prefix := format('CREATE %sINDEX %I ON %s ',
                             CASE WHEN item.indisunique THEN 'UNIQUE ' ELSE '' END,
                             item.relname, parent);
            IF NOT starts_with(item.definition, prefix) THEN
                RAISE EXCEPTION 'cannot copy index "%" of table %', item.relname, parent
                    USING ERRCODE = 'feature_not_supported',
                          DETAIL = item.definition;
            END IF;
            EXECUTE format('CREATE %sINDEX ON %s %s',
                           CASE WHEN item.indisunique THEN 'UNIQUE ' ELSE '' END,
                           partition, substr(item.definition, length(prefix) + 1));
        END IF;
        -- the one just made is the newest
        SELECT x.indexrelid INTO STRICT copy
          FROM pg_index x
         WHERE x.indrelid = partition
         ORDER BY x.indexrelid::bigint DESC LIMIT 1;
        IF item.constraint_oid IS NOT NULL AND item.reloptions IS NOT NULL THEN
            EXECUTE format('ALTER INDEX %s SET (%s)', copy::regclass,
                           zbxhist.format_options(item.reloptions));
        END IF;
        IF item.indisreplident THEN
            EXECUTE format('ALTER TABLE %s REPLICA IDENTITY USING INDEX %I', partition,
                           (SELECT k.relname FROM pg_class k WHERE k.oid = copy));
        END IF;
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist.clone_indexes(regclass, regclass) IS
'Gives a new, empty partition the keys and indexes of its parent (internal)';

REVOKE ALL ON FUNCTION zbxhist.clone_indexes(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.clone_indexes(regclass, regclass) TO pg_database_owner;
-- sql/functions/clone_triggers.sql

CREATE FUNCTION zbxhist.clone_triggers(parent regclass, partition regclass)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    item       record;
    separator  CONSTANT text := format(' ON %s ', parent);
    definition text;
    place      integer;
    rest       text;
BEGIN
    FOR item IN
        SELECT t.tgname, t.tgenabled, pg_get_triggerdef(t.oid) AS definition
          FROM zbxhist.row_triggers(parent) t
         WHERE NOT EXISTS (SELECT FROM pg_trigger o
                            WHERE o.tgrelid = partition AND o.tgname = t.tgname)
         ORDER BY t.tgname
    LOOP
        definition := regexp_replace(item.definition, '^(CREATE TRIGGER .* BEFORE) INSERT OR ', '\1 ');
        place := strpos(definition, separator);
        rest := substr(definition, place + length(separator));
        IF place = 0 OR rest !~ '^(FROM|NOT DEFERRABLE|DEFERRABLE|INITIALLY|FOR EACH ROW) ' THEN
            RAISE EXCEPTION 'cannot copy trigger "%" of table %', item.tgname, parent
                USING ERRCODE = 'feature_not_supported',
                      DETAIL = item.definition;
        END IF;
        EXECUTE left(definition, place) || format('ON %s ', partition) || rest;
        IF item.tgenabled <> 'O' THEN
            EXECUTE format('ALTER TABLE %s %s TRIGGER %I', partition,
                CASE item.tgenabled WHEN 'D' THEN 'DISABLE'
                                    WHEN 'R' THEN 'ENABLE REPLICA'
                                    ELSE 'ENABLE ALWAYS' END,
                item.tgname);
        END IF;
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist.clone_triggers(regclass, regclass) IS
'Gives a partition the row triggers of its parent that it has not, except those before INSERT and those with transition tables (internal)';

REVOKE ALL ON FUNCTION zbxhist.clone_triggers(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.clone_triggers(regclass, regclass) TO pg_database_owner;
-- sql/functions/row_triggers.sql
--
-- The row triggers that PostgreSQL fires on the table a row is stored in.
-- BEFORE INSERT ones stay behind: they fire on the parent, before the routing.

CREATE FUNCTION zbxhist.row_triggers(parent regclass)
RETURNS SETOF pg_trigger
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT t
      FROM pg_trigger t
     WHERE t.tgrelid = parent AND NOT t.tgisinternal
       AND t.tgtype & 1 <> 0                            -- FOR EACH ROW
       AND (t.tgtype & 2 = 0 OR t.tgtype & 24 <> 0)     -- not only BEFORE INSERT
       AND t.tgnewtable IS NULL AND t.tgoldtable IS NULL
       AND t.tgfoid <> 'zbxhist.route()'::regprocedure
$$;

COMMENT ON FUNCTION zbxhist.row_triggers(regclass) IS
'The triggers of a managed table that its partitions are to have, too (internal)';

REVOKE ALL ON FUNCTION zbxhist.row_triggers(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.row_triggers(regclass) TO PUBLIC;
-- sql/functions/configure_zabbix.sql

CREATE FUNCTION zbxhist.configure_zabbix(schema_name name, dry_run boolean)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $$
DECLARE
    wanted  CONSTANT text[] := '{hk_history_mode,hk_history_global,hk_trends_mode,hk_trends_global}';
    setting record;
    changes text[] := '{}';
    answer  record;
BEGIN
    PERFORM set_config('lock_timeout', zbxhist.patient_lock_timeout()::text, true);
    FOR setting IN
        SELECT w AS name, CASE WHEN w LIKE '%\_mode' THEN 0 ELSE 1 END AS value
          FROM unnest(wanted) w
    LOOP
        answer := zbxhist.zabbix_setting(schema_name, setting.name);
        IF answer.value IS NULL THEN
            RETURN coalesce('cannot read ' || answer.source,
                            format('schema %I has no table config or settings', schema_name));
        END IF;
        CONTINUE WHEN answer.value = setting.value::text;
        changes := changes || format('%s = %s', answer.source, setting.value);
        CONTINUE WHEN dry_run;
        IF answer.source LIKE 'config.%' THEN
            EXECUTE format('UPDATE %I.config SET %I = %s', schema_name, setting.name, setting.value);
        ELSE
            EXECUTE format('UPDATE %I.settings SET value_int = %s WHERE name = %L',
                           schema_name, setting.value, setting.name);
        END IF;
    END LOOP;
    RETURN coalesce(nullif(array_to_string(changes, ', '), ''), 'nothing to change');
END
$$;

COMMENT ON FUNCTION zbxhist.configure_zabbix(name, boolean) IS
'Switches the Zabbix housekeeper off for history and trends in a schema and says what it changed (internal)';

REVOKE ALL ON FUNCTION zbxhist.configure_zabbix(name, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.configure_zabbix(name, boolean) TO pg_database_owner;
-- sql/functions/count_waiting.sql

CREATE FUNCTION zbxhist.count_waiting(parent regclass, from_clock bigint, to_clock bigint)
RETURNS bigint
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    result bigint;
BEGIN
    IF zbxhist.own_pages(parent) < 10000 THEN
        EXECUTE format('SELECT count(*) FROM ONLY %s p WHERE p.clock >= $1 AND p.clock < $2', parent)
            INTO result USING from_clock, to_clock;
    END IF;
    RETURN result;
END
$$;

COMMENT ON FUNCTION zbxhist.count_waiting(regclass, bigint, bigint) IS
'Rows of the parent itself in a clock range; NULL if it is too large to be counted by the way (internal)';

REVOKE ALL ON FUNCTION zbxhist.count_waiting(regclass, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.count_waiting(regclass, bigint, bigint) TO PUBLIC;
-- sql/functions/create_parent.sql

CREATE FUNCTION zbxhist.create_parent(
    parent regclass,
    partition_interval interval DEFAULT '1 day',
    retention interval DEFAULT NULL,
    premake integer DEFAULT 3,
    pack_after interval DEFAULT NULL,
    move_existing boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    policy zbxhist.parent_config;
BEGIN
    policy.parent := parent;
    policy.partition_interval := partition_interval;
    policy.retention := retention;
    policy.premake := premake;
    policy.pack_after := pack_after;
    policy.move_existing := move_existing;
    PERFORM zbxhist.adopt(policy);
    PERFORM zbxhist.attach_triggers(ARRAY[parent]);
END
$$;

COMMENT ON FUNCTION zbxhist.create_parent(regclass, interval, interval, integer, interval, boolean) IS
'Makes a table with the columns itemid and clock a managed one, in place: its rows stay where they are, new ones go to partitions';

REVOKE ALL ON FUNCTION zbxhist.create_parent(regclass, interval, interval, integer, interval, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.create_parent(regclass, interval, interval, integer, interval, boolean) TO pg_database_owner;
-- sql/functions/create_partition.sql

CREATE FUNCTION zbxhist.create_partition(parent regclass, day date)
RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    policy  CONSTANT zbxhist.parent_config := zbxhist.require_parent(parent);
    moment  CONSTANT bigint := zbxhist.day_clock(day);
    covered record;
    gap     record;
BEGIN
    -- one creator at a time, and what the one before us made is seen
    PERFORM pg_advisory_xact_lock(zbxhist.lock_class(), parent::oid::integer);
    covered := zbxhist.clock_range(policy.partition_interval, moment);
    FOR gap IN
        SELECT * FROM zbxhist.missing_ranges(parent, covered.from_clock, covered.to_clock)
    LOOP
        PERFORM zbxhist.create_range(parent, gap.gap_from, gap.gap_to);
    END LOOP;
    RETURN (SELECT r.relation FROM zbxhist.list_ranges(parent) r
             WHERE moment >= r.from_clock AND moment < r.to_clock
             ORDER BY r.is_packed LIMIT 1);
END
$$;

COMMENT ON FUNCTION zbxhist.create_partition(regclass, date) IS
'Creates the partition of a managed table in which a UTC day begins, if it is not there yet, and returns it, or the table of the day if that is packed';

REVOKE ALL ON FUNCTION zbxhist.create_partition(regclass, date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.create_partition(regclass, date) TO pg_database_owner;
-- sql/functions/create_range.sql
--
-- CREATE TABLE ... INHERITS takes SHARE UPDATE EXCLUSIVE on the parent: no
-- INSERT waits for it.  What it may wait for is maintenance of PostgreSQL
-- itself; an autovacuum gives way after deadlock_timeout, so the wait allowed
-- here is longer than that.

CREATE FUNCTION zbxhist.create_range(parent regclass, from_clock bigint, to_clock bigint)
RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET default_tablespace = ''
SET client_min_messages = warning
SET lock_timeout = 0
AS $$
DECLARE
    policy    CONSTANT zbxhist.parent_config := (
        SELECT c FROM zbxhist.parent_config c WHERE c.parent = create_range.parent);
    new_name  CONSTANT name :=
        zbxhist.partition_name(parent, policy.partition_interval, from_clock, to_clock);
    source    record;
    bounds    text;
    statement text;
    result    regclass;
BEGIN
    PERFORM set_config('lock_timeout', zbxhist.patient_lock_timeout()::text, true);
    SELECT k.relpersistence, k.relowner, n.nspname, a.amname, t.spcname,
           concat_ws(', ', zbxhist.format_options(k.reloptions),
                           zbxhist.format_options(toast.reloptions, 'toast.')) AS options
      INTO source
      FROM pg_class k
      JOIN pg_namespace n ON n.oid = k.relnamespace
      JOIN pg_am a ON a.oid = k.relam
      LEFT JOIN pg_tablespace t ON t.oid = k.reltablespace
      LEFT JOIN pg_class toast ON toast.oid = k.reltoastrelid
     WHERE k.oid = create_range.parent;
    bounds := concat_ws(' AND ',
        CASE WHEN from_clock > -2147483648 THEN format('clock >= %s', from_clock) END,
        CASE WHEN to_clock < 2147483648 THEN format('clock < %s', to_clock) END);
    statement := format(
        'CREATE %sTABLE %I.%I (CONSTRAINT zbxhist_clock CHECK (%s)) INHERITS (%s) USING %I',
        CASE WHEN source.relpersistence = 'u' THEN 'UNLOGGED ' ELSE '' END,
        source.nspname, new_name, bounds, parent, source.amname);
    IF source.options <> '' THEN
        statement := statement || format(' WITH (%s)', source.options);
    END IF;
    IF source.spcname IS NOT NULL THEN
        statement := statement || format(' TABLESPACE %I', source.spcname);
    END IF;
    BEGIN
        EXECUTE statement;
    EXCEPTION WHEN lock_not_available THEN
        RAISE EXCEPTION 'could not lock table % within % ms', parent, zbxhist.patient_lock_timeout()
            USING ERRCODE = 'lock_not_available',
                  HINT = 'VACUUM, ANALYZE, or the building of an index is at it: see pg_stat_activity, then repeat the call.';
    END;
    result := format('%I.%I', source.nspname, new_name)::regclass;
    IF source.relowner <> (SELECT k.relowner FROM pg_class k WHERE k.oid = result) THEN
        EXECUTE format('ALTER TABLE %s OWNER TO %I', result, pg_get_userbyid(source.relowner));
    END IF;
    PERFORM zbxhist.clone_indexes(parent, result);
    PERFORM zbxhist.clone_foreign_keys(parent, result);
    PERFORM zbxhist.clone_columns(parent, result);
    PERFORM zbxhist.clone_triggers(parent, result);
    PERFORM zbxhist.clone_grants(parent, result);
    PERFORM zbxhist.invalidate(parent);
    RETURN result;
END
$$;

COMMENT ON FUNCTION zbxhist.create_range(regclass, bigint, bigint) IS
'Creates one partition, with everything its parent has, for a range that no other partition touches (internal)';

REVOKE ALL ON FUNCTION zbxhist.create_range(regclass, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.create_range(regclass, bigint, bigint) TO pg_database_owner;
-- sql/functions/create_triggers.sql
--
-- Triggers of one event fire in the order of their names: the users' own
-- BEFORE ROW triggers come before the routing, their AFTER ones after the
-- flush.  The one for replicas fires for the rows that logical replication
-- applies, which stay in the parent, and only notes that.

CREATE FUNCTION zbxhist.create_triggers(parent regclass)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    item record;
BEGIN
    FOR item IN
        SELECT * FROM (VALUES ('zzz_zbxhist_route'::name, 'BEFORE', 'ROW'),
                              ('zzz_zbxhist_replica', 'BEFORE', 'ROW'),
                              ('00_zbxhist_flush', 'AFTER', 'STATEMENT')) AS v (name, moment, scope)
         WHERE NOT EXISTS (SELECT FROM pg_trigger t
                            WHERE t.tgrelid = parent AND t.tgname = v.name)
    LOOP
        EXECUTE format('CREATE TRIGGER %I %s INSERT ON %s FOR EACH %s EXECUTE FUNCTION zbxhist.route()',
                       item.name, item.moment, parent, item.scope);
        IF item.name = 'zzz_zbxhist_replica' THEN
            EXECUTE format('ALTER TABLE ONLY %s ENABLE REPLICA TRIGGER %I', parent, item.name);
        END IF;
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist.create_triggers(regclass) IS
'Creates the routing triggers that a managed table lacks (internal)';

REVOKE ALL ON FUNCTION zbxhist.create_triggers(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.create_triggers(regclass) TO pg_database_owner;
-- sql/functions/current_clock.sql

CREATE FUNCTION zbxhist.current_clock()
RETURNS bigint
LANGUAGE sql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT floor(extract(epoch FROM clock_timestamp()))::bigint $$;

COMMENT ON FUNCTION zbxhist.current_clock() IS
'The present moment in the unit of Zabbix: seconds since 1970-01-01 UTC (internal)';

REVOKE ALL ON FUNCTION zbxhist.current_clock() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.current_clock() TO PUBLIC;
-- sql/functions/cutoff_clock.sql

CREATE FUNCTION zbxhist.cutoff_clock(parent regclass)
RETURNS bigint
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT floor(extract(epoch FROM clock_timestamp() AT TIME ZONE 'UTC' - r.retention))::bigint
      FROM zbxhist.parent_config c,
           zbxhist.effective_retention(c.parent, c.retention) r
     WHERE c.parent = cutoff_clock.parent
$$;

COMMENT ON FUNCTION zbxhist.cutoff_clock(regclass) IS
'Rows of a managed table with a clock below this one are past retention; NULL if none ever is (internal)';

REVOKE ALL ON FUNCTION zbxhist.cutoff_clock(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.cutoff_clock(regclass) TO PUBLIC;
-- sql/functions/delete_expired.sql

CREATE FUNCTION zbxhist.delete_expired(
    parent regclass,
    cutoff bigint,
    after_itemid bigint,
    max_rows integer,
    OUT deleted bigint,
    OUT last_itemid bigint,
    OUT done boolean)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    next_item CONSTANT text := format(
        'SELECT p.itemid FROM ONLY %s p WHERE p.itemid > $1 OR $1 IS NULL ORDER BY p.itemid LIMIT 1', parent);
    cut CONSTANT text := format(
        'DELETE FROM ONLY %1$s WHERE clock < $2 AND ctid = ANY (ARRAY('
        'SELECT p.ctid FROM ONLY %1$s p WHERE p.itemid = $1 AND p.clock < $2 LIMIT $3))', parent);
    item  bigint;
    wiped bigint;
BEGIN
    deleted := 0;
    last_itemid := after_itemid;
    done := false;
    FOR step IN 1 .. 2000 LOOP
        EXECUTE next_item INTO item USING last_itemid;
        IF item IS NULL THEN
            done := true;
            RETURN;
        END IF;
        EXECUTE cut USING item, cutoff, max_rows - deleted;
        GET DIAGNOSTICS wiped = ROW_COUNT;
        deleted := deleted + wiped;
        -- an item cut short is gone on with in the next batch
        EXIT WHEN deleted >= max_rows;
        last_itemid := item;
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist.delete_expired(regclass, bigint, bigint, integer) IS
'Deletes a bounded number of rows past retention from the parent itself, in the order of itemid (internal)';

REVOKE ALL ON FUNCTION zbxhist.delete_expired(regclass, bigint, bigint, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.delete_expired(regclass, bigint, bigint, integer) TO pg_database_owner;
-- sql/functions/describe_grants.sql

CREATE FUNCTION zbxhist.describe_grants(relation regclass)
RETURNS text[]
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(array_agg(d ORDER BY d), '{}')
      FROM (SELECT format('%s %s %s', g.grantee, g.privilege_type, g.is_grantable)
              FROM pg_class k, aclexplode(k.relacl) g
             WHERE k.oid = relation AND g.grantee <> k.relowner
            UNION
            SELECT format('%s %s %s (%s)', g.grantee, g.privilege_type, g.is_grantable, a.attname)
              FROM pg_class k, pg_attribute a, aclexplode(a.attacl) g
             WHERE k.oid = relation AND a.attrelid = k.oid AND a.attnum > 0
               AND NOT a.attisdropped) AS t (d)
$$;

COMMENT ON FUNCTION zbxhist.describe_grants(regclass) IS
'The privileges granted on a table and its columns, to compare them (internal)';

REVOKE ALL ON FUNCTION zbxhist.describe_grants(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.describe_grants(regclass) TO PUBLIC;
-- sql/functions/describe_indexes.sql

CREATE FUNCTION zbxhist.describe_indexes(relation regclass)
RETURNS text[]
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(array_agg(d ORDER BY d), '{}')
      FROM pg_index x,
           LATERAL (SELECT concat_ws(' ',
               CASE WHEN x.indisprimary THEN 'primary' WHEN x.indisunique THEN 'unique' END,
               regexp_replace(pg_get_indexdef(x.indexrelid), '^CREATE (UNIQUE )?INDEX .*? USING ', ''))) AS t (d)
     WHERE x.indrelid = relation AND x.indisvalid
$$;

COMMENT ON FUNCTION zbxhist.describe_indexes(regclass) IS
'The valid indexes of a table without their names, to compare them (internal)';

REVOKE ALL ON FUNCTION zbxhist.describe_indexes(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.describe_indexes(regclass) TO PUBLIC;
-- sql/functions/describe_policy.sql

CREATE FUNCTION zbxhist.describe_policy(policy zbxhist.parent_config)
RETURNS text
LANGUAGE sql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET intervalstyle = postgres
AS $$
    SELECT format('partitions of %s, %s ahead; %s; retention %s',
                  policy.partition_interval, policy.premake,
                  coalesce('packed after ' || policy.pack_after, 'never packed'),
                  coalesce(r.retention || ' (' || r.source || ')', 'none (' || r.problem || ')'))
      FROM zbxhist.effective_retention(policy.parent, policy.retention) r
$$;

COMMENT ON FUNCTION zbxhist.describe_policy(zbxhist.parent_config) IS
'A policy in words (internal)';

REVOKE ALL ON FUNCTION zbxhist.describe_policy(zbxhist.parent_config) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.describe_policy(zbxhist.parent_config) TO PUBLIC;
-- sql/functions/effective_retention.sql
--
-- The storage period set in Zabbix counts only while it overrides those of the
-- items (hk_*_global); without that nothing says how old is too old, and
-- nothing is dropped.

CREATE FUNCTION zbxhist.effective_retention(
    parent regclass,
    policy_retention interval,
    OUT retention interval,
    OUT source text,
    OUT problem text)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    table_schema name;
    table_name   name;
    option       text;
    overrides    record;
    period       record;
BEGIN
    IF policy_retention IS NOT NULL THEN
        retention := policy_retention;
        source := 'policy';
        RETURN;
    END IF;
    source := 'none';
    SELECT n.nspname, k.relname INTO table_schema, table_name
      FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace
     WHERE k.oid = parent;
    option := CASE WHEN table_name LIKE 'trends%' THEN 'hk_trends'
                   WHEN table_name LIKE 'history%' THEN 'hk_history' END;
    IF option IS NULL THEN
        problem := 'the policy has no retention and the table is none of Zabbix';
        RETURN;
    END IF;
    overrides := zbxhist.zabbix_setting(table_schema, option || '_global');
    period := zbxhist.zabbix_setting(table_schema, option);
    IF overrides.source IS NULL THEN
        problem := format('schema %I has no Zabbix settings', table_schema);
    ELSIF overrides.value IS NULL OR period.value IS NULL THEN
        problem := format('cannot read %s', period.source);
    ELSIF overrides.value <> '1' THEN
        problem := format('%s is %s: Zabbix does not override the storage periods of the items',
                          overrides.source, overrides.value);
    ELSIF zbxhist.parse_period(period.value) IS NULL THEN
        problem := format('%s is "%s", which is not a period', period.source, period.value);
    ELSIF zbxhist.parse_period(period.value) = interval '0' THEN
        problem := format('%s is 0, which says nothing about rows already stored', period.source);
    ELSE
        retention := justify_hours(zbxhist.parse_period(period.value));
        source := 'zabbix: ' || period.source;
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist.effective_retention(regclass, interval) IS
'The retention that counts for a table, where it comes from, and why if there is none';

REVOKE ALL ON FUNCTION zbxhist.effective_retention(regclass, interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.effective_retention(regclass, interval) TO PUBLIC;
-- sql/functions/estimated_rows.sql

CREATE FUNCTION zbxhist.estimated_rows(relation regclass)
RETURNS bigint
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN pg_relation_size(k.oid) = 0 THEN 0
                ELSE greatest(k.reltuples::bigint, pg_stat_get_live_tuples(k.oid), 0) END
      FROM pg_class k WHERE k.oid = relation
$$;

COMMENT ON FUNCTION zbxhist.estimated_rows(regclass) IS
'Rows of one table as the statistics have it';

REVOKE ALL ON FUNCTION zbxhist.estimated_rows(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.estimated_rows(regclass) TO PUBLIC;
-- sql/functions/expired_partitions.sql

CREATE FUNCTION zbxhist.expired_partitions(parent regclass)
RETURNS SETOF regclass
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT p.partition
      FROM zbxhist.cutoff_clock(parent) AS cutoff,
           zbxhist.list_partitions(parent) p
     WHERE p.to_clock <= cutoff
     ORDER BY p.from_clock
$$;

COMMENT ON FUNCTION zbxhist.expired_partitions(regclass) IS
'The partitions whose whole range is past retention, oldest first (internal)';

REVOKE ALL ON FUNCTION zbxhist.expired_partitions(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.expired_partitions(regclass) TO PUBLIC;
-- sql/functions/find_tables.sql
--
-- Without a schema: those schemas that have a Zabbix "history", told from other
-- people's tables of that name by its columns.  With one: whatever is there
-- under the names, so that what cannot be managed gets its error message.

CREATE FUNCTION zbxhist.find_tables(schema_name name)
RETURNS TABLE (parent regclass, table_schema name, table_name name, is_trends boolean)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 9
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT k.oid::regclass, n.nspname, k.relname, z.is_trends
      FROM pg_namespace n
      JOIN pg_class k ON k.relnamespace = n.oid
      JOIN zbxhist.zabbix_tables() z ON z.table_name = k.relname
     WHERE n.nspname = schema_name AND k.relkind IN ('r', 'p', 'v', 'm', 'f')
        OR schema_name IS NULL
       AND k.relkind IN ('r', 'p')
       AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
       AND 4 = (SELECT count(*)
                  FROM pg_class h
                  JOIN pg_attribute a ON a.attrelid = h.oid
                 WHERE h.relnamespace = n.oid AND h.relname = 'history'
                   AND h.relkind IN ('r', 'p') AND NOT h.relispartition
                   AND (a.attname, a.atttypid) IN (
                           ('itemid', 'int8'::regtype), ('clock', 'int4'::regtype),
                           ('ns', 'int4'::regtype), ('value', 'float8'::regtype),
                           ('value', 'numeric'::regtype)))
     ORDER BY n.nspname, z.ordinal
$$;

COMMENT ON FUNCTION zbxhist.find_tables(name) IS
'The Zabbix tables of values in a schema, or in every schema that has a Zabbix history table (internal)';

REVOKE ALL ON FUNCTION zbxhist.find_tables(name) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.find_tables(name) TO PUBLIC;
-- sql/functions/forget_dropped.sql

CREATE FUNCTION zbxhist.forget_dropped()
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    DELETE FROM zbxhist.parent_config c
     WHERE NOT EXISTS (SELECT FROM pg_class k WHERE k.oid = c.parent);
    DELETE FROM zbxhist.parent_state s
     WHERE NOT EXISTS (SELECT FROM zbxhist.parent_config c WHERE c.parent = s.parent);
    DELETE FROM zbxhist.partition_state s
     WHERE NOT EXISTS (SELECT FROM zbxhist.parent_config c WHERE c.parent = s.parent);
    DELETE FROM zbxhist.packed_day d
     WHERE NOT EXISTS (SELECT FROM pg_class k WHERE k.oid = d.day);
    DELETE FROM zbxhist.stray_mark m
     WHERE NOT EXISTS (SELECT FROM zbxhist.parent_config c WHERE c.parent = m.parent)
$$;

COMMENT ON FUNCTION zbxhist.forget_dropped() IS
'Forgets managed tables that have been dropped (internal)';

REVOKE ALL ON FUNCTION zbxhist.forget_dropped() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.forget_dropped() TO pg_database_owner;
-- sql/functions/format_options.sql

CREATE FUNCTION zbxhist.format_options(options text[], prefix text DEFAULT '')
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT string_agg(format('%s%I=%L', prefix, split_part(o, '=', 1),
                             substr(o, strpos(o, '=') + 1)), ', ' ORDER BY n)
      FROM unnest(options) WITH ORDINALITY AS u (o, n)
$$;

COMMENT ON FUNCTION zbxhist.format_options(text[], text) IS
'Storage settings as pg_class holds them, written for WITH (...) or SET (...) (internal)';

REVOKE ALL ON FUNCTION zbxhist.format_options(text[], text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.format_options(text[], text) TO PUBLIC;
-- sql/functions/format_time.sql

CREATE FUNCTION zbxhist.format_time(moment timestamptz)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') || ' UTC'
$$;

COMMENT ON FUNCTION zbxhist.format_time(timestamptz) IS
'A time in words, the same for every setting of the session (internal)';

REVOKE ALL ON FUNCTION zbxhist.format_time(timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.format_time(timestamptz) TO PUBLIC;
-- sql/functions/new_columns.sql
--
-- The option goes with its column when that is dropped, and stays in a dump.
-- Where no column has it, packing has not noted any yet.

CREATE FUNCTION zbxhist.new_columns(packed regclass)
RETURNS SETOF name
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT f.attname
      FROM (SELECT a.attname, a.attinhcount, a.attnum, o.is_packed, bool_or(o.is_packed) OVER () AS is_known
              FROM pg_attribute a
              CROSS JOIN LATERAL (
                   SELECT EXISTS (SELECT FROM unnest(a.attfdwoptions) p
                                   WHERE starts_with(p, 'packed=')) AS is_packed) o
             WHERE a.attrelid = packed AND a.attnum > 0 AND NOT a.attisdropped) f
     WHERE f.is_known AND NOT f.is_packed AND f.attinhcount > 0
     ORDER BY f.attnum
$$;

COMMENT ON FUNCTION zbxhist.new_columns(regclass) IS
'The columns of the foreign table that stands for packed days that no day has been packed with yet (internal)';

REVOKE ALL ON FUNCTION zbxhist.new_columns(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.new_columns(regclass) TO PUBLIC;
-- sql/functions/note_columns.sql
--
-- The caller has locked the foreign table, so nobody is reading packed days.
-- What older days have under the name of a new column was dropped from the
-- table, and is given another name.

CREATE FUNCTION zbxhist.note_columns(parent regclass, packed regclass, day regclass)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    item    record;
    changes text;
BEGIN
    FOR item IN
        SELECT d.day, n AS column,
               (SELECT left(n::text, 40) || '_dropped_' || (max(l.attnum) + count(*))
                  FROM pg_attribute l WHERE l.attrelid = d.day) AS other
          FROM zbxhist.new_columns(packed) n
          JOIN zbxhist.packed_day d ON d.parent = note_columns.parent AND d.day <> note_columns.day
          JOIN pg_attribute a ON a.attrelid = d.day AND a.attname = n AND a.attnum > 6 AND NOT a.attisdropped
    LOOP
        EXECUTE format('ALTER TABLE %s RENAME COLUMN %I TO %I', item.day, item.column, item.other);
    END LOOP;
    SELECT string_agg(format('ALTER COLUMN %I OPTIONS (ADD packed %L)', a.attname, 'true'), ', ')
      INTO changes
      FROM pg_attribute a
     WHERE a.attrelid = packed AND a.attnum > 0 AND NOT a.attisdropped AND a.attinhcount > 0
       AND NOT EXISTS (SELECT FROM unnest(a.attfdwoptions) o WHERE starts_with(o, 'packed='));
    IF changes IS NOT NULL THEN
        EXECUTE format('ALTER FOREIGN TABLE %s %s', packed, changes);
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist.note_columns(regclass, regclass, regclass) IS
'Notes that a day has been packed with the columns of the foreign table that stands for it (internal)';

REVOKE ALL ON FUNCTION zbxhist.note_columns(regclass, regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.note_columns(regclass, regclass, regclass) TO pg_database_owner;
-- sql/functions/has_same_columns.sql
--
-- The first six columns of a day's table are its own.

CREATE FUNCTION zbxhist.has_same_columns(parent regclass, day regclass)
RETURNS boolean
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(array_agg(format('%s %s', a.attname, a.atttypid) ORDER BY a.attnum)
                        FILTER (WHERE a.attrelid = parent)
                    = array_agg(format('%s %s', a.attname, a.atttypid) ORDER BY a.attnum)
                        FILTER (WHERE a.attrelid = day), false)
      FROM pg_attribute a
     WHERE NOT a.attisdropped
       AND (a.attrelid = parent AND a.attnum > 0
            OR a.attrelid = day AND a.attnum > 6
               AND a.attname NOT IN (SELECT zbxhist.new_columns(zbxhist.packed_table(parent))))
$$;

COMMENT ON FUNCTION zbxhist.has_same_columns(regclass, regclass) IS
'Whether a managed table has the columns that it had when a day was packed, so that rows can be merged into that (internal)';

REVOKE ALL ON FUNCTION zbxhist.has_same_columns(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.has_same_columns(regclass, regclass) TO PUBLIC;
-- sql/functions/has_item_index.sql

CREATE FUNCTION zbxhist.has_item_index(parent regclass)
RETURNS boolean
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (
        SELECT FROM pg_index x
          JOIN pg_class k ON k.oid = x.indexrelid
          JOIN pg_am m ON m.oid = k.relam
          JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = x.indkey[0]
         WHERE x.indrelid = parent AND x.indisvalid AND x.indpred IS NULL
           AND m.amname = 'btree' AND a.attname = 'itemid')
$$;

COMMENT ON FUNCTION zbxhist.has_item_index(regclass) IS
'Whether the table has a btree index led by itemid, by which its items can be walked (internal)';

REVOKE ALL ON FUNCTION zbxhist.has_item_index(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.has_item_index(regclass) TO PUBLIC;
-- sql/functions/has_own_rows.sql
--
-- Like waiting_clock, but ends at the first row found.

CREATE FUNCTION zbxhist.has_own_rows(parent regclass, since_clock bigint)
RETURNS boolean
LANGUAGE c VOLATILE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_has_own_rows';

COMMENT ON FUNCTION zbxhist.has_own_rows(regclass, bigint) IS
'Whether the parent itself holds a row, or one not older than a clock (internal)';

REVOKE ALL ON FUNCTION zbxhist.has_own_rows(regclass, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.has_own_rows(regclass, bigint) TO PUBLIC;
-- sql/functions/lock_class.sql

CREATE FUNCTION zbxhist.lock_class()
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT 2053271657 $$;

COMMENT ON FUNCTION zbxhist.lock_class() IS
'First key of the advisory locks that keep two maintenance steps on one parent apart (internal)';

REVOKE ALL ON FUNCTION zbxhist.lock_class() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.lock_class() TO PUBLIC;
-- sql/functions/lock_patiently.sql
--
-- Called before a lock is taken that keeps readers out, so that nobody has to
-- wait while VACUUM or another maintenance of the table is waited for.

CREATE FUNCTION zbxhist.lock_patiently(relation regclass)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM set_config('lock_timeout', zbxhist.patient_lock_timeout()::text, true);
    EXECUTE format('LOCK TABLE ONLY %s IN SHARE UPDATE EXCLUSIVE MODE', relation);
END
$$;

COMMENT ON FUNCTION zbxhist.lock_patiently(regclass) IS
'Takes SHARE UPDATE EXCLUSIVE on one table, which stops no reader and no INSERT (internal)';

REVOKE ALL ON FUNCTION zbxhist.lock_patiently(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.lock_patiently(regclass) TO pg_database_owner;
-- sql/functions/lock_exclusively.sql
--
-- The weak lock first: it stops nobody, and sends an autovacuum away, for
-- which the short wait for the strong one would not be long enough.

CREATE FUNCTION zbxhist.lock_exclusively(relation regclass, milliseconds integer)
RETURNS interval
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    foreign_table CONSTANT boolean :=
        EXISTS (SELECT FROM pg_class k WHERE k.oid = relation AND k.relkind = 'f');
    started timestamptz;
BEGIN
    IF foreign_table THEN
        started := clock_timestamp();
        PERFORM set_config('lock_timeout', milliseconds::text, true);
        PERFORM zbxhist.lock_packed_table(relation);
        RETURN clock_timestamp() - started;
    END IF;
    PERFORM zbxhist.lock_patiently(relation);
    PERFORM set_config('lock_timeout', milliseconds::text, true);
    started := clock_timestamp();
    EXECUTE format('LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE', relation);
    RETURN clock_timestamp() - started;
END
$$;

COMMENT ON FUNCTION zbxhist.lock_exclusively(regclass, integer) IS
'Takes ACCESS EXCLUSIVE on one table within a bounded time and returns the time it waited (internal)';

REVOKE ALL ON FUNCTION zbxhist.lock_exclusively(regclass, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.lock_exclusively(regclass, integer) TO pg_database_owner;
-- sql/functions/log_action.sql

CREATE FUNCTION zbxhist.log_action(
    parent regclass,
    action text,
    relation text,
    rows bigint,
    bytes bigint,
    started_at timestamptz,
    lock_wait interval DEFAULT NULL,
    sqlstate text DEFAULT NULL,
    message text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO zbxhist.maintenance_log
        (started_at, parent, action, relation, rows, bytes, duration, lock_wait, sqlstate, message)
    VALUES (started_at, parent, action, relation, rows, bytes,
            clock_timestamp() - started_at, lock_wait, sqlstate, message);
    -- a lock not got is tried again, and no error yet
    IF parent IS NOT NULL AND sqlstate NOT IN ('55P03', '40P01', '40001') THEN
        INSERT INTO zbxhist.parent_state AS s (parent, failed, last_error, last_error_at)
        VALUES (parent, true, message, clock_timestamp())
        ON CONFLICT ON CONSTRAINT parent_state_pkey DO UPDATE
           SET failed = true, last_error = excluded.last_error,
               last_error_at = excluded.last_error_at;
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist.log_action(regclass, text, text, bigint, bigint, timestamptz, interval, text, text) IS
'Writes an entry of the maintenance log and, if it is an error, remembers it for the status (internal)';

REVOKE ALL ON FUNCTION zbxhist.log_action(regclass, text, text, bigint, bigint, timestamptz, interval, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.log_action(regclass, text, text, bigint, bigint, timestamptz, interval, text, text) TO pg_database_owner;
-- sql/functions/may_wait.sql
--
-- What step_verify has found out, and nobody has marked since, need not be
-- looked for again: in a parent of terabytes that would be a walk over all its
-- items, each quarter of an hour.

CREATE FUNCTION zbxhist.may_wait(parent regclass)
RETURNS boolean
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM zbxhist.stray_mark m WHERE m.parent = may_wait.parent)
        OR EXISTS (SELECT FROM zbxhist.list_partitions(may_wait.parent) p
                     LEFT JOIN zbxhist.partition_state s ON s.partition = p.partition
                    WHERE s.verified IS NULL
                       OR NOT EXISTS (SELECT FROM pg_trigger t
                                       WHERE t.tgrelid = may_wait.parent
                                         AND t.tgname = 'zzz_zbxhist_route'
                                         AND t.tgenabled <> 'D'
                                         AND t.xmin = s.verified))
$$;

COMMENT ON FUNCTION zbxhist.may_wait(regclass) IS
'Whether rows that belong to a partition may be in the parent, as far as step_verify knows (internal)';

REVOKE ALL ON FUNCTION zbxhist.may_wait(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.may_wait(regclass) TO PUBLIC;
-- sql/functions/missing_ranges.sql

CREATE FUNCTION zbxhist.missing_ranges(parent regclass, from_clock bigint, to_clock bigint)
RETURNS TABLE (gap_from bigint, gap_to bigint)
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    present record;
BEGIN
    gap_from := from_clock;
    FOR present IN
        SELECT p.from_clock, p.to_clock
          FROM zbxhist.list_ranges(parent) p
         WHERE p.to_clock > missing_ranges.from_clock AND p.from_clock < missing_ranges.to_clock
         ORDER BY p.from_clock
    LOOP
        IF present.from_clock > gap_from THEN
            gap_to := present.from_clock;
            RETURN NEXT;
        END IF;
        gap_from := greatest(gap_from, present.to_clock);
    END LOOP;
    IF gap_from < to_clock THEN
        gap_to := to_clock;
        RETURN NEXT;
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist.missing_ranges(regclass, bigint, bigint) IS
'The parts of a clock range that no partition or packed day of the parent covers (internal)';

REVOKE ALL ON FUNCTION zbxhist.missing_ranges(regclass, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.missing_ranges(regclass, bigint, bigint) TO PUBLIC;
-- sql/functions/move_batch.sql
--
-- The position is kept in parent_state, so each call is a transaction of its
-- own and a pass that was broken off costs nothing but its last batch.

CREATE FUNCTION zbxhist.move_batch(
    parent regclass,
    action text,
    relation regclass,
    source regclass,
    target regclass,
    from_clock bigint,
    to_clock bigint)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    state zbxhist.parent_state;
    batch record;
BEGIN
    SELECT * INTO state FROM zbxhist.parent_state s WHERE s.parent = move_batch.parent;
    IF state.action IS DISTINCT FROM move_batch.action
       OR state.relation IS DISTINCT FROM move_batch.relation::text THEN
        PERFORM zbxhist.set_action(parent, action, relation::text);
        SELECT * INTO STRICT state FROM zbxhist.parent_state s WHERE s.parent = move_batch.parent;
    END IF;
    IF state.first_itemid IS NULL AND zbxhist.has_item_index(source) THEN
        EXECUTE format('SELECT min(p.itemid), max(p.itemid) FROM ONLY %s p', source)
            INTO state.first_itemid, state.final_itemid;
    END IF;
    batch := zbxhist.move_rows(source, target, from_clock, to_clock, state.position_itemid, 5000);
    UPDATE zbxhist.parent_state s
       SET first_itemid = state.first_itemid, final_itemid = state.final_itemid,
           position_itemid = batch.last_itemid,
           action_rows = s.action_rows + batch.moved,
           action_percent = CASE
               WHEN batch.done THEN 100
               WHEN state.final_itemid > state.first_itemid THEN
                   greatest(0, least(100, 100.0 * (batch.last_itemid::numeric - state.first_itemid)
                                          / (state.final_itemid::numeric - state.first_itemid))) END,
           duplicates = s.duplicates + batch.duplicates,
           last_move = CASE WHEN batch.moved > 0 THEN pg_current_xact_id() ELSE s.last_move END,
           settling = CASE WHEN batch.moved > 0 THEN NULL ELSE s.settling END
     WHERE s.parent = move_batch.parent;
    IF NOT batch.done THEN
        RETURN 'more';
    END IF;
    IF state.action_rows + batch.moved > 0 OR batch.duplicates > 0 THEN
        PERFORM zbxhist.log_action(parent, action, relation::text,
                                   state.action_rows + batch.moved, NULL, state.action_started);
    END IF;
    PERFORM zbxhist.set_action(parent, NULL, NULL);
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist.move_batch(regclass, text, regclass, regclass, regclass, bigint, bigint) IS
'Moves the next batch of rows and keeps count of it (internal)';

REVOKE ALL ON FUNCTION zbxhist.move_batch(regclass, text, regclass, regclass, regclass, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.move_batch(regclass, text, regclass, regclass, regclass, bigint, bigint) TO pg_database_owner;
-- sql/functions/new_policy.sql

CREATE FUNCTION zbxhist.new_policy(
    parent regclass,
    is_trends boolean,
    options zbxhist.managed_schema)
RETURNS zbxhist.parent_config
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    policy zbxhist.parent_config;
BEGIN
    policy.parent := parent;
    policy.pack_after := options.pack_after;
    policy.move_existing := options.move_existing;
    IF is_trends THEN
        policy.partition_interval := '1 month';
        policy.premake := least(options.premake, 1);
        policy.retention := options.trends_retention;
    ELSE
        policy.partition_interval := '1 day';
        policy.premake := options.premake;
        policy.retention := options.history_retention;
    END IF;
    PERFORM zbxhist.verify_policy(policy);
    RETURN policy;
END
$$;

COMMENT ON FUNCTION zbxhist.new_policy(regclass, boolean, zbxhist.managed_schema) IS
'The policy that setup gives a Zabbix table: history by day, trends by month (internal)';

REVOKE ALL ON FUNCTION zbxhist.new_policy(regclass, boolean, zbxhist.managed_schema) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.new_policy(regclass, boolean, zbxhist.managed_schema) TO PUBLIC;
-- sql/functions/new_tables.sql

CREATE FUNCTION zbxhist.new_tables()
RETURNS SETOF regclass
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT f.parent
      FROM zbxhist.managed_schema m,
           zbxhist.find_tables(m.schema_name) f
     WHERE f.table_name <> ALL (m.excluded)
       AND NOT EXISTS (SELECT FROM zbxhist.parent_config c WHERE c.parent = f.parent)
$$;

COMMENT ON FUNCTION zbxhist.new_tables() IS
'Zabbix tables that have appeared in a schema since setup was called there (internal)';

REVOKE ALL ON FUNCTION zbxhist.new_tables() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.new_tables() TO PUBLIC;
-- sql/functions/next_existing_range.sql

CREATE FUNCTION zbxhist.next_existing_range(
    policy zbxhist.parent_config,
    OUT from_clock bigint,
    OUT to_clock bigint)
LANGUAGE plpgsql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    floor_clock CONSTANT bigint := coalesce(zbxhist.cutoff_clock(policy.parent), -2147483648);
    -- above this there are only the dead entries of rows just moved
    below  bigint := coalesce((SELECT s.extended_to FROM zbxhist.parent_state s
                                WHERE s.parent = policy.parent),
                              zbxhist.current_clock());
    newest bigint;
    owner  record;
    gap    record;
BEGIN
    IF NOT policy.move_existing OR zbxhist.own_pages(policy.parent) = 0 THEN
        RETURN;
    END IF;
    LOOP
        newest := zbxhist.waiting_clock(policy.parent, floor_clock, below, true);
        IF newest IS NULL THEN
            RETURN;
        END IF;
        SELECT p.from_clock INTO owner
          FROM zbxhist.list_ranges(policy.parent) p
         WHERE newest >= p.from_clock AND newest < p.to_clock;
        EXIT WHEN NOT FOUND;
        -- a row that could not be moved, or came since
        below := owner.from_clock;
    END LOOP;
    gap := zbxhist.clock_range(policy.partition_interval, newest);
    SELECT m.gap_from, m.gap_to INTO from_clock, to_clock
      FROM zbxhist.missing_ranges(policy.parent, gap.from_clock, gap.to_clock) m
     WHERE newest >= m.gap_from AND newest < m.gap_to;
END
$$;

COMMENT ON FUNCTION zbxhist.next_existing_range(zbxhist.parent_config) IS
'The range of the newest rows in the parent that are within retention and have no partition (internal)';

REVOKE ALL ON FUNCTION zbxhist.next_existing_range(zbxhist.parent_config) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.next_existing_range(zbxhist.parent_config) TO PUBLIC;
-- sql/functions/own_pages.sql

CREATE FUNCTION zbxhist.own_pages(parent regclass)
RETURNS bigint
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(pg_relation_size(parent, 'main'), 0) / current_setting('block_size')::bigint
$$;

COMMENT ON FUNCTION zbxhist.own_pages(regclass) IS
'Number of pages of the table itself, without its partitions (internal)';

REVOKE ALL ON FUNCTION zbxhist.own_pages(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.own_pages(regclass) TO PUBLIC;
-- sql/functions/parent_list.sql

CREATE FUNCTION zbxhist.parent_list()
RETURNS regclass[]
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(array_agg(c.parent ORDER BY n.nspname, coalesce(z.ordinal, 100), k.relname), '{}')
      FROM zbxhist.parent_config c
      JOIN pg_class k ON k.oid = c.parent
      JOIN pg_namespace n ON n.oid = k.relnamespace
      LEFT JOIN zbxhist.zabbix_tables() z ON z.table_name = k.relname
$$;

COMMENT ON FUNCTION zbxhist.parent_list() IS
'All managed tables in the order of Zabbix (internal)';

REVOKE ALL ON FUNCTION zbxhist.parent_list() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.parent_list() TO PUBLIC;
-- sql/functions/parse_period.sql
--
-- Two hundred years are the limit of verify_policy, too: what is longer may be
-- more than an interval, or a timestamp less that, can be.

CREATE FUNCTION zbxhist.parse_period(period text)
RETURNS interval
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT make_interval(secs => p.seconds)
      FROM regexp_match(btrim(period), '^0*([0-9]{1,12})([smhdw]?)$') AS m,
           LATERAL (SELECT m[1]::bigint
                           * CASE m[2] WHEN 'm' THEN 60 WHEN 'h' THEN 3600 WHEN 'd' THEN 86400
                                       WHEN 'w' THEN 604800 ELSE 1 END AS seconds) p
     WHERE p.seconds <= 200 * 366 * 86400::bigint
$$;

COMMENT ON FUNCTION zbxhist.parse_period(text) IS
'A period as Zabbix writes it (90, 3600s, 12h, 31d, 1w) as an interval; NULL if it is not one';

REVOKE ALL ON FUNCTION zbxhist.parse_period(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.parse_period(text) TO PUBLIC;
-- sql/functions/partition_name.sql

CREATE FUNCTION zbxhist.partition_name(
    parent regclass,
    partition_interval interval,
    from_clock bigint,
    to_clock bigint)
RETURNS name
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    relation CONSTANT pg_class := (SELECT k FROM pg_class k WHERE k.oid = parent);
    -- an open lower bound is no moment of the calendar worth a name
    moment   CONSTANT timestamp := timestamp '1970-01-01' + make_interval(secs => from_clock);
    covered  CONSTANT record := zbxhist.clock_range(partition_interval, from_clock);
    suffix   text;
    stem     text;
    tail     text := '';
    attempt  integer := 0;
BEGIN
    suffix := '_p' || CASE
        WHEN partition_interval >= interval '28 days' AND extract(day FROM partition_interval) = 0
             AND (from_clock, to_clock) = (covered.from_clock, covered.to_clock)
             AND date_trunc('month', moment) = moment THEN to_char(moment, 'YYYYMM')
        WHEN date_trunc('day', moment) = moment
             AND (to_clock - from_clock >= 86400 OR to_clock > 2147483647) THEN to_char(moment, 'YYYYMMDD')
        ELSE to_char(moment, 'YYYYMMDD_HH24MI')
    END;
    LOOP
        stem := relation.relname;
        WHILE octet_length(stem) + octet_length(suffix) + octet_length(tail) > 63 LOOP
            stem := left(stem, -1);
        END LOOP;
        EXIT WHEN NOT EXISTS (
                SELECT FROM pg_class k
                 WHERE k.relnamespace = relation.relnamespace
                   AND k.relname = (stem || suffix || tail)::name)
            AND NOT EXISTS (
                SELECT FROM pg_type t
                 WHERE t.typnamespace = relation.relnamespace
                   AND t.typname = (stem || suffix || tail)::name);
        attempt := attempt + 1;
        tail := '_' || attempt;
    END LOOP;
    RETURN (stem || suffix || tail)::name;
END
$$;

COMMENT ON FUNCTION zbxhist.partition_name(regclass, interval, bigint, bigint) IS
'A free name for a new partition in the schema of its parent (internal)';

REVOKE ALL ON FUNCTION zbxhist.partition_name(regclass, interval, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.partition_name(regclass, interval, bigint, bigint) TO PUBLIC;
-- sql/functions/patient_lock_timeout.sql

CREATE FUNCTION zbxhist.patient_lock_timeout()
RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT least(setting::bigint + 1500, 600000)::integer
      FROM pg_settings WHERE name = 'deadlock_timeout'
$$;

COMMENT ON FUNCTION zbxhist.patient_lock_timeout() IS
'Longest wait for a lock that stops no writer, in milliseconds: long enough for an autovacuum to be told to give way (internal)';

REVOKE ALL ON FUNCTION zbxhist.patient_lock_timeout() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.patient_lock_timeout() TO PUBLIC;
-- sql/functions/preload_command.sql

CREATE FUNCTION zbxhist.preload_command()
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    libraries CONSTANT text := zbxhist.with_library(zbxhist.session_libraries());
BEGIN
    IF zbxhist.is_preloaded() OR libraries IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN format('ALTER DATABASE %I SET session_preload_libraries = %s', current_database(), libraries);
END
$$;

COMMENT ON FUNCTION zbxhist.preload_command() IS
'The command that has every session of this database load the library when it begins; NULL if they do (internal)';

REVOKE ALL ON FUNCTION zbxhist.preload_command() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.preload_command() TO PUBLIC;
-- sql/functions/preload_library.sql
--
-- session_preload_libraries is for superusers, and from PostgreSQL 15 on for
-- those whom they grant it to.  Who cannot see what the server has set could
-- only replace it, so he is told as well.

CREATE FUNCTION zbxhist.preload_library(dry_run boolean)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    command text := zbxhist.preload_command();
BEGIN
    IF command IS NULL THEN
        RETURN NULL;
    END IF;
    IF zbxhist.session_libraries() IS NULL THEN
        RETURN format('left to a superuser, who keeps what is set already: %s', command);
    END IF;
    IF NOT has_parameter_privilege('session_preload_libraries', 'SET')
       OR NOT pg_has_role((SELECT d.datdba FROM pg_database d WHERE d.datname = current_database()), 'USAGE') THEN
        RETURN format('left to a superuser: %s', command);
    END IF;
    IF NOT dry_run THEN
        EXECUTE command;
    END IF;
    RETURN command;
END
$$;

COMMENT ON FUNCTION zbxhist.preload_library(boolean) IS
'Has every session of this database load the library when it begins, if the caller may, and says so; NULL if nothing is to be done (internal)';

REVOKE ALL ON FUNCTION zbxhist.preload_library(boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.preload_library(boolean) TO pg_database_owner;
-- sql/functions/preview.sql

CREATE FUNCTION zbxhist.preview(parent regclass DEFAULT NULL)
RETURNS TABLE (table_name regclass, action text, partition text,
               from_time timestamptz, to_time timestamptz, rows bigint, bytes bigint)
LANGUAGE plpgsql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target regclass;
BEGIN
    IF parent IS NOT NULL
       AND NOT EXISTS (SELECT FROM zbxhist.parent_config c WHERE c.parent = preview.parent) THEN
        PERFORM zbxhist.require_parent(parent);
    END IF;
    IF parent IS NULL THEN
        RETURN QUERY
            SELECT n, 'take_up', NULL::text, NULL::timestamptz, NULL::timestamptz,
                   zbxhist.estimated_rows(n), pg_total_relation_size(n)
              FROM zbxhist.new_tables() n;
    END IF;
    FOREACH target IN ARRAY zbxhist.parent_list() LOOP
        CONTINUE WHEN target <> parent;
        RETURN QUERY SELECT target, p.* FROM zbxhist.preview_parent(target) p;
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist.preview(regclass) IS
'What the next maintenance would create, move, pack, merge and drop, with rows (an estimate) and bytes';

REVOKE ALL ON FUNCTION zbxhist.preview(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.preview(regclass) TO PUBLIC;
-- sql/functions/preview_parent.sql

CREATE FUNCTION zbxhist.preview_parent(parent regclass)
RETURNS TABLE (action text, partition text, from_time timestamptz, to_time timestamptz,
               rows bigint, bytes bigint)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    policy zbxhist.parent_config;
    cutoff CONSTANT bigint := zbxhist.cutoff_clock(parent);
    extend record;
BEGIN
    SELECT * INTO STRICT policy FROM zbxhist.parent_config c WHERE c.parent = preview_parent.parent;
    IF NOT policy.routing THEN
        RETURN;
    END IF;
    RETURN QUERY
        SELECT 'create', NULL::text, to_timestamp(w.from_clock), to_timestamp(w.to_clock),
               NULL::bigint, NULL::bigint
          FROM zbxhist.wanted_ranges(policy) w;
    RETURN QUERY
        SELECT 'move', w.partition::text, to_timestamp(b.from_clock), to_timestamp(b.to_clock),
               zbxhist.count_waiting(parent, b.from_clock, b.to_clock), NULL::bigint
          FROM zbxhist.waiting_partitions(parent) AS w (partition),
               zbxhist.partition_bounds(w.partition) b
         WHERE coalesce(zbxhist.count_waiting(parent, b.from_clock, b.to_clock), 1) > 0;
    extend := zbxhist.next_existing_range(policy);
    IF extend.from_clock IS NOT NULL THEN
        RETURN QUERY
            SELECT 'move', NULL::text,
                   to_timestamp(greatest(cutoff, zbxhist.waiting_clock(parent, coalesce(cutoff, -2147483648), extend.to_clock, false))),
                   to_timestamp(extend.to_clock),
                   zbxhist.count_waiting(parent, coalesce(cutoff, -2147483648), extend.to_clock),
                   NULL::bigint;
    END IF;
    RETURN QUERY
        SELECT 'drop', e.partition::text, to_timestamp(b.from_clock), to_timestamp(b.to_clock),
               zbxhist.estimated_rows(e.partition), pg_total_relation_size(e.partition)
          FROM zbxhist.expired_partitions(parent) AS e (partition),
               zbxhist.partition_bounds(e.partition) b;
    RETURN QUERY
        SELECT 'drop', d.day::text, to_timestamp(d.from_clock), to_timestamp(d.to_clock),
               d.nrows, pg_total_relation_size(d.day)
          FROM zbxhist.expired_days(preview_parent.parent) AS e (day)
          JOIN zbxhist.packed_day d ON d.day = e.day;
    RETURN QUERY
        SELECT 'pack', e.partition::text, to_timestamp(b.from_clock), to_timestamp(b.to_clock),
               zbxhist.estimated_rows(e.partition), pg_total_relation_size(e.partition)
          FROM zbxhist.packable_partitions(parent) AS e (partition),
               zbxhist.partition_bounds(e.partition) b;
    RETURN QUERY
        SELECT 'merge', d.day::text, to_timestamp(d.from_clock), to_timestamp(d.to_clock),
               zbxhist.count_waiting(preview_parent.parent, d.from_clock, d.to_clock), NULL::bigint
          FROM zbxhist.waiting_days(preview_parent.parent) AS w (day)
          JOIN zbxhist.packed_day d ON d.day = w.day;
    IF zbxhist.own_pages(parent) > 0 AND NOT zbxhist.has_own_rows(parent, cutoff) THEN
        RETURN QUERY
            SELECT 'truncate', NULL::text, NULL::timestamptz, to_timestamp(cutoff),
                   w.rows, pg_total_relation_size(parent)
              FROM zbxhist.waiting_rows(parent) w;
    ELSIF zbxhist.own_pages(parent) BETWEEN 1 AND 131072
          AND zbxhist.waiting_clock(parent, -2147483648, cutoff, false) IS NOT NULL THEN
        RETURN QUERY
            SELECT 'delete', NULL::text, NULL::timestamptz, to_timestamp(cutoff),
                   zbxhist.count_waiting(parent, -2147483648, cutoff), NULL::bigint;
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist.preview_parent(regclass) IS
'What the next maintenance of one managed table would do (internal)';

REVOKE ALL ON FUNCTION zbxhist.preview_parent(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.preview_parent(regclass) TO PUBLIC;
-- sql/functions/remember_schema.sql

CREATE FUNCTION zbxhist.remember_schema(schema_name name, options zbxhist.managed_schema)
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    INSERT INTO zbxhist.managed_schema
    VALUES (schema_name, options.history_retention, options.trends_retention, options.premake,
            options.pack_after, options.move_existing, '{}')
    ON CONFLICT ON CONSTRAINT managed_schema_pkey DO UPDATE
       SET history_retention = excluded.history_retention,
           trends_retention = excluded.trends_retention,
           premake = excluded.premake, pack_after = excluded.pack_after,
           move_existing = excluded.move_existing, excluded = excluded.excluded
$$;

COMMENT ON FUNCTION zbxhist.remember_schema(name, zbxhist.managed_schema) IS
'Writes down the options of setup for tables that appear in the schema later (internal)';

REVOKE ALL ON FUNCTION zbxhist.remember_schema(name, zbxhist.managed_schema) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.remember_schema(name, zbxhist.managed_schema) TO pg_database_owner;
-- sql/functions/remove_marks.sql
--
-- With a mark nothing counts as verified.  Without it that must be so, too,
-- until somebody has looked.

CREATE FUNCTION zbxhist.remove_marks(parent regclass)
RETURNS void
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    UPDATE zbxhist.partition_state s SET verified = NULL
     WHERE s.parent = remove_marks.parent
       AND EXISTS (SELECT FROM zbxhist.stray_mark m WHERE m.parent = remove_marks.parent);
    DELETE FROM zbxhist.stray_mark m WHERE m.parent = remove_marks.parent;
    SELECT zbxhist.invalidate(parent)
$$;

COMMENT ON FUNCTION zbxhist.remove_marks(regclass) IS
'Removes the marks of strays and, if there are any, what had been verified before them (internal)';

REVOKE ALL ON FUNCTION zbxhist.remove_marks(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.remove_marks(regclass) TO pg_database_owner;
-- sql/functions/require_owner.sql

CREATE FUNCTION zbxhist.require_owner(parent regclass)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner CONSTANT oid := (SELECT k.relowner FROM pg_class k WHERE k.oid = parent);
BEGIN
    IF NOT pg_has_role(owner, 'USAGE') THEN
        RAISE EXCEPTION 'must be owner of table %', parent
            USING ERRCODE = 'insufficient_privilege',
                  HINT = format('Do this as role %I, as a member of it, or as a superuser.',
                                pg_get_userbyid(owner));
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist.require_owner(regclass) IS
'Raises an error unless the caller may act as the owner of the table (internal)';

REVOKE ALL ON FUNCTION zbxhist.require_owner(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.require_owner(regclass) TO PUBLIC;
-- sql/functions/require_parent.sql

CREATE FUNCTION zbxhist.require_parent(parent regclass)
RETURNS zbxhist.parent_config
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    policy zbxhist.parent_config;
BEGIN
    IF parent IS NULL THEN
        RAISE EXCEPTION 'table must not be null'
            USING ERRCODE = 'null_value_not_allowed';
    END IF;
    SELECT * INTO policy FROM zbxhist.parent_config c WHERE c.parent = require_parent.parent;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'table % is not managed by zbxhist', parent
            USING ERRCODE = 'invalid_object_definition',
                  HINT = format('SELECT zbxhist.create_parent(%L);', parent);
    END IF;
    PERFORM zbxhist.require_owner(parent);
    RETURN policy;
END
$$;

COMMENT ON FUNCTION zbxhist.require_parent(regclass) IS
'The policy of a managed table that the caller owns; raises an error otherwise (internal)';

REVOKE ALL ON FUNCTION zbxhist.require_parent(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.require_parent(regclass) TO PUBLIC;
-- sql/functions/require_schemas.sql

CREATE FUNCTION zbxhist.require_schemas(asked name, schemas name[])
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF cardinality(schemas) > 0 THEN
        RETURN;
    END IF;
    IF asked IS NULL THEN
        RAISE EXCEPTION 'found no Zabbix history table in this database'
            USING ERRCODE = 'undefined_table',
                  HINT = 'Connect to the database of Zabbix, or name the schema: SELECT * FROM zbxhist.setup(''zabbix'');';
    ELSIF NOT EXISTS (SELECT FROM pg_namespace n WHERE n.nspname = asked) THEN
        RAISE EXCEPTION 'schema "%" does not exist', asked
            USING ERRCODE = 'invalid_schema_name';
    ELSE
        RAISE EXCEPTION 'found no Zabbix history table in schema "%"', asked
            USING ERRCODE = 'undefined_table';
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist.require_schemas(name, name[]) IS
'Raises an error if setup found nothing (internal)';

REVOKE ALL ON FUNCTION zbxhist.require_schemas(name, name[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.require_schemas(name, name[]) TO PUBLIC;
-- sql/functions/role_name.sql

CREATE FUNCTION zbxhist.role_name(role oid)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE role WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(role)) END
$$;

COMMENT ON FUNCTION zbxhist.role_name(oid) IS
'A role as GRANT and REVOKE name it (internal)';

REVOKE ALL ON FUNCTION zbxhist.role_name(oid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.role_name(oid) TO PUBLIC;
-- sql/functions/run_step.sql
--
-- One step of maintenance on one parent, in the transaction of the caller,
-- which commits after it.  Whatever goes wrong is undone, logged and answered
-- with a word; only a cancel or a lost connection ends the run.
--
-- Answers: done, more (call again), wait (call again later), busy (another run
-- is at this parent), locked (no lock in time), failed.

CREATE FUNCTION zbxhist.run_step(parent regclass, step text, relation regclass DEFAULT NULL)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    label   CONSTANT text := relation::text;
    answer  text;
    problem text;
    state   text;
BEGIN
    IF NOT pg_try_advisory_xact_lock(zbxhist.lock_class(), parent::oid::integer) THEN
        RETURN 'busy';
    END IF;
    -- undo may have begun since this run did
    IF step IN ('premake', 'extend', 'move', 'pack', 'merge')
       AND EXISTS (SELECT FROM zbxhist.parent_config c
                    WHERE c.parent = run_step.parent AND NOT c.routing) THEN
        RETURN 'done';
    END IF;
    PERFORM set_config('lock_timeout', zbxhist.short_lock_timeout()::text, true);
    BEGIN
        answer := CASE step
            WHEN 'take_up' THEN zbxhist.step_take_up(parent)
            WHEN 'begin' THEN zbxhist.step_begin(parent)
            WHEN 'premake' THEN zbxhist.step_premake(parent)
            WHEN 'extend' THEN zbxhist.step_extend(parent)
            WHEN 'move' THEN zbxhist.step_move(parent, relation)
            WHEN 'attach' THEN zbxhist.step_attach(parent)
            WHEN 'unpack' THEN zbxhist.step_unpack(parent, relation)
            WHEN 'drop' THEN zbxhist.step_drop(parent, relation)
            WHEN 'pack' THEN zbxhist.step_pack(parent, relation)
            WHEN 'merge' THEN zbxhist.step_merge(parent, relation)
            WHEN 'expire' THEN zbxhist.step_expire(parent)
            WHEN 'verify' THEN zbxhist.step_verify(parent)
            WHEN 'truncate' THEN zbxhist.step_truncate(parent)
            WHEN 'undo_begin' THEN zbxhist.step_undo_begin(parent)
            WHEN 'undo_move' THEN zbxhist.step_undo_move(parent, relation)
            WHEN 'undo_settle' THEN zbxhist.step_undo_settle(parent)
            WHEN 'undo_drop' THEN zbxhist.step_undo_drop(parent, relation)
            WHEN 'undo_end' THEN zbxhist.step_undo_end(parent)
            WHEN 'end' THEN zbxhist.step_end(parent)
        END;
        RETURN answer;
    EXCEPTION
        WHEN lock_not_available OR deadlock_detected OR serialization_failure THEN
            GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT, state = RETURNED_SQLSTATE;
            answer := 'locked';
        WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT, state = RETURNED_SQLSTATE;
            answer := 'failed';
            RAISE WARNING 'zbxhist: % of % failed: %', step, coalesce(label, parent::text), problem;
    END;
    PERFORM zbxhist.log_action(parent, step, label, NULL, NULL, started,
                               CASE answer WHEN 'locked' THEN clock_timestamp() - started END,
                               state, problem);
    RETURN answer;
END
$$;

COMMENT ON FUNCTION zbxhist.run_step(regclass, text, regclass) IS
'Runs one step of maintenance, logs its failure, and says whether to go on (internal)';

REVOKE ALL ON FUNCTION zbxhist.run_step(regclass, text, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.run_step(regclass, text, regclass) TO pg_database_owner;
-- sql/functions/running_transactions.sql
--
-- pg_stat_activity hides the snapshots of other roles' sessions from an
-- ordinary role, but pg_locks shows everybody's virtual transaction ids: who
-- began after this list was made has a snapshot that sees what was committed
-- before it was made.  VACUUM reads no rows for anybody, and launchers read no
-- tables of a database.  A prepared transaction has lost its virtual id, so all
-- of them together have a name of their own.

CREATE FUNCTION zbxhist.running_transactions()
RETURNS text[]
LANGUAGE sql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(array_agg(l.virtualxid ORDER BY l.virtualxid), '{}')
           || CASE WHEN EXISTS (SELECT FROM pg_prepared_xacts x
                                 WHERE x.database = current_database())
                   THEN ARRAY['prepared'] ELSE '{}' END
      FROM pg_locks l
      JOIN pg_stat_activity a ON a.pid = l.pid
      JOIN pg_database d ON d.datname = current_database()
     WHERE l.locktype = 'virtualxid' AND l.granted AND l.mode = 'ExclusiveLock'
       AND l.pid <> pg_backend_pid()
       AND (a.datid = d.oid OR a.datid IS NULL)
       AND coalesce(a.backend_type, '') NOT IN
           ('autovacuum worker', 'autovacuum launcher', 'logical replication launcher')
       AND NOT EXISTS (SELECT FROM pg_stat_progress_vacuum v WHERE v.pid = l.pid)
$$;

COMMENT ON FUNCTION zbxhist.running_transactions() IS
'The virtual transaction ids of all other sessions that may read tables of this database, and "prepared" if there are prepared ones (internal)';

REVOKE ALL ON FUNCTION zbxhist.running_transactions() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.running_transactions() TO PUBLIC;
-- sql/functions/library_list.sql

CREATE FUNCTION zbxhist.library_list(value text)
RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    -- names with commas or spaces are in double quotes
    SELECT ARRAY(SELECT coalesce(replace(m.parts[1], '""', '"'), rtrim(m.parts[2]))
                   FROM regexp_matches(value, '"((?:[^"]|"")+)"|([^",\s][^",]*)', 'g')
                        WITH ORDINALITY AS m (parts, place)
                  ORDER BY m.place)
$$;

COMMENT ON FUNCTION zbxhist.library_list(text) IS
'The libraries that a value of session_preload_libraries names (internal)';

REVOKE ALL ON FUNCTION zbxhist.library_list(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.library_list(text) TO PUBLIC;
-- sql/functions/session_libraries.sql
--
-- What is set for the server counts where nothing is set for the database.
-- Who runs this may have a setting of his own, which says nothing of others,
-- or may not see the server's: then it is unknown.

CREATE FUNCTION zbxhist.session_libraries()
RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    value text;
BEGIN
    SELECT substr(o, length('session_preload_libraries=') + 1) INTO value
      FROM pg_db_role_setting s
      JOIN pg_database d ON d.oid = s.setdatabase,
           unnest(s.setconfig) o
     WHERE d.datname = current_database() AND s.setrole = 0
       AND starts_with(o, 'session_preload_libraries=');
    IF NOT FOUND THEN
        SELECT s.setting INTO value
          FROM pg_settings s
         WHERE s.name = 'session_preload_libraries'
           AND s.source IN ('default', 'environment variable', 'configuration file', 'command line', 'global');
        IF NOT FOUND THEN
            RETURN NULL;
        END IF;
    END IF;
    RETURN zbxhist.library_list(value);
END
$$;

COMMENT ON FUNCTION zbxhist.session_libraries() IS
'The libraries that session_preload_libraries names for all sessions of this database; NULL if the caller cannot know (internal)';

REVOKE ALL ON FUNCTION zbxhist.session_libraries() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.session_libraries() TO PUBLIC;
-- sql/functions/with_library.sql

CREATE FUNCTION zbxhist.with_library(libraries text[])
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT string_agg(quote_literal(l), ', ' ORDER BY place)
      FROM unnest(libraries || 'zbxhist'::text) WITH ORDINALITY AS u (l, place)
    HAVING NOT coalesce(bool_or(l ~ '(^|/)zbxhist(\.\w+)?$')
                            FILTER (WHERE place <= cardinality(libraries)), false)
$$;

COMMENT ON FUNCTION zbxhist.with_library(text[]) IS
'A list of libraries with zbxhist added, as SET wants it; NULL if it is among them already (internal)';

REVOKE ALL ON FUNCTION zbxhist.with_library(text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.with_library(text[]) TO PUBLIC;
-- sql/functions/overriding_roles.sql
--
-- What is set for a role, and more so for a role in a database, counts before
-- what is set for the database.

CREATE FUNCTION zbxhist.overriding_roles()
RETURNS TABLE (role name, command text)
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT r.rolname,
           format('ALTER ROLE %I IN DATABASE %I SET session_preload_libraries = %s',
                  r.rolname, current_database(), w.libraries)
      FROM pg_roles r
     CROSS JOIN LATERAL (
           SELECT substr(o, length('session_preload_libraries=') + 1) AS value
             FROM pg_db_role_setting s
             LEFT JOIN pg_database d ON d.oid = s.setdatabase,
                  unnest(s.setconfig) o
            WHERE s.setrole = r.oid AND (s.setdatabase = 0 OR d.datname = current_database())
              AND starts_with(o, 'session_preload_libraries=')
            ORDER BY s.setdatabase = 0
            LIMIT 1) v,
           zbxhist.with_library(zbxhist.library_list(v.value)) AS w (libraries)
     WHERE r.rolcanlogin AND w.libraries IS NOT NULL AND NOT zbxhist.is_shared()
       AND EXISTS (SELECT FROM unnest(zbxhist.parent_list()) p (parent)
                    WHERE has_table_privilege(r.oid, p.parent, 'INSERT'))
     ORDER BY r.rolname
$$;

COMMENT ON FUNCTION zbxhist.overriding_roles() IS
'The roles that may insert and whose own session_preload_libraries leaves the library out, each with the command that adds it (internal)';

REVOKE ALL ON FUNCTION zbxhist.overriding_roles() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.overriding_roles() TO PUBLIC;
-- sql/functions/set_action.sql

CREATE FUNCTION zbxhist.set_action(parent regclass, action text, relation text)
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    UPDATE zbxhist.parent_state s
       SET action = set_action.action, relation = set_action.relation,
           action_pid = pg_backend_pid(), action_started = clock_timestamp(),
           first_itemid = NULL, final_itemid = NULL, position_itemid = NULL,
           action_rows = 0, action_percent = 0
     WHERE s.parent = set_action.parent
$$;

COMMENT ON FUNCTION zbxhist.set_action(regclass, text, text) IS
'Notes the batched action that begins, for the view progress (internal)';

REVOKE ALL ON FUNCTION zbxhist.set_action(regclass, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.set_action(regclass, text, text) TO pg_database_owner;
-- sql/functions/settled.sql
--
-- Moved rows stay in their old table, deleted, for whoever has an older
-- snapshot.  TRUNCATE and DROP respect no snapshot, so before one of them
-- every transaction must have ended that was running when the last move had
-- been committed.  Called for the first time after a move, this makes the list
-- of those; called again, it says whether one is still there.

CREATE FUNCTION zbxhist.settled(parent regclass)
RETURNS boolean
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    state zbxhist.parent_state;
BEGIN
    SELECT * INTO STRICT state FROM zbxhist.parent_state s WHERE s.parent = settled.parent;
    IF state.settling IS NULL THEN
        state.settling := zbxhist.running_transactions();
        UPDATE zbxhist.parent_state s SET settling = state.settling WHERE s.parent = settled.parent;
    END IF;
    RETURN zbxhist.is_settled(state.settling, state.last_move);
END
$$;

COMMENT ON FUNCTION zbxhist.settled(regclass) IS
'Whether no transaction can need the rows of a managed table at their place before the last move any more (internal)';

REVOKE ALL ON FUNCTION zbxhist.settled(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.settled(regclass) TO pg_database_owner;
-- sql/functions/setup.sql
--
-- The partitions come first, under locks that stop nobody; the one lock that
-- does stop INSERTs, for the triggers, comes last, for all tables at once and
-- in the order of Zabbix, and is let go by the COMMIT that follows.

CREATE FUNCTION zbxhist.setup(
    schema_name name DEFAULT NULL,
    history_retention interval DEFAULT NULL,
    trends_retention interval DEFAULT NULL,
    premake integer DEFAULT 3,
    pack_after interval DEFAULT '1 day',
    move_existing boolean DEFAULT false,
    configure_zabbix boolean DEFAULT false,
    dry_run boolean DEFAULT false)
RETURNS TABLE (parent regclass, action text, detail text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    options CONSTANT zbxhist.managed_schema := ROW(schema_name, history_retention,
        trends_retention, premake, pack_after, move_existing, '{}')::zbxhist.managed_schema;
    policy  zbxhist.parent_config;
    found_table  record;
    found_schema name;
    schemas name[] := '{}';
    fresh   regclass[] := '{}';
BEGIN
    FOR found_table IN SELECT * FROM zbxhist.find_tables(schema_name) LOOP
        IF found_table.table_schema <> ALL (schemas) THEN
            schemas := schemas || found_table.table_schema;
        END IF;
        parent := found_table.parent;
        SELECT * INTO policy FROM zbxhist.parent_config c WHERE c.parent = found_table.parent;
        IF FOUND AND policy.routing THEN
            action := 'unchanged';
        ELSE
            action := 'create_parent';
            policy := zbxhist.new_policy(parent, found_table.is_trends, options);
            PERFORM zbxhist.verify_table(parent);
            fresh := fresh || parent;
        END IF;
        detail := zbxhist.describe_policy(policy);
        RETURN NEXT;
    END LOOP;
    PERFORM zbxhist.require_schemas(schema_name, schemas);
    FOREACH found_schema IN ARRAY schemas LOOP
        IF configure_zabbix THEN
            parent := NULL;
            action := 'configure_zabbix';
            detail := zbxhist.configure_zabbix(found_schema, dry_run);
            RETURN NEXT;
        END IF;
        IF NOT dry_run THEN
            PERFORM zbxhist.remember_schema(found_schema, options);
        END IF;
    END LOOP;
    IF NOT dry_run THEN
        PERFORM zbxhist.adopt(zbxhist.new_policy(f.parent, f.is_trends, options))
           FROM zbxhist.find_tables(schema_name) f
          WHERE f.parent = ANY (fresh);
    END IF;
    parent := NULL;
    action := 'preload';
    detail := zbxhist.preload_library(dry_run);
    IF detail IS NOT NULL THEN
        RETURN NEXT;
    END IF;
    FOR detail IN SELECT 'left to a superuser: ' || r.command FROM zbxhist.overriding_roles() r LOOP
        RETURN NEXT;
    END LOOP;
    -- last: its lock stops writers until the end of the transaction
    IF NOT dry_run THEN
        PERFORM zbxhist.attach_triggers(fresh);
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist.setup(name, interval, interval, integer, interval, boolean, boolean, boolean) IS
'Finds the Zabbix history and trends tables, takes those into care that are not yet, in place, and says what it did; with dry_run, what it would do';

REVOKE ALL ON FUNCTION zbxhist.setup(name, interval, interval, integer, interval, boolean, boolean, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.setup(name, interval, interval, integer, interval, boolean, boolean, boolean) TO pg_database_owner;
-- sql/functions/short_lock_timeout.sql

CREATE FUNCTION zbxhist.short_lock_timeout()
RETURNS integer
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- the setting exists once the library is loaded
    PERFORM zbxhist.version();
    RETURN coalesce((SELECT greatest(1, setting::integer) FROM pg_settings
                      WHERE name = 'zbxhist.maintenance_lock_timeout'), 500);
END
$$;

COMMENT ON FUNCTION zbxhist.short_lock_timeout() IS
'Longest wait for a lock that stops writers, in milliseconds (internal)';

REVOKE ALL ON FUNCTION zbxhist.short_lock_timeout() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.short_lock_timeout() TO PUBLIC;
-- sql/functions/step_begin.sql

CREATE FUNCTION zbxhist.step_begin(parent regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM zbxhist.require_parent(parent);
    INSERT INTO zbxhist.parent_state (parent) VALUES (parent)
    ON CONFLICT ON CONSTRAINT parent_state_pkey DO UPDATE SET failed = false, extended_to = NULL;
    PERFORM zbxhist.set_action(parent, NULL, NULL);
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist.step_begin(regclass) IS
'Maintenance: begins a run for one parent (internal)';

REVOKE ALL ON FUNCTION zbxhist.step_begin(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.step_begin(regclass) TO pg_database_owner;
-- sql/functions/step_drop.sql

CREATE FUNCTION zbxhist.step_drop(parent regclass, relation regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    label   CONSTANT text := relation::text;
    rows    bigint;
    bytes   bigint;
    waited  interval;
BEGIN
    PERFORM zbxhist.require_parent(parent);
    -- another run may have dropped it, or the retention has been changed
    IF EXISTS (SELECT FROM zbxhist.expired_days(parent) e WHERE e = relation) THEN
        SELECT d.nrows INTO rows FROM zbxhist.packed_day d WHERE d.day = relation;
        bytes := pg_total_relation_size(relation);
        waited := zbxhist.drop_day(parent, relation);
    ELSIF EXISTS (SELECT FROM zbxhist.expired_partitions(parent) e WHERE e = relation) THEN
        waited := zbxhist.lock_exclusively(relation, zbxhist.short_lock_timeout());
        rows := zbxhist.estimated_rows(relation);
        bytes := pg_total_relation_size(relation);
        EXECUTE format('DROP TABLE %s', relation);
        PERFORM zbxhist.invalidate(parent);
    ELSE
        RETURN 'done';
    END IF;
    PERFORM zbxhist.log_action(parent, 'drop', label, rows, bytes, started, waited);
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist.step_drop(regclass, regclass) IS
'Maintenance: drops a partition or a packed day that is past retention (internal)';

REVOKE ALL ON FUNCTION zbxhist.step_drop(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.step_drop(regclass, regclass) TO pg_database_owner;
-- sql/functions/step_end.sql

CREATE FUNCTION zbxhist.step_end(parent regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    present CONSTANT timestamptz := clock_timestamp();
BEGIN
    UPDATE zbxhist.parent_state s
       SET last_run = present,
           last_success = CASE WHEN s.failed THEN s.last_success ELSE present END,
           extended_to = NULL, action = NULL, relation = NULL, action_pid = NULL, action_started = NULL
     WHERE s.parent = step_end.parent;
    DELETE FROM zbxhist.maintenance_log l
     WHERE l.started_at < present - interval '30 days';
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist.step_end(regclass) IS
'Maintenance: ends a run for one parent and forgets old log entries (internal)';

REVOKE ALL ON FUNCTION zbxhist.step_end(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.step_end(regclass) TO pg_database_owner;
-- sql/functions/step_expire.sql
--
-- A parent of more than 1 GB is not cleaned row by row: its rows wait until all
-- of them are past retention, and then one TRUNCATE takes them.

CREATE FUNCTION zbxhist.step_expire(parent regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    cutoff CONSTANT bigint := zbxhist.cutoff_clock(parent);
    state  zbxhist.parent_state;
    batch  record;
BEGIN
    PERFORM zbxhist.require_parent(parent);
    IF cutoff IS NULL OR zbxhist.own_pages(parent) NOT BETWEEN 1 AND 131072 THEN
        RETURN 'done';
    END IF;
    SELECT * INTO STRICT state FROM zbxhist.parent_state s WHERE s.parent = step_expire.parent;
    IF state.action IS DISTINCT FROM 'expire' THEN
        IF zbxhist.waiting_clock(parent, -2147483648, cutoff, false) IS NULL THEN
            RETURN 'done';
        END IF;
        PERFORM zbxhist.set_action(parent, 'expire', NULL);
        SELECT * INTO STRICT state FROM zbxhist.parent_state s WHERE s.parent = step_expire.parent;
    END IF;
    batch := zbxhist.delete_expired(parent, cutoff, state.position_itemid, 5000);
    UPDATE zbxhist.parent_state s
       SET position_itemid = batch.last_itemid, action_rows = s.action_rows + batch.deleted,
           settling = NULL
     WHERE s.parent = step_expire.parent;
    IF NOT batch.done THEN
        RETURN 'more';
    END IF;
    PERFORM zbxhist.log_action(parent, 'expire', NULL, state.action_rows + batch.deleted, NULL,
                               state.action_started);
    PERFORM zbxhist.set_action(parent, NULL, NULL);
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist.step_expire(regclass) IS
'Maintenance: deletes a batch of rows past retention from the parent itself (internal)';

REVOKE ALL ON FUNCTION zbxhist.step_expire(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.step_expire(regclass) TO pg_database_owner;
-- sql/functions/step_extend.sql
--
-- For move_existing: from the newest to the oldest.

CREATE FUNCTION zbxhist.step_extend(parent regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    policy  CONSTANT zbxhist.parent_config := zbxhist.require_parent(parent);
    started CONSTANT timestamptz := clock_timestamp();
    gap     CONSTANT record := zbxhist.next_existing_range(policy);
    made    regclass;
BEGIN
    IF gap.from_clock IS NULL THEN
        RETURN 'done';
    END IF;
    made := zbxhist.create_range(parent, gap.from_clock, gap.to_clock);
    PERFORM zbxhist.log_action(parent, 'extend', made::text, NULL, NULL, started);
    UPDATE zbxhist.parent_state s SET extended_to = gap.from_clock
     WHERE s.parent = step_extend.parent;
    PERFORM zbxhist.set_action(parent, 'move', made::text);
    RETURN 'more';
END
$$;

COMMENT ON FUNCTION zbxhist.step_extend(regclass) IS
'Maintenance: creates the partition of the newest rows in the parent that have none (internal)';

REVOKE ALL ON FUNCTION zbxhist.step_extend(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.step_extend(regclass) TO pg_database_owner;
-- sql/functions/step_move.sql

CREATE FUNCTION zbxhist.step_move(parent regclass, partition regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    bounds record;
BEGIN
    PERFORM zbxhist.require_parent(parent);
    SELECT p.from_clock, p.to_clock INTO bounds
      FROM zbxhist.list_partitions(parent) p WHERE p.partition = step_move.partition;
    IF NOT FOUND THEN
        RETURN 'done';
    END IF;
    RETURN zbxhist.move_batch(parent, 'move', partition, parent, partition,
                              bounds.from_clock, bounds.to_clock);
END
$$;

COMMENT ON FUNCTION zbxhist.step_move(regclass, regclass) IS
'Maintenance: moves a batch of rows from the parent to their partition (internal)';

REVOKE ALL ON FUNCTION zbxhist.step_move(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.step_move(regclass, regclass) TO pg_database_owner;
-- sql/functions/step_premake.sql

CREATE FUNCTION zbxhist.step_premake(parent regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    policy  CONSTANT zbxhist.parent_config := zbxhist.require_parent(parent);
    started CONSTANT timestamptz := clock_timestamp();
    gap     record;
    made    regclass;
BEGIN
    SELECT * INTO gap FROM zbxhist.wanted_ranges(policy) w ORDER BY w.from_clock LIMIT 1;
    IF NOT FOUND THEN
        RETURN 'done';
    END IF;
    made := zbxhist.create_range(parent, gap.from_clock, gap.to_clock);
    PERFORM zbxhist.log_action(parent, 'premake', made::text, NULL, NULL, started);
    RETURN 'more';
END
$$;

COMMENT ON FUNCTION zbxhist.step_premake(regclass) IS
'Maintenance: creates the next partition that the policy wants (internal)';

REVOKE ALL ON FUNCTION zbxhist.step_premake(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.step_premake(regclass) TO pg_database_owner;
-- sql/functions/step_take_up.sql

CREATE FUNCTION zbxhist.step_take_up(parent regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    policy  zbxhist.parent_config;
    waited  interval;
BEGIN
    IF NOT EXISTS (SELECT FROM zbxhist.new_tables() n WHERE n = parent) THEN
        RETURN 'done';
    END IF;
    SELECT (zbxhist.new_policy(f.parent, f.is_trends, m)).* INTO STRICT policy
      FROM zbxhist.managed_schema m,
           zbxhist.find_tables(m.schema_name) f
     WHERE f.parent = step_take_up.parent;
    PERFORM zbxhist.adopt(policy);
    waited := zbxhist.attach_triggers(ARRAY[parent]);
    PERFORM zbxhist.log_action(parent, 'take_up', NULL, NULL, NULL, started, waited, NULL,
                               zbxhist.describe_policy(policy));
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist.step_take_up(regclass) IS
'Maintenance: makes a new Zabbix table a managed one (internal)';

REVOKE ALL ON FUNCTION zbxhist.step_take_up(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.step_take_up(regclass) TO pg_database_owner;
-- sql/functions/step_truncate.sql
--
-- Empties a parent whose rows have all been moved or are past retention, so
-- that inserts and maintenance find a table of no pages.  INSERTs wait while
-- the lock is waited for and held, for the time allowed altogether: how long it
-- will be held is measured first, what is left is for the wait.

CREATE FUNCTION zbxhist.step_truncate(parent regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    cutoff  CONSTANT bigint := zbxhist.cutoff_clock(parent);
    allowed CONSTANT integer := zbxhist.short_lock_timeout();
    left_ms integer;
    started timestamptz;
    took    interval;
    waited  interval;
    rows    bigint;
    bytes   bigint;
BEGIN
    PERFORM zbxhist.require_parent(parent);
    IF zbxhist.own_pages(parent) = 0 OR zbxhist.has_own_rows(parent, cutoff) THEN
        RETURN 'done';
    END IF;
    IF NOT zbxhist.settled(parent) THEN
        RETURN 'wait';
    END IF;
    -- how long will the last look take, under the lock?
    started := clock_timestamp();
    IF zbxhist.has_own_rows(parent, cutoff) THEN
        RETURN 'done';
    END IF;
    took := clock_timestamp() - started;
    left_ms := allowed - 1100 * extract(epoch FROM took);
    IF left_ms < greatest(1, allowed / 20) THEN
        PERFORM zbxhist.log_action(parent, 'truncate', NULL, NULL, NULL, started, NULL, NULL,
            format('postponed: making sure that no row is left takes %s; autovacuum, or a longer'
                   ' zbxhist.maintenance_lock_timeout for one run, will help', took));
        RETURN 'done';
    END IF;
    started := clock_timestamp();
    waited := zbxhist.lock_exclusively(parent, left_ms);
    IF zbxhist.has_own_rows(parent, cutoff) THEN
        RETURN 'done';
    END IF;
    rows := CASE WHEN zbxhist.has_own_rows(parent, NULL)
                 THEN zbxhist.estimated_rows(parent) ELSE 0 END;
    bytes := pg_total_relation_size(parent);
    EXECUTE format('TRUNCATE ONLY %s', parent);
    UPDATE zbxhist.parent_state s SET settling = NULL WHERE s.parent = step_truncate.parent;
    PERFORM zbxhist.log_action(parent, 'truncate', NULL, rows, bytes, started, waited);
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist.step_truncate(regclass) IS
'Maintenance: truncates a parent, without its partitions, when nothing in it is needed any more (internal)';

REVOKE ALL ON FUNCTION zbxhist.step_truncate(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.step_truncate(regclass) TO pg_database_owner;
-- sql/functions/is_unverified.sql

CREATE FUNCTION zbxhist.is_unverified(parent regclass, version xid, present text[])
RETURNS boolean
LANGUAGE sql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM zbxhist.stray_mark m WHERE m.parent = is_unverified.parent)
        OR EXISTS (SELECT FROM zbxhist.partition_state s
                    WHERE s.parent = is_unverified.parent
                      AND s.verified IS DISTINCT FROM is_unverified.version
                      AND NOT coalesce(s.settling && present, false))
$$;

COMMENT ON FUNCTION zbxhist.is_unverified(regclass, xid, text[]) IS
'Whether there is anything to find out for step_verify (internal)';

REVOKE ALL ON FUNCTION zbxhist.is_unverified(regclass, xid, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.is_unverified(regclass, xid, text[]) TO pg_database_owner;
-- sql/functions/step_verify.sql
--
-- Finds out for which partitions the parent has no rows, so that inserts need
-- not look there, see src/ingest/stray.c.  What a transaction that did not
-- know the partition yet puts into the parent is not to be seen before it
-- ends, so a partition is verified when all those have ended that ran when it
-- was first seen here; one of them may be prepared by then.
--
-- The strays lock keeps some inserts waiting.  A small parent is looked through
-- under it; a large one in the transaction after the one that took it and
-- removed the marks, and what has been marked meanwhile makes the look void.

CREATE FUNCTION zbxhist.step_verify(parent regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    present CONSTANT text[] := zbxhist.running_transactions();
    looking boolean;
    divide  boolean;
    version xid;
    newest  bigint;
BEGIN
    PERFORM zbxhist.require_parent(parent);
    DELETE FROM zbxhist.partition_state s
     WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = s.partition);
    INSERT INTO zbxhist.partition_state (partition, parent, settling)
    SELECT p.partition, step_verify.parent, present || 'prepared'::text
      FROM zbxhist.list_partitions(parent) p
        ON CONFLICT DO NOTHING;

    -- outside of a run of maintenance there may be no row
    SELECT s.verifying INTO looking FROM zbxhist.parent_state s
     WHERE s.parent = step_verify.parent FOR UPDATE;
    divide := FOUND AND NOT looking AND zbxhist.own_pages(parent) >= 1000;
    looking := coalesce(looking, false);

    -- strays are waited for; then a fresh snapshot shows their rows
    IF NOT looking THEN
        PERFORM zbxhist.lock_strays(parent);
    END IF;
    UPDATE zbxhist.parent_state s SET verifying = false
     WHERE s.parent = step_verify.parent AND s.verifying;
    SELECT t.xmin INTO version FROM pg_trigger t
     WHERE t.tgrelid = parent AND t.tgname = 'zzz_zbxhist_route' AND t.tgenabled <> 'D';
    IF NOT zbxhist.is_unverified(parent, version, present) THEN
        RETURN 'done';
    END IF;
    IF divide THEN
        PERFORM zbxhist.remove_marks(parent);
        UPDATE zbxhist.parent_state s SET verifying = true WHERE s.parent = step_verify.parent;
        RETURN 'more';
    END IF;
    SELECT zbxhist.waiting_clock(parent, min(p.from_clock), max(p.to_clock), true) INTO newest
      FROM zbxhist.list_partitions(parent) p;
    IF looking THEN
        PERFORM zbxhist.lock_strays(parent);
        IF EXISTS (SELECT FROM zbxhist.stray_mark m WHERE m.parent = step_verify.parent) THEN
            RETURN 'done';
        END IF;
    END IF;

    PERFORM zbxhist.remove_marks(parent);
    UPDATE zbxhist.partition_state s
       SET settling = CASE WHEN s.settling && present THEN s.settling END,
           verified = CASE WHEN p.from_clock > newest OR newest IS NULL THEN version END
      FROM zbxhist.list_partitions(step_verify.parent) p
     WHERE s.partition = p.partition AND NOT coalesce(s.settling && present, false);
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist.step_verify(regclass) IS
'Maintenance: notes for which partitions no row is in the parent (internal)';

REVOKE ALL ON FUNCTION zbxhist.step_verify(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.step_verify(regclass) TO pg_database_owner;
-- sql/functions/step_undo_begin.sql

CREATE FUNCTION zbxhist.step_undo_begin(parent regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM zbxhist.step_begin(parent);
    UPDATE zbxhist.parent_config c SET routing = false WHERE c.parent = step_undo_begin.parent;
    UPDATE zbxhist.managed_schema m
       SET excluded = m.excluded || k.relname
      FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace
     WHERE k.oid = step_undo_begin.parent AND m.schema_name = n.nspname
       AND k.relname <> ALL (m.excluded);
    PERFORM zbxhist.invalidate(parent);
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist.step_undo_begin(regclass) IS
'Undo: from now on every new row stays in the parent (internal)';

REVOKE ALL ON FUNCTION zbxhist.step_undo_begin(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.step_undo_begin(regclass) TO pg_database_owner;
-- sql/functions/step_undo_drop.sql

CREATE FUNCTION zbxhist.step_undo_drop(parent regclass, partition regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    label   CONSTANT text := partition::text;
    waited  interval;
BEGIN
    IF NOT zbxhist.settled(parent) OR zbxhist.has_own_rows(partition, NULL) THEN
        RETURN 'again';
    END IF;
    waited := zbxhist.lock_exclusively(partition, zbxhist.short_lock_timeout());
    -- a transaction that began before the undo may have written to it
    IF zbxhist.has_own_rows(partition, NULL) THEN
        RETURN 'again';
    END IF;
    PERFORM zbxhist.end_older_snapshots(partition, s.last_move)
       FROM zbxhist.parent_state s WHERE s.parent = step_undo_drop.parent;
    EXECUTE format('DROP TABLE %s', partition);
    PERFORM zbxhist.invalidate(parent);
    PERFORM zbxhist.log_action(parent, 'undo_drop', label, 0, NULL, started, waited);
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist.step_undo_drop(regclass, regclass) IS
'Undo: drops a partition that has been emptied (internal)';

REVOKE ALL ON FUNCTION zbxhist.step_undo_drop(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.step_undo_drop(regclass, regclass) TO pg_database_owner;
-- sql/functions/step_undo_end.sql

CREATE FUNCTION zbxhist.step_undo_end(parent regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    packed  CONSTANT regclass := zbxhist.packed_table(parent);
    waited  interval;
    item    record;
BEGIN
    IF EXISTS (SELECT FROM zbxhist.list_ranges(parent)) THEN
        RETURN 'again';
    END IF;
    IF packed IS NOT NULL THEN
        PERFORM zbxhist.lock_patiently(parent);
        waited := zbxhist.lock_exclusively(packed, zbxhist.short_lock_timeout());
        EXECUTE format('DROP FOREIGN TABLE %s', packed);
    END IF;
    waited := zbxhist.lock_exclusively(parent, zbxhist.short_lock_timeout());
    FOR item IN
        SELECT t.tgname FROM pg_trigger t
         WHERE t.tgrelid = parent AND t.tgfoid = 'zbxhist.route()'::regprocedure
    LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', item.tgname, parent);
    END LOOP;
    PERFORM zbxhist.log_action(parent, 'undo', NULL, NULL, NULL, started, waited);
    DELETE FROM zbxhist.parent_state s WHERE s.parent = step_undo_end.parent;
    DELETE FROM zbxhist.parent_config c WHERE c.parent = step_undo_end.parent;
    PERFORM zbxhist.invalidate(parent);
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist.step_undo_end(regclass) IS
'Undo: takes the triggers off the parent and forgets it (internal)';

REVOKE ALL ON FUNCTION zbxhist.step_undo_end(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.step_undo_end(regclass) TO pg_database_owner;
-- sql/functions/step_undo_move.sql

CREATE FUNCTION zbxhist.step_undo_move(parent regclass, partition regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    bounds record;
BEGIN
    SELECT p.from_clock, p.to_clock INTO bounds
      FROM zbxhist.list_partitions(parent) p WHERE p.partition = step_undo_move.partition;
    IF NOT FOUND THEN
        RETURN 'done';
    END IF;
    RETURN zbxhist.move_batch(parent, 'undo', partition, partition, parent,
                              bounds.from_clock, bounds.to_clock);
END
$$;

COMMENT ON FUNCTION zbxhist.step_undo_move(regclass, regclass) IS
'Undo: moves a batch of rows from a partition back to the parent (internal)';

REVOKE ALL ON FUNCTION zbxhist.step_undo_move(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.step_undo_move(regclass, regclass) TO pg_database_owner;
-- sql/functions/step_undo_settle.sql

CREATE FUNCTION zbxhist.step_undo_settle(parent regclass)
RETURNS text
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN zbxhist.settled(parent) THEN 'done' ELSE 'wait' END
$$;

COMMENT ON FUNCTION zbxhist.step_undo_settle(regclass) IS
'Undo: waits for transactions that may need the moved rows where they were (internal)';

REVOKE ALL ON FUNCTION zbxhist.step_undo_settle(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.step_undo_settle(regclass) TO pg_database_owner;
-- sql/functions/stored_values.sql

CREATE FUNCTION zbxhist.stored_values(
    parent regclass,
    OUT values_routed bigint,
    OUT values_kept bigint,
    OUT batches bigint,
    OUT values_fast bigint)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    SELECT c.values_routed, c.values_kept, c.batches, c.values_fast
      INTO values_routed, values_kept, batches, values_fast
      FROM zbxhist.counters() c WHERE c.parent = stored_values.parent;
    IF NOT FOUND THEN
        SELECT sum(pg_stat_get_tuples_inserted(p.partition))::bigint INTO values_routed
          FROM zbxhist.list_partitions(parent) p;
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist.stored_values(regclass) IS
'Values sent to the partitions of a managed table, kept in it, batches, and values planned as fast inserts, since the server started; where the server does not count them, the rows inserted into partitions as the statistics have it';

REVOKE ALL ON FUNCTION zbxhist.stored_values(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.stored_values(regclass) TO PUBLIC;
-- sql/functions/verify_columns.sql

CREATE FUNCTION zbxhist.verify_columns(parent regclass)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wanted record;
    actual record;
BEGIN
    FOR wanted IN
        SELECT * FROM (VALUES ('itemid'::name, 'bigint'::regtype),
                              ('clock', 'integer')) AS v (name, type)
    LOOP
        SELECT a.atttypid::regtype AS type, a.attnotnull, a.attgenerated INTO actual
          FROM pg_attribute a
         WHERE a.attrelid = parent AND a.attname = wanted.name
           AND a.attnum > 0 AND NOT a.attisdropped;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'table % has no column "%"', parent, wanted.name
                USING ERRCODE = 'undefined_column',
                      HINT = 'zbxhist manages tables shaped like Zabbix history: itemid bigint, clock integer and values.';
        END IF;
        IF actual.type <> wanted.type THEN
            RAISE EXCEPTION 'column "%" of table % is of type %, not %',
                            wanted.name, parent, actual.type, wanted.type
                USING ERRCODE = 'datatype_mismatch',
                      HINT = 'zbxhist manages tables shaped like Zabbix history: itemid bigint, clock integer and values.';
        END IF;
        IF NOT actual.attnotnull THEN
            RAISE EXCEPTION 'column "%" of table % can be null', wanted.name, parent
                USING ERRCODE = 'datatype_mismatch',
                      HINT = format('ALTER TABLE %s ALTER COLUMN %I SET NOT NULL;', parent, wanted.name);
        END IF;
        IF actual.attgenerated <> '' THEN
            RAISE EXCEPTION 'column "%" of table % is generated', wanted.name, parent
                USING ERRCODE = 'feature_not_supported';
        END IF;
    END LOOP;
    IF EXISTS (SELECT FROM pg_constraint c
                WHERE c.conrelid = parent AND c.conname = 'zbxhist_clock') THEN
        RAISE EXCEPTION 'table % has a constraint of its own named "zbxhist_clock"', parent
            USING ERRCODE = 'duplicate_object',
                  HINT = format('ALTER TABLE %s DROP CONSTRAINT zbxhist_clock;', parent);
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist.verify_columns(regclass) IS
'Raises an error unless the table has the columns itemid and clock as Zabbix has them (internal)';

REVOKE ALL ON FUNCTION zbxhist.verify_columns(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.verify_columns(regclass) TO PUBLIC;
-- sql/functions/verify_interval.sql

CREATE FUNCTION zbxhist.verify_interval(partition_interval interval)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    months  numeric := extract(year FROM partition_interval) * 12
                       + extract(month FROM partition_interval);
    seconds numeric := extract(epoch FROM partition_interval
                       - make_interval(months => months::integer));
BEGIN
    IF partition_interval IS NULL OR months < 0 OR seconds < 0
       OR (months = 0 AND seconds = 0) THEN
        RAISE EXCEPTION 'partition interval must be greater than zero'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF months > 0 AND seconds > 0 THEN
        RAISE EXCEPTION 'partition interval cannot mix months with days or hours'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Use for example ''1 day'' or ''1 month''.';
    END IF;
    IF seconds % 60 <> 0 THEN
        RAISE EXCEPTION 'partition interval must be a whole number of minutes'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF months > 1200 OR seconds > 86400::bigint * 36525 THEN
        RAISE EXCEPTION 'partition interval is too long'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist.verify_interval(interval) IS
'Raises an error unless the interval can be that of a partition (internal)';

REVOKE ALL ON FUNCTION zbxhist.verify_interval(interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.verify_interval(interval) TO PUBLIC;
-- sql/functions/verify_not_in_other_care.sql
--
-- The catalogs of TimescaleDB and pg_partman are looked at only if they are
-- there, so nothing here depends on them.

CREATE FUNCTION zbxhist.verify_not_in_other_care(parent regclass)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    table_schema name;
    table_name   name;
    catalog      text;
    taken        boolean;
BEGIN
    SELECT n.nspname, k.relname INTO table_schema, table_name
      FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace
     WHERE k.oid = parent;
    IF to_regclass('_timescaledb_catalog.hypertable') IS NOT NULL
       AND has_table_privilege('_timescaledb_catalog.hypertable', 'SELECT') THEN
        EXECUTE 'SELECT EXISTS (SELECT FROM _timescaledb_catalog.hypertable h'
                ' WHERE h.schema_name = $1 AND h.table_name = $2)'
            INTO taken USING table_schema, table_name;
        IF taken THEN
            RAISE EXCEPTION 'cannot manage %: it is a TimescaleDB hypertable', parent
                USING ERRCODE = 'wrong_object_type',
                      HINT = 'Create a plain table like it, copy the rows, rename the two, and call this again.';
        END IF;
    END IF;
    SELECT e.extnamespace::regnamespace || '.part_config' INTO catalog
      FROM pg_extension e WHERE e.extname = 'pg_partman';
    IF to_regclass(catalog) IS NOT NULL AND has_table_privilege(catalog, 'SELECT') THEN
        EXECUTE format('SELECT EXISTS (SELECT FROM %s c WHERE c.parent_table = $1)', catalog)
            INTO taken USING table_schema || '.' || table_name;
        IF taken THEN
            RAISE EXCEPTION 'cannot manage %: it is in the care of pg_partman', parent
                USING ERRCODE = 'object_not_in_prerequisite_state',
                      HINT = format('Take it out first: SELECT %s.undo_partition(...), or DELETE FROM %s WHERE parent_table = %L;',
                                    split_part(catalog, '.part_config', 1), catalog,
                                    table_schema || '.' || table_name);
        END IF;
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist.verify_not_in_other_care(regclass) IS
'Raises an error if TimescaleDB or pg_partman looks after the table (internal)';

REVOKE ALL ON FUNCTION zbxhist.verify_not_in_other_care(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.verify_not_in_other_care(regclass) TO PUBLIC;
-- sql/functions/verify_policy.sql

CREATE FUNCTION zbxhist.verify_policy(policy zbxhist.parent_config)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM zbxhist.verify_interval(policy.partition_interval);
    IF policy.retention <= interval '0' THEN
        RAISE EXCEPTION 'retention must be greater than zero'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'NULL follows the storage period set in Zabbix.';
    END IF;
    IF policy.retention > interval '200 years' THEN
        RAISE EXCEPTION 'retention is too long'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF policy.pack_after <= interval '0' THEN
        RAISE EXCEPTION 'pack_after must be greater than zero'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'NULL never packs.';
    END IF;
    IF policy.premake IS NULL OR policy.premake NOT BETWEEN 0 AND 1000 THEN
        RAISE EXCEPTION 'premake must be between 0 and 1000'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF policy.move_existing IS NULL THEN
        RAISE EXCEPTION 'move_existing must not be null'
            USING ERRCODE = 'null_value_not_allowed';
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist.verify_policy(zbxhist.parent_config) IS
'Raises an error unless the values of a policy make sense (internal)';

REVOKE ALL ON FUNCTION zbxhist.verify_policy(zbxhist.parent_config) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.verify_policy(zbxhist.parent_config) TO PUBLIC;
-- sql/functions/verify_table.sql
--
-- Everything that keeps a table from becoming a parent, said before anything
-- is changed.

CREATE FUNCTION zbxhist.verify_table(parent regclass)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    relation pg_class;
    kind     text;
BEGIN
    IF parent IS NULL THEN
        RAISE EXCEPTION 'table must not be null'
            USING ERRCODE = 'null_value_not_allowed';
    END IF;
    SELECT * INTO relation FROM pg_class k WHERE k.oid = parent;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'table with OID % does not exist', parent::oid
            USING ERRCODE = 'undefined_table';
    END IF;
    IF relation.relkind <> 'r' THEN
        kind := CASE relation.relkind
            WHEN 'p' THEN 'a natively partitioned table'
            WHEN 'v' THEN 'a view'
            WHEN 'm' THEN 'a materialized view'
            WHEN 'f' THEN 'a foreign table'
            ELSE 'not a table' END;
        RAISE EXCEPTION 'cannot manage %: it is %', parent, kind
            USING ERRCODE = 'wrong_object_type',
                  HINT = CASE relation.relkind
                      WHEN 'p' THEN 'Create a plain table like it, copy the rows, rename the two, and call this again.'
                      ELSE 'zbxhist manages plain tables.' END;
    END IF;
    IF relation.relpersistence = 't' THEN
        RAISE EXCEPTION 'cannot manage %: it is a temporary table', parent
            USING ERRCODE = 'feature_not_supported';
    END IF;
    IF relation.relispartition
       OR EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = parent) THEN
        RAISE EXCEPTION 'cannot manage %: it is a partition or inherits from another table', parent
            USING ERRCODE = 'wrong_object_type',
                  HINT = 'Name the table at the top.';
    END IF;
    IF relation.reloftype <> 0 THEN
        RAISE EXCEPTION 'cannot manage %: it is a typed table', parent
            USING ERRCODE = 'feature_not_supported';
    END IF;
    IF (SELECT count(*) FROM pg_inherits i WHERE i.inhparent = parent)
       <> (SELECT count(*) FROM zbxhist.list_partitions(parent))
          + (zbxhist.packed_table(parent) IS NOT NULL)::integer THEN
        RAISE EXCEPTION 'cannot manage %: other tables inherit from it', parent
            USING ERRCODE = 'wrong_object_type',
                  HINT = 'If these are partitions of an older scheme, move their rows into the table and drop them, and the trigger of that scheme.';
    END IF;
    IF EXISTS (SELECT FROM pg_constraint c WHERE c.confrelid = parent) THEN
        RAISE EXCEPTION 'cannot manage %: a foreign key refers to it', parent
            USING ERRCODE = 'feature_not_supported',
                  HINT = 'A foreign key sees only the rows of the table itself, not those of partitions.';
    END IF;
    PERFORM zbxhist.verify_not_in_other_care(parent);
    PERFORM zbxhist.verify_columns(parent);
    PERFORM zbxhist.require_owner(parent);
END
$$;

COMMENT ON FUNCTION zbxhist.verify_table(regclass) IS
'Raises an error unless the table can become a managed one (internal)';

REVOKE ALL ON FUNCTION zbxhist.verify_table(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.verify_table(regclass) TO PUBLIC;
-- sql/functions/waiting_clock.sql
--
-- A table of terabytes is not read for this: its index (itemid, clock) is
-- walked from item to item, and of each item only the outermost row in the
-- range is looked at, see src/maintenance/item_index.c.

CREATE FUNCTION zbxhist.waiting_clock(
    parent regclass,
    from_clock bigint,
    to_clock bigint,
    newest boolean)
RETURNS bigint
LANGUAGE c VOLATILE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_waiting_clock';

COMMENT ON FUNCTION zbxhist.waiting_clock(regclass, bigint, bigint, boolean) IS
'The newest or oldest clock in a range among the rows of the parent itself; NULL if there is none (internal)';

REVOKE ALL ON FUNCTION zbxhist.waiting_clock(regclass, bigint, bigint, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.waiting_clock(regclass, bigint, bigint, boolean) TO PUBLIC;
-- sql/functions/waiting_partitions.sql

CREATE FUNCTION zbxhist.waiting_partitions(parent regclass)
RETURNS SETOF regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    bounds record;
    oldest bigint;
    newest bigint;
BEGIN
    IF zbxhist.own_pages(parent) = 0 THEN
        RETURN;
    END IF;
    SELECT min(p.from_clock) AS from_clock, max(p.to_clock) AS to_clock INTO bounds
      FROM zbxhist.list_partitions(parent) p;
    newest := zbxhist.waiting_clock(parent, bounds.from_clock, bounds.to_clock, true);
    IF newest IS NULL THEN
        RETURN;
    END IF;
    oldest := zbxhist.waiting_clock(parent, bounds.from_clock, newest + 1, false);
    RETURN QUERY
        SELECT p.partition
          FROM zbxhist.list_partitions(parent) p
         WHERE p.to_clock > oldest AND p.from_clock <= newest
           AND NOT EXISTS (SELECT FROM zbxhist.packed_day d
                            WHERE d.partition = p.partition AND NOT d.unpacked)
           AND zbxhist.own_column(parent, p.partition) IS NULL
         ORDER BY p.from_clock DESC;
END
$$;

COMMENT ON FUNCTION zbxhist.waiting_partitions(regclass) IS
'The partitions whose rows may wait in the parent, newest first (internal)';

REVOKE ALL ON FUNCTION zbxhist.waiting_partitions(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.waiting_partitions(regclass) TO PUBLIC;
-- sql/functions/waiting_rows.sql

CREATE FUNCTION zbxhist.waiting_rows(parent regclass, OUT rows bigint, OUT exact boolean)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    exact := zbxhist.own_pages(parent) < 1000 AND has_table_privilege(parent, 'SELECT')
             AND NOT row_security_active(parent);
    IF exact THEN
        EXECUTE format('SELECT count(*) FROM ONLY %s', parent) INTO rows;
    ELSE
        rows := zbxhist.estimated_rows(parent);
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist.waiting_rows(regclass) IS
'Rows in the parent itself: counted if they are few and may be read, else estimated';

REVOKE ALL ON FUNCTION zbxhist.waiting_rows(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.waiting_rows(regclass) TO PUBLIC;
-- sql/functions/wanted_ranges.sql

CREATE FUNCTION zbxhist.wanted_ranges(policy zbxhist.parent_config)
RETURNS TABLE (from_clock bigint, to_clock bigint)
LANGUAGE plpgsql VOLATILE PARALLEL SAFE ROWS 3
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    present CONSTANT bigint := zbxhist.current_clock();
    reached bigint := present;
    covered record;
BEGIN
    FOR ahead IN 0 .. policy.premake LOOP
        covered := zbxhist.clock_range(policy.partition_interval, reached);
        -- a range that has gone by is not wanted any more
        RETURN QUERY
            SELECT m.gap_from, m.gap_to
              FROM zbxhist.missing_ranges(policy.parent, covered.from_clock, covered.to_clock) m
             WHERE m.gap_to > present;
        EXIT WHEN covered.to_clock >= 2147483648;
        reached := covered.to_clock;
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist.wanted_ranges(zbxhist.parent_config) IS
'The ranges, from the present one on, for which a policy wants a partition and there is none (internal)';

REVOKE ALL ON FUNCTION zbxhist.wanted_ranges(zbxhist.parent_config) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.wanted_ranges(zbxhist.parent_config) TO PUBLIC;
-- sql/functions/work_list.sql

CREATE FUNCTION zbxhist.work_list(parent regclass, step text)
RETURNS regclass[]
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    problem text;
    state   text;
BEGIN
    PERFORM set_config('lock_timeout', zbxhist.short_lock_timeout()::text, true);
    RETURN CASE step
        WHEN 'move' THEN ARRAY(SELECT w FROM zbxhist.waiting_partitions(parent) w
                                WHERE zbxhist.may_wait(parent))
        WHEN 'drop' THEN ARRAY(SELECT zbxhist.expired_partitions(parent)
                                UNION ALL SELECT zbxhist.expired_days(parent))
        WHEN 'pack' THEN ARRAY(SELECT zbxhist.packable_partitions(parent))
        WHEN 'merge' THEN ARRAY(SELECT zbxhist.waiting_days(parent))
        WHEN 'unpack' THEN ARRAY(SELECT d.day FROM zbxhist.packed_day d
                                  WHERE d.parent = work_list.parent
                                    AND (d.partition IS NOT NULL OR
                                         NOT EXISTS (SELECT FROM zbxhist.parent_config c
                                                      WHERE c.parent = work_list.parent AND c.routing))
                                  ORDER BY d.from_clock)
        WHEN 'undo' THEN ARRAY(SELECT p.partition FROM zbxhist.list_partitions(parent) p)
    END;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT, state = RETURNED_SQLSTATE;
    PERFORM zbxhist.log_action(parent, step, NULL, NULL, NULL, started, NULL, state, problem);
    RAISE WARNING 'zbxhist: % of % failed: %', step, parent, problem;
    RETURN '{}';
END
$$;

COMMENT ON FUNCTION zbxhist.work_list(regclass, text) IS
'The partitions or packed days on which a step of maintenance has something to do; none, and a log entry, if that cannot be found out (internal)';

REVOKE ALL ON FUNCTION zbxhist.work_list(regclass, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.work_list(regclass, text) TO pg_database_owner;
-- sql/functions/zabbix_setting.sql
--
-- Zabbix 6.0 to 7.2 has the one-row table "config", 7.4 the table "settings".
-- Both are read by EXECUTE, so that nothing here depends on a table which an
-- upgrade of Zabbix drops; and never without the right to, so that a reader's
-- look at a view does not fail.

CREATE FUNCTION zbxhist.zabbix_setting(
    table_schema name,
    setting text,
    OUT value text,
    OUT source text)
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    place regclass;
BEGIN
    SELECT k.oid INTO place
      FROM pg_class k
      JOIN pg_namespace n ON n.oid = k.relnamespace
      JOIN pg_attribute a ON a.attrelid = k.oid AND a.attname = setting AND NOT a.attisdropped
     WHERE n.nspname = table_schema AND k.relname = 'config' AND k.relkind = 'r';
    IF FOUND THEN
        source := 'config.' || setting;
        IF has_column_privilege(place, setting, 'SELECT') AND has_schema_privilege(table_schema, 'USAGE') THEN
            EXECUTE format('SELECT %I::text FROM %s LIMIT 1', setting, place) INTO value;
        END IF;
        RETURN;
    END IF;
    SELECT k.oid INTO place
      FROM pg_class k
      JOIN pg_namespace n ON n.oid = k.relnamespace
     WHERE n.nspname = table_schema AND k.relname = 'settings' AND k.relkind = 'r'
       AND 3 = (SELECT count(*) FROM pg_attribute a
                 WHERE a.attrelid = k.oid AND NOT a.attisdropped
                   AND a.attname IN ('name', 'value_str', 'value_int'));
    IF FOUND THEN
        source := 'settings.' || setting;
        IF has_table_privilege(place, 'SELECT') AND has_schema_privilege(table_schema, 'USAGE') THEN
            EXECUTE format('SELECT coalesce(nullif(s.value_str, ''''), s.value_int::text)'
                           ' FROM %s s WHERE s.name = $1 LIMIT 1', place)
                INTO value USING setting;
        END IF;
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist.zabbix_setting(name, text) IS
'A value of the Zabbix settings in a schema and where it stands; NULL if there is none or the caller may not read it (internal)';

REVOKE ALL ON FUNCTION zbxhist.zabbix_setting(name, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.zabbix_setting(name, text) TO PUBLIC;
-- sql/functions/zabbix_tables.sql
--
-- In the order in which a history syncer of Zabbix locks them.

CREATE FUNCTION zbxhist.zabbix_tables()
RETURNS TABLE (ordinal integer, table_name name, is_trends boolean)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 9
SET search_path = pg_catalog, pg_temp
AS $$
    VALUES (1, 'history'::name, false), (2, 'history_str', false), (3, 'history_log', false),
           (4, 'history_uint', false), (5, 'history_text', false), (6, 'history_bin', false),
           (7, 'history_json', false), (8, 'trends', true), (9, 'trends_uint', true)
$$;

COMMENT ON FUNCTION zbxhist.zabbix_tables() IS
'The names of the Zabbix tables of values, in the order in which Zabbix writes to them (internal)';

REVOKE ALL ON FUNCTION zbxhist.zabbix_tables() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.zabbix_tables() TO PUBLIC;
-- sql/functions/check_packed.sql

CREATE FUNCTION zbxhist.check_packed(parent regclass)
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    remedy CONSTANT text := format('CALL zbxhist.run_maintenance(%L);', parent);
    packed CONSTANT regclass := zbxhist.packed_table(parent);
    source pg_class;
    policy zbxhist.parent_config;
BEGIN
    SELECT * INTO STRICT source FROM pg_class k WHERE k.oid = parent;
    SELECT * INTO policy FROM zbxhist.parent_config c WHERE c.parent = check_packed.parent;
    IF packed IS NULL AND EXISTS (SELECT FROM zbxhist.packed_day d
                                   JOIN pg_class k ON k.oid = d.day
                                  WHERE d.parent = check_packed.parent) THEN
        RETURN QUERY SELECT 'error', 'no_packed_table', parent::text,
            'the foreign table that stands for its packed days is missing: they are not read', remedy;
    END IF;
    RETURN QUERY
        SELECT 'error', 'two_packed_tables', i.inhrelid::regclass::text,
               format('both it and %s stand for the packed days of %s: their rows are read twice', packed, parent),
               format('DROP FOREIGN TABLE %s;', i.inhrelid::regclass)
          FROM pg_inherits i
          JOIN pg_foreign_table t ON t.ftrelid = i.inhrelid
          JOIN pg_foreign_table o ON o.ftrelid = packed AND o.ftserver = t.ftserver
         WHERE i.inhparent = parent AND i.inhrelid <> packed;
    RETURN QUERY
        SELECT 'warning', 'day_dropped', d.day::oid::text,
               format('the table of its packed day from %s on has been dropped',
                      zbxhist.format_time(to_timestamp(d.from_clock))), remedy
          FROM zbxhist.packed_day d
         WHERE d.parent = check_packed.parent
           AND NOT EXISTS (SELECT FROM pg_class k WHERE k.oid = d.day);
    RETURN QUERY
        SELECT 'warning', 'owner', k.oid::regclass::text,
               format('it belongs to %s, its parent to %s', k.relowner::regrole, source.relowner::regrole),
               format('ALTER TABLE %s OWNER TO %s;', k.oid::regclass, source.relowner::regrole)
          FROM pg_class k
         WHERE k.relowner <> source.relowner
           AND (k.oid = packed
                OR k.oid IN (SELECT d.day FROM zbxhist.packed_day d WHERE d.parent = check_packed.parent));
    RETURN QUERY
        SELECT 'warning', 'unpack_unfinished', d.day::text,
               'an unpack has begun and has not come to its end', remedy
          FROM zbxhist.packed_day d
         WHERE d.parent = check_packed.parent AND d.partition IS NOT NULL AND policy.routing;
    RETURN QUERY
        SELECT 'info', 'columns_altered', check_packed.parent::text,
               format('packed days up to that of %s have other columns than the table: late rows stay in the table itself, and packed ones cannot be updated',
                      to_char(to_timestamp(max(d.from_clock)) AT TIME ZONE 'UTC', 'YYYY-MM-DD')),
               format('They can be read.  To change them: CALL zbxhist.unpack(%L, %L);', check_packed.parent,
                      to_char(to_timestamp(max(d.from_clock)) AT TIME ZONE 'UTC', 'YYYY-MM-DD'))
          FROM zbxhist.packed_day d
          JOIN pg_class k ON k.oid = d.day
         WHERE d.parent = check_packed.parent AND d.partition IS NULL
           AND NOT zbxhist.has_same_columns(check_packed.parent, d.day)
        HAVING count(*) > 0;
    IF policy.pack_after IS NULL OR NOT policy.routing THEN
        RETURN;
    END IF;
    RETURN QUERY SELECT * FROM zbxhist.check_unpacked(policy);
END
$$;

COMMENT ON FUNCTION zbxhist.check_packed(regclass) IS
'The part of check that is about packed days (internal)';

REVOKE ALL ON FUNCTION zbxhist.check_packed(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.check_packed(regclass) TO PUBLIC;
-- sql/functions/check_unpacked.sql

CREATE FUNCTION zbxhist.check_unpacked(policy zbxhist.parent_config)
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    problem CONSTANT text := zbxhist.why_not_packable(policy.parent);
    cutoff  CONSTANT numeric := extract(epoch FROM clock_timestamp() AT TIME ZONE 'UTC' - policy.pack_after);
BEGIN
    IF problem IS NOT NULL THEN
        RETURN QUERY SELECT 'info', 'not_packable', policy.parent::text,
            format('its partitions cannot be packed: %s', problem),
            format('SELECT zbxhist.alter_parent(%L, never_pack => true);', policy.parent);
        RETURN;
    END IF;
    RETURN QUERY
        SELECT 'info', 'not_packable', p.partition::text,
               format('it cannot be packed: %s', zbxhist.not_packable(policy.parent, p.partition)),
               'It stays an ordinary partition, which does no harm.'
          FROM zbxhist.list_partitions(policy.parent) p
         WHERE p.to_clock <= cutoff AND zbxhist.not_packable(policy.parent, p.partition) IS NOT NULL;
    -- who may not read the log is told of it, but not the reason
    RETURN QUERY
        SELECT 'warning', 'not_packed', e.partition::text,
               format('it could have been packed since %s%s',
                      zbxhist.format_time(to_timestamp(b.to_clock) + policy.pack_after),
                      ': ' || l.message),
               format('Older transactions or their locks are in the way: see pg_stat_activity, then CALL zbxhist.run_maintenance(%L);', policy.parent)
          FROM zbxhist.packable_partitions(policy.parent) AS e (partition)
          CROSS JOIN LATERAL zbxhist.partition_bounds(e.partition) b
          LEFT JOIN LATERAL (
               SELECT g.message FROM zbxhist.last_problem(policy.parent, e.partition) AS g (message)) l ON true
         WHERE b.to_clock <= cutoff - 86400 AND policy.created_at < now() - interval '1 day'
         ORDER BY b.from_clock LIMIT 3;
END
$$;

COMMENT ON FUNCTION zbxhist.check_unpacked(zbxhist.parent_config) IS
'The part of check that is about partitions that ought to be packed and are not (internal)';

REVOKE ALL ON FUNCTION zbxhist.check_unpacked(zbxhist.parent_config) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.check_unpacked(zbxhist.parent_config) TO PUBLIC;
-- sql/functions/create_day.sql
--
-- The columns of the parent follow the six of a packed day; nothing is ever
-- stored in them.  They say what the packed rows are made of, and stay as they
-- are when the parent is altered.

CREATE FUNCTION zbxhist.create_day(parent regclass, partition regclass)
RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET default_tablespace = ''
SET client_min_messages = warning
AS $$
DECLARE
    new_name CONSTANT name := zbxhist.day_name(partition);
    covered  CONSTANT record := zbxhist.partition_bounds(partition);
    source   record;
    columns  text;
    bounds   text;
    place    text;
    result   regclass;
BEGIN
    SELECT k.relowner, t.spcname,
           (SELECT c.relpersistence FROM pg_class c WHERE c.oid = create_day.partition) AS persistence
      INTO source
      FROM pg_class k
      LEFT JOIN pg_tablespace t ON t.oid = k.reltablespace
     WHERE k.oid = create_day.parent;
    SELECT string_agg(format(', %I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ''
                      ORDER BY a.attnum)
      INTO columns
      FROM pg_attribute a
     WHERE a.attrelid = create_day.parent AND a.attnum > 0 AND NOT a.attisdropped;
    bounds := concat_ws(' AND ',
        CASE WHEN covered.from_clock > -2147483648 THEN format('first_clock >= %s', covered.from_clock) END,
        CASE WHEN covered.to_clock < 2147483648 THEN format('last_clock < %s', covered.to_clock) END);
    place := CASE WHEN source.spcname IS NOT NULL THEN format('TABLESPACE %I', source.spcname) ELSE '' END;
    EXECUTE format(
        'CREATE %sTABLE zbxhist_packed.%I ('
        'first_itemid bigint NOT NULL, first_clock integer NOT NULL, '
        'last_itemid bigint NOT NULL, last_clock integer NOT NULL, '
        'nrows integer NOT NULL, payload bytea NOT NULL%s, '
        'PRIMARY KEY (first_itemid, first_clock) %s%s, '
        'CONSTRAINT zbxhist_range CHECK (%s)) '
        'WITH (fillfactor = 100, toast_tuple_target = 8160) %s',
        CASE WHEN source.persistence = 'u' THEN 'UNLOGGED ' ELSE '' END, new_name, columns,
        'WITH (fillfactor = 100)', CASE WHEN place <> '' THEN ' USING INDEX ' || place ELSE '' END,
        bounds, place);
    result := format('zbxhist_packed.%I', new_name)::regclass;
    EXECUTE format('ALTER TABLE %s ALTER COLUMN payload SET STORAGE EXTERNAL', result);
    PERFORM zbxhist.own_alone(result, source.relowner);
    RETURN result;
END
$$;

COMMENT ON FUNCTION zbxhist.create_day(regclass, regclass) IS
'Creates the empty table of a packed day (internal)';

REVOKE ALL ON FUNCTION zbxhist.create_day(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.create_day(regclass, regclass) TO pg_database_owner;
-- sql/functions/create_packed_table.sql
--
-- As for a partition no INSERT waits for this, and what the parent is locked by
-- is waited for in the same way, see create_range.

CREATE FUNCTION zbxhist.create_packed_table(parent regclass)
RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET client_min_messages = warning
SET lock_timeout = 0
AS $$
DECLARE
    source   CONSTANT pg_class := (SELECT k FROM pg_class k WHERE k.oid = parent);
    stem     text := source.relname;
    tail     text := '_packed';
    attempt  integer := 0;
    result   regclass;
BEGIN
    LOOP
        WHILE octet_length(stem) + octet_length(tail) > 63 LOOP
            stem := left(stem, -1);
        END LOOP;
        EXIT WHEN NOT EXISTS (SELECT FROM pg_class k
                               WHERE k.relnamespace = source.relnamespace
                                 AND k.relname = (stem || tail)::name)
              AND NOT EXISTS (SELECT FROM pg_type t
                               WHERE t.typnamespace = source.relnamespace
                                 AND t.typname = (stem || tail)::name);
        attempt := attempt + 1;
        tail := '_packed_' || attempt;
    END LOOP;
    PERFORM set_config('lock_timeout', zbxhist.patient_lock_timeout()::text, true);
    BEGIN
        EXECUTE format('CREATE FOREIGN TABLE %s.%I () INHERITS (%s) SERVER zbxhist',
                       source.relnamespace::regnamespace, (stem || tail)::name, parent);
    EXCEPTION WHEN lock_not_available THEN
        RAISE EXCEPTION 'could not lock table % within % ms', parent, zbxhist.patient_lock_timeout()
            USING ERRCODE = 'lock_not_available',
                  HINT = 'VACUUM, ANALYZE, or the building of an index is at it: see pg_stat_activity, then repeat the call.';
    END;
    result := format('%s.%I', source.relnamespace::regnamespace, (stem || tail)::name)::regclass;
    PERFORM zbxhist.own_alone(result, source.relowner);
    PERFORM zbxhist.clone_triggers(parent, result);
    PERFORM zbxhist.invalidate(parent);
    RETURN result;
END
$$;

COMMENT ON FUNCTION zbxhist.create_packed_table(regclass) IS
'Creates the foreign table that stands for a managed table''s packed days (internal)';

REVOKE ALL ON FUNCTION zbxhist.create_packed_table(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.create_packed_table(regclass) TO pg_database_owner;
-- sql/functions/day_clock.sql

CREATE FUNCTION zbxhist.day_clock(day date)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    moment numeric;
BEGIN
    IF day IS NULL THEN
        RAISE EXCEPTION 'day must not be null'
            USING ERRCODE = 'null_value_not_allowed';
    END IF;
    moment := extract(epoch FROM day::timestamp);
    IF moment NOT BETWEEN -2147483648 AND 2147483647 THEN
        RAISE EXCEPTION 'date is out of the range of a clock: %', day
            USING ERRCODE = 'datetime_field_overflow';
    END IF;
    RETURN moment;
END
$$;

COMMENT ON FUNCTION zbxhist.day_clock(date) IS
'The clock at which a UTC day begins; raises an error if there is none (internal)';

REVOKE ALL ON FUNCTION zbxhist.day_clock(date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.day_clock(date) TO PUBLIC;
-- sql/functions/day_name.sql

CREATE FUNCTION zbxhist.day_name(partition regclass)
RETURNS name
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    stem    text := (SELECT k.relname FROM pg_class k WHERE k.oid = partition);
    schema  CONSTANT oid := 'zbxhist_packed'::regnamespace;
    tail    text := '';
    attempt integer := 0;
BEGIN
    LOOP
        WHILE octet_length(stem) + octet_length(tail) > 63 LOOP
            stem := left(stem, -1);
        END LOOP;
        EXIT WHEN NOT EXISTS (SELECT FROM pg_class k
                               WHERE k.relnamespace = schema AND k.relname = (stem || tail)::name)
              AND NOT EXISTS (SELECT FROM pg_type t
                               WHERE t.typnamespace = schema AND t.typname = (stem || tail)::name);
        attempt := attempt + 1;
        tail := '_' || attempt;
    END LOOP;
    RETURN (stem || tail)::name;
END
$$;

COMMENT ON FUNCTION zbxhist.day_name(regclass) IS
'A free name in schema zbxhist_packed for the table of a partition that is packed (internal)';

REVOKE ALL ON FUNCTION zbxhist.day_name(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.day_name(regclass) TO PUBLIC;
-- sql/functions/day_to_unpack.sql

CREATE FUNCTION zbxhist.day_to_unpack(parent regclass, day date)
RETURNS regclass
LANGUAGE plpgsql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    moment CONSTANT bigint := zbxhist.day_clock(day);
    result regclass;
BEGIN
    PERFORM zbxhist.require_parent(parent);
    SELECT d.day INTO result FROM zbxhist.packed_day d
     WHERE d.parent = day_to_unpack.parent AND moment >= d.from_clock AND moment < d.to_clock;
    IF NOT FOUND THEN
        RAISE EXCEPTION '% of table % is not packed', to_char(day, 'YYYY-MM-DD'), parent
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = format('SELECT * FROM zbxhist.partitions WHERE parent = %L::regclass;', parent);
    END IF;
    RETURN result;
END
$$;

COMMENT ON FUNCTION zbxhist.day_to_unpack(regclass, date) IS
'The table of the packed day in which a UTC day begins; raises an error if there is none (internal)';

REVOKE ALL ON FUNCTION zbxhist.day_to_unpack(regclass, date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.day_to_unpack(regclass, date) TO PUBLIC;
-- sql/functions/drop_day.sql
--
-- Who is reading packed days may come to this one next, so they are locked out
-- of all of them for the moment that the drop takes.

CREATE FUNCTION zbxhist.drop_day(parent regclass, day regclass)
RETURNS interval
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    allowed CONSTANT integer := zbxhist.short_lock_timeout();
    packed  CONSTANT regclass := zbxhist.packed_table(parent);
    waited  interval := '0';
BEGIN
    IF packed IS NOT NULL THEN
        PERFORM zbxhist.wait_for_readers(packed, allowed);
        PERFORM zbxhist.lock_patiently(day);
        waited := zbxhist.lock_exclusively(packed, allowed);
    END IF;
    waited := waited + zbxhist.lock_exclusively(day, allowed);
    EXECUTE format('DROP TABLE %s', day);
    DELETE FROM zbxhist.packed_day d WHERE d.day = drop_day.day;
    PERFORM zbxhist.invalidate(parent);
    RETURN waited;
END
$$;

COMMENT ON FUNCTION zbxhist.drop_day(regclass, regclass) IS
'Drops a packed day and returns the time that it waited for locks (internal)';

REVOKE ALL ON FUNCTION zbxhist.drop_day(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.drop_day(regclass, regclass) TO pg_database_owner;
-- sql/functions/expired_days.sql

CREATE FUNCTION zbxhist.expired_days(parent regclass)
RETURNS SETOF regclass
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT d.day
      FROM zbxhist.cutoff_clock(parent) AS cutoff,
           zbxhist.packed_day d
     WHERE d.parent = expired_days.parent AND d.to_clock <= cutoff
       AND EXISTS (SELECT FROM pg_class k WHERE k.oid = d.day)
     ORDER BY d.from_clock
$$;

COMMENT ON FUNCTION zbxhist.expired_days(regclass) IS
'The packed days whose whole range is past retention, oldest first (internal)';

REVOKE ALL ON FUNCTION zbxhist.expired_days(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.expired_days(regclass) TO PUBLIC;
-- sql/functions/is_settled.sql
--
-- Snapshots handed on, and those of standby servers, show only in part.  A
-- transaction of the future is another cluster's, from which a dump has it.

CREATE FUNCTION zbxhist.is_settled(settling text[], since xid8)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    -- first, since the age of others counts from a later transaction than this
    since_age CONSTANT integer := age(since::xid);
    distance  CONSTANT bigint :=
        pg_snapshot_xmax(pg_current_snapshot())::text::bigint - since::text::bigint;
    is_foreign CONSTANT boolean :=
        distance <= 0 AND since IS DISTINCT FROM pg_current_xact_id_if_assigned();
BEGIN
    IF settling && zbxhist.running_transactions() THEN
        RETURN false;
    END IF;
    RETURN is_foreign OR distance >= 1000000000 OR since IS NULL OR NOT EXISTS (
            SELECT FROM pg_stat_activity a
             WHERE a.pid <> pg_backend_pid() AND age(a.backend_xmin) >= since_age
               AND (a.datname = current_database() OR a.datid IS NULL)
               AND a.backend_type <> 'autovacuum worker'
            UNION ALL
            SELECT FROM pg_replication_slots r
             WHERE age(r.xmin) >= since_age);
END
$$;

COMMENT ON FUNCTION zbxhist.is_settled(text[], xid8) IS
'Whether no transaction of a list is running any more, and no snapshot is known that is older than another transaction (internal)';

REVOKE ALL ON FUNCTION zbxhist.is_settled(text[], xid8) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.is_settled(text[], xid8) TO PUBLIC;
-- sql/functions/last_problem.sql

CREATE FUNCTION zbxhist.last_problem(parent regclass, partition regclass)
RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT has_table_privilege('zbxhist.maintenance_log', 'SELECT') THEN
        RETURN NULL;
    END IF;
    RETURN (SELECT l.message FROM zbxhist.maintenance_log l
             WHERE l.parent = last_problem.parent AND l.action = 'pack'
               AND l.relation = last_problem.partition::text
             ORDER BY l.id DESC LIMIT 1);
END
$$;

COMMENT ON FUNCTION zbxhist.last_problem(regclass, regclass) IS
'The last message of the log about the packing of a partition, for those who may read the log (internal)';

REVOKE ALL ON FUNCTION zbxhist.last_problem(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.last_problem(regclass, regclass) TO PUBLIC;
-- sql/functions/list_ranges.sql

CREATE FUNCTION zbxhist.list_ranges(parent regclass)
RETURNS TABLE (relation regclass, from_clock bigint, to_clock bigint, is_packed boolean)
LANGUAGE sql STABLE STRICT PARALLEL SAFE ROWS 30
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT p.partition, p.from_clock, p.to_clock, false
      FROM zbxhist.list_partitions(parent) p
     UNION ALL
    SELECT d.day, d.from_clock, d.to_clock, true
      FROM zbxhist.packed_day d
     WHERE d.parent = list_ranges.parent
$$;

COMMENT ON FUNCTION zbxhist.list_ranges(regclass) IS
'The clock ranges of a managed table''s partitions and packed days (internal)';

REVOKE ALL ON FUNCTION zbxhist.list_ranges(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.list_ranges(regclass) TO PUBLIC;
-- sql/functions/lock_with_patience.sql
--
-- All tables or none: a lock that is held while the next one is waited for
-- keeps readers out for nothing.  They are locked in the order in which the
-- planner locks a parent's children.

CREATE FUNCTION zbxhist.lock_with_patience(VARIADIC relations regclass[])
RETURNS interval
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    allowed CONSTANT integer := zbxhist.short_lock_timeout();
    started CONSTANT timestamptz := clock_timestamp();
    relation regclass;
BEGIN
    FOR attempt IN 1 .. 5 LOOP
        BEGIN
            FOR relation IN SELECT r FROM unnest(relations) r ORDER BY r::oid LOOP
                PERFORM zbxhist.lock_exclusively(relation, allowed);
            END LOOP;
            EXIT;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            IF attempt = 5 THEN
                RAISE EXCEPTION 'could not lock table % within % ms, five times', relation, allowed
                    USING ERRCODE = 'lock_not_available',
                          HINT = 'See pg_locks and pg_stat_activity.';
            END IF;
        END;
        PERFORM pg_sleep(0.25 * attempt);
    END LOOP;
    RETURN clock_timestamp() - started;
END
$$;

COMMENT ON FUNCTION zbxhist.lock_with_patience(regclass[]) IS
'Takes ACCESS EXCLUSIVE on tables after long work, with more than one try, and returns the time it waited (internal)';

REVOKE ALL ON FUNCTION zbxhist.lock_with_patience(regclass[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.lock_with_patience(regclass[]) TO pg_database_owner;
-- sql/functions/not_packable.sql

CREATE FUNCTION zbxhist.not_packable(parent regclass, partition regclass)
RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    problem text := zbxhist.why_not_packable(parent);
BEGIN
    IF problem IS NOT NULL THEN
        RETURN problem;
    END IF;
    problem := zbxhist.own_column(parent, partition);
    IF problem IS NOT NULL THEN
        RETURN format('partition %s has a column "%s" that table %s has not', partition, problem, parent);
    END IF;
    SELECT format('%s depends on partition %s',
                  pg_describe_object(d.classid, d.objid, d.objsubid), partition)
      INTO problem
      FROM pg_depend d
     WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = not_packable.partition
       AND d.deptype = 'n'
       AND d.classid NOT IN ('pg_attrdef'::regclass, 'pg_trigger'::regclass, 'pg_policy'::regclass)
       AND NOT EXISTS (SELECT FROM pg_constraint c
                        WHERE d.classid = 'pg_constraint'::regclass AND c.oid = d.objid
                          AND c.conrelid = not_packable.partition)
       AND NOT EXISTS (SELECT FROM pg_rewrite r
                        WHERE d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
                          AND r.ev_class = not_packable.partition)
       AND NOT EXISTS (SELECT FROM pg_index x
                        WHERE d.classid = 'pg_class'::regclass AND x.indexrelid = d.objid)
     LIMIT 1;
    IF FOUND THEN
        RETURN problem;
    END IF;
    -- only these keys are looked up in packed days
    SELECT format('unique index "%s" is not one on itemid, clock%s alone', k.relname,
                  CASE WHEN c.columns = '{clock,itemid}' THEN '' ELSE ' and ns' END)
      INTO problem
      FROM pg_index x
      JOIN pg_class k ON k.oid = x.indexrelid
     CROSS JOIN LATERAL (
           SELECT array_agg(a.attname ORDER BY a.attname) AS columns
             FROM pg_attribute a
            WHERE a.attrelid = x.indrelid AND a.attname IN ('itemid', 'clock', 'ns')) c
     WHERE x.indrelid = not_packable.parent AND (x.indisunique OR x.indisexclusion)
       AND (x.indpred IS NOT NULL OR x.indexprs IS NOT NULL OR NOT x.indimmediate OR x.indisexclusion
            OR c.columns IS DISTINCT FROM
               ARRAY(SELECT a.attname FROM unnest(x.indkey[0:x.indnkeyatts - 1]) i (attnum)
                       JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = i.attnum
                      ORDER BY a.attname))
     LIMIT 1;
    IF FOUND THEN
        RETURN problem;
    END IF;
    -- what was found out when it was tried
    RETURN (SELECT s.not_packable FROM zbxhist.partition_state s
             WHERE s.partition = not_packable.partition);
END
$$;

COMMENT ON FUNCTION zbxhist.not_packable(regclass, regclass) IS
'Why a partition cannot be packed; NULL if it can (internal)';

REVOKE ALL ON FUNCTION zbxhist.not_packable(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.not_packable(regclass, regclass) TO PUBLIC;
-- sql/functions/own_alone.sql

CREATE FUNCTION zbxhist.own_alone(relation regclass, owner oid)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    source CONSTANT pg_class := (SELECT k FROM pg_class k WHERE k.oid = relation);
    item   record;
BEGIN
    -- what ALTER DEFAULT PRIVILEGES may have given
    FOR item IN
        SELECT DISTINCT zbxhist.role_name(g.grantee) AS grantee
          FROM aclexplode(source.relacl) g
         WHERE g.grantee <> source.relowner
    LOOP
        EXECUTE format('REVOKE ALL ON TABLE %s FROM %s', relation, item.grantee);
    END LOOP;
    IF source.relowner = owner THEN
        RETURN;
    END IF;
    -- nobody can be given a table in a schema where he may not create one
    IF NOT has_schema_privilege(owner, source.relnamespace, 'CREATE')
       AND source.relnamespace = 'zbxhist_packed'::regnamespace THEN
        EXECUTE format('GRANT CREATE ON SCHEMA zbxhist_packed TO %I', pg_get_userbyid(owner));
    END IF;
    EXECUTE format('ALTER TABLE %s OWNER TO %I', relation, pg_get_userbyid(owner));
END
$$;

COMMENT ON FUNCTION zbxhist.own_alone(regclass, oid) IS
'Gives a new relation to a role, with no privileges for others (internal)';

REVOKE ALL ON FUNCTION zbxhist.own_alone(regclass, oid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.own_alone(regclass, oid) TO pg_database_owner;
-- sql/functions/own_column.sql

CREATE FUNCTION zbxhist.own_column(parent regclass, partition regclass)
RETURNS name
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT a.attname
      FROM pg_attribute a
     WHERE a.attrelid = own_column.partition AND a.attnum > 0 AND NOT a.attisdropped
       AND NOT EXISTS (SELECT FROM pg_attribute b
                        WHERE b.attrelid = own_column.parent AND b.attname = a.attname
                          AND NOT b.attisdropped)
     ORDER BY a.attnum LIMIT 1
$$;

COMMENT ON FUNCTION zbxhist.own_column(regclass, regclass) IS
'The first column that a partition has and its parent has not: rows of the parent do not fit it then; NULL if there is none (internal)';

REVOKE ALL ON FUNCTION zbxhist.own_column(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.own_column(regclass, regclass) TO PUBLIC;
-- sql/functions/pack_partition.sql
--
-- Nobody may write to the partition meanwhile; INSERTs do not wait for that
-- but leave their rows in the parent.  Its rows are the same for every
-- snapshot, as pack_rows makes sure of, so its place can be taken by a table
-- whose rows are visible to all.

CREATE FUNCTION zbxhist.pack_partition(parent regclass, partition regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    label   CONSTANT text := partition::text;
    allowed CONSTANT integer := zbxhist.short_lock_timeout();
    packed  regclass := zbxhist.packed_table(parent);
    covered record;
    day     regclass;
    rows    bigint;
    before  bigint;
    waited  interval;
BEGIN
    SELECT p.from_clock, p.to_clock INTO covered
      FROM zbxhist.list_partitions(parent) p WHERE p.partition = pack_partition.partition;
    IF NOT FOUND THEN
        RETURN 'done';
    END IF;
    IF packed IS NULL THEN
        packed := zbxhist.create_packed_table(parent);
        PERFORM zbxhist.log_action(parent, 'packed_table', packed::text, NULL, NULL, started);
        RETURN 'more';
    END IF;
    IF NOT zbxhist.packed_table_settled(parent, packed) THEN
        RETURN 'wait';
    END IF;
    IF NOT EXISTS (SELECT FROM zbxhist.parent_state s
                    WHERE s.parent = pack_partition.parent AND s.action = 'pack'
                      AND s.relation = label AND s.action_pid = pg_backend_pid()) THEN
        PERFORM zbxhist.set_action(parent, 'pack', label);
        RETURN 'more';
    END IF;
    PERFORM zbxhist.wait_for_readers(partition, allowed);
    PERFORM zbxhist.wait_for_readers(packed, allowed);
    PERFORM zbxhist.lock_packing(partition);
    PERFORM zbxhist.lock_patiently(partition);
    PERFORM set_config('lock_timeout', allowed::text, true);
    EXECUTE format('LOCK TABLE ONLY %s IN SHARE MODE', partition);
    -- what has been written just now is the same for all when these have ended
    PERFORM zbxhist.wait_for_transactions(least(allowed, 1000));
    day := zbxhist.create_day(parent, partition);
    SELECT r.rows INTO rows FROM zbxhist.pack_rows(partition, day) r;
    before := pg_total_relation_size(partition);
    INSERT INTO zbxhist.packed_day (parent, day, from_clock, to_clock, nrows, heap_bytes)
    VALUES (parent, day, covered.from_clock, covered.to_clock, rows, before);
    PERFORM zbxhist.attach_day(day, packed);
    PERFORM zbxhist.set_action(parent, NULL, NULL);
    -- who lists the children without the partition waits for the foreign table,
    -- and by then has heard of the day
    waited := zbxhist.lock_with_patience(partition, packed);
    PERFORM zbxhist.note_columns(parent, packed, day);
    EXECUTE format('DROP TABLE %s', partition);
    PERFORM zbxhist.invalidate(parent);
    PERFORM zbxhist.log_action(parent, 'pack', label, rows, before - pg_total_relation_size(day),
                               started, waited, NULL,
                               format('%s before, %s after', pg_size_pretty(before),
                                      pg_size_pretty(pg_total_relation_size(day))));
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist.pack_partition(regclass, regclass) IS
'Packs a partition, or does what has to be done before: more, call again; wait, call again later (internal)';

REVOKE ALL ON FUNCTION zbxhist.pack_partition(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.pack_partition(regclass, regclass) TO pg_database_owner;
-- sql/functions/packable_partitions.sql

CREATE FUNCTION zbxhist.packable_partitions(parent regclass)
RETURNS SETOF regclass
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT p.partition
      FROM zbxhist.parent_config c,
           zbxhist.list_partitions(parent) p
     WHERE c.parent = packable_partitions.parent AND c.routing
       AND p.to_clock <= extract(epoch FROM clock_timestamp() AT TIME ZONE 'UTC' - c.pack_after)
       AND p.to_clock > coalesce(zbxhist.cutoff_clock(parent), -2147483648)
       AND NOT EXISTS (SELECT FROM zbxhist.packed_day d WHERE d.partition = p.partition)
       AND zbxhist.not_packable(parent, p.partition) IS NULL
     ORDER BY p.from_clock
$$;

COMMENT ON FUNCTION zbxhist.packable_partitions(regclass) IS
'The partitions that are to be packed by the policy of a managed table, oldest first (internal)';

REVOKE ALL ON FUNCTION zbxhist.packable_partitions(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.packable_partitions(regclass) TO PUBLIC;
-- sql/functions/packed_table_settled.sql
--
-- A statement that was planned before the foreign table was there would miss
-- a day that is packed while it runs.

CREATE FUNCTION zbxhist.packed_table_settled(parent regclass, packed regclass)
RETURNS boolean
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    present CONSTANT text[] := zbxhist.running_transactions();
    state   zbxhist.parent_state;
BEGIN
    INSERT INTO zbxhist.parent_state (parent) VALUES (parent) ON CONFLICT DO NOTHING;
    SELECT * INTO STRICT state FROM zbxhist.parent_state s
     WHERE s.parent = packed_table_settled.parent;
    IF state.packed_table IS DISTINCT FROM packed THEN
        UPDATE zbxhist.parent_state s SET packed_table = packed, packed_settling = present
         WHERE s.parent = packed_table_settled.parent;
        RETURN cardinality(present) = 0;
    END IF;
    RETURN NOT state.packed_settling && present;
END
$$;

COMMENT ON FUNCTION zbxhist.packed_table_settled(regclass, regclass) IS
'Whether every transaction knows of the foreign table that stands for packed days (internal)';

REVOKE ALL ON FUNCTION zbxhist.packed_table_settled(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.packed_table_settled(regclass, regclass) TO pg_database_owner;
-- sql/functions/partition_to_pack.sql

CREATE FUNCTION zbxhist.partition_to_pack(parent regclass, day date)
RETURNS regclass
LANGUAGE plpgsql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    policy  CONSTANT zbxhist.parent_config := zbxhist.require_parent(parent);
    moment  CONSTANT numeric := zbxhist.day_clock(day);
    covered record;
    problem text;
BEGIN
    IF NOT policy.routing THEN
        RAISE EXCEPTION 'table % is being turned back into a plain table', parent
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = format('CALL zbxhist.undo(%L); or, to stay with zbxhist, SELECT zbxhist.create_parent(%1$L, ...);', parent);
    END IF;
    SELECT * INTO covered FROM zbxhist.list_ranges(parent) r
     WHERE moment >= r.from_clock AND moment < r.to_clock
     ORDER BY r.is_packed DESC LIMIT 1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'table % has no partition for %', parent, to_char(day, 'YYYY-MM-DD')
            USING ERRCODE = 'undefined_table',
                  HINT = format('SELECT * FROM zbxhist.partitions WHERE parent = %L::regclass;', parent);
    END IF;
    IF covered.is_packed THEN
        RAISE EXCEPTION '% of table % is packed already', to_char(day, 'YYYY-MM-DD'), parent
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = format('Its table is %s.', covered.relation);
    END IF;
    IF covered.to_clock > zbxhist.current_clock() THEN
        RAISE EXCEPTION 'partition % is not closed yet', covered.relation
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = format('Its time ends at %s.', zbxhist.format_time(to_timestamp(covered.to_clock))),
                  HINT = 'Only a partition whose time has gone by can be packed.';
    END IF;
    problem := zbxhist.not_packable(parent, covered.relation);
    IF problem IS NOT NULL THEN
        RAISE EXCEPTION 'partition % cannot be packed', covered.relation
            USING ERRCODE = 'feature_not_supported', DETAIL = problem;
    END IF;
    RETURN covered.relation;
END
$$;

COMMENT ON FUNCTION zbxhist.partition_to_pack(regclass, date) IS
'The partition in which a UTC day begins; raises an error unless it can be packed (internal)';

REVOKE ALL ON FUNCTION zbxhist.partition_to_pack(regclass, date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.partition_to_pack(regclass, date) TO PUBLIC;
-- sql/functions/refuse_to_wait.sql

CREATE FUNCTION zbxhist.refuse_to_wait(parent regclass, tries integer)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF tries < 20 THEN
        RETURN;
    END IF;
    RAISE EXCEPTION 'transactions that began earlier may still need rows of table % where they are', parent
        USING ERRCODE = 'object_not_in_prerequisite_state',
              DETAIL = format('Virtual transactions: %s', array_to_string(zbxhist.running_transactions(), ', ')),
              HINT = 'Repeat the call when they have ended: see pg_stat_activity.  All rows can be read at any time.';
END
$$;

COMMENT ON FUNCTION zbxhist.refuse_to_wait(regclass, integer) IS
'Raises an error when older transactions have been waited for often enough (internal)';

REVOKE ALL ON FUNCTION zbxhist.refuse_to_wait(regclass, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.refuse_to_wait(regclass, integer) TO pg_database_owner;
-- sql/functions/run_by_hand.sql

CREATE FUNCTION zbxhist.run_by_hand(parent regclass, step text, relation regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $$
BEGIN
    -- a run of maintenance goes from step to step and is soon at its next
    PERFORM set_config('lock_timeout', zbxhist.patient_lock_timeout()::text, true);
    BEGIN
        PERFORM pg_advisory_xact_lock(zbxhist.lock_class(), parent::oid::integer);
    EXCEPTION WHEN lock_not_available THEN
        RAISE EXCEPTION 'maintenance is at work on table %', parent
            USING ERRCODE = 'lock_not_available',
                  HINT = 'See zbxhist.progress, and repeat the call.';
    END;
    PERFORM zbxhist.require_parent(parent);
    PERFORM set_config('lock_timeout', zbxhist.short_lock_timeout()::text, true);
    RETURN CASE step
        WHEN 'pack' THEN zbxhist.pack_partition(parent, relation)
        WHEN 'unpack' THEN zbxhist.step_unpack(parent, relation)
    END;
END
$$;

COMMENT ON FUNCTION zbxhist.run_by_hand(regclass, text, regclass) IS
'Runs a step of packing or unpacking for somebody who is told what goes wrong (internal)';

REVOKE ALL ON FUNCTION zbxhist.run_by_hand(regclass, text, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.run_by_hand(regclass, text, regclass) TO pg_database_owner;
-- sql/functions/step_attach.sql
--
-- A dump does not hold the dependencies.  What a column contains that has been
-- added since a day was packed is known to the parent only until it is
-- rewritten.  Who deletes packed rows says how many.

CREATE FUNCTION zbxhist.step_attach(parent regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    packed regclass := zbxhist.packed_table(parent);
    item   record;
BEGIN
    PERFORM zbxhist.require_parent(parent);
    WITH known AS (
        DELETE FROM zbxhist.packed_change c USING zbxhist.packed_day d
         WHERE c.day = d.day AND d.parent = step_attach.parent
        RETURNING c.day, c.removed),
    total AS (
        SELECT k.day, sum(k.removed) AS removed FROM known k GROUP BY k.day)
    UPDATE zbxhist.packed_day d SET nrows = greatest(d.nrows - t.removed, 0)
      FROM total t WHERE d.day = t.day AND t.removed > 0;
    DELETE FROM zbxhist.packed_change c
     WHERE NOT EXISTS (SELECT FROM zbxhist.packed_day d WHERE d.day = c.day);
    DELETE FROM zbxhist.packed_day d
     WHERE d.parent = step_attach.parent
       AND NOT EXISTS (SELECT FROM pg_class k WHERE k.oid = d.day);
    IF NOT EXISTS (SELECT FROM zbxhist.packed_day d WHERE d.parent = step_attach.parent) THEN
        RETURN 'done';
    END IF;
    IF packed IS NULL THEN
        packed := zbxhist.create_packed_table(parent);
    END IF;
    PERFORM zbxhist.attach_day(d.day, packed)
       FROM zbxhist.packed_day d
      WHERE d.parent = step_attach.parent
        AND NOT EXISTS (SELECT FROM pg_depend p
                         WHERE p.classid = 'pg_class'::regclass AND p.objid = d.day
                           AND p.refclassid = 'pg_class'::regclass AND p.refobjid = packed);
    FOR item IN
        SELECT a.attname, (a.attmissingval::text::text[])[1] AS missing
          FROM pg_attribute a
          JOIN pg_attribute f ON f.attrelid = packed AND f.attname = a.attname
                             AND f.attnum > 0 AND NOT f.attisdropped
         WHERE a.attrelid = parent AND a.attnum > 0 AND NOT a.attisdropped AND a.atthasmissing
           AND NOT EXISTS (SELECT FROM unnest(f.attfdwoptions) o WHERE starts_with(o, 'missing='))
    LOOP
        PERFORM zbxhist.lock_exclusively(packed, zbxhist.short_lock_timeout());
        EXECUTE format('ALTER FOREIGN TABLE %s ALTER COLUMN %I OPTIONS (ADD missing %L)',
                       packed, item.attname, item.missing);
    END LOOP;
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist.step_attach(regclass) IS
'Maintenance: makes packed days depend on the foreign table that stands for them, and notes what new columns contain in them and how many values have been deleted (internal)';

REVOKE ALL ON FUNCTION zbxhist.step_attach(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.step_attach(regclass) TO pg_database_owner;
-- sql/functions/step_merge.sql

CREATE FUNCTION zbxhist.step_merge(parent regclass, day regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    entry zbxhist.packed_day;
    state zbxhist.parent_state;
    batch record;
BEGIN
    PERFORM zbxhist.require_parent(parent);
    SELECT * INTO entry FROM zbxhist.packed_day d
     WHERE d.parent = step_merge.parent AND d.day = step_merge.day AND d.partition IS NULL
       FOR UPDATE;
    IF NOT FOUND OR NOT EXISTS (SELECT FROM pg_class k WHERE k.oid = day) THEN
        RETURN 'done';
    END IF;
    SELECT * INTO state FROM zbxhist.parent_state s WHERE s.parent = step_merge.parent;
    IF state.action IS DISTINCT FROM 'merge' OR state.relation IS DISTINCT FROM day::text THEN
        PERFORM zbxhist.set_action(parent, 'merge', day::text);
        SELECT * INTO STRICT state FROM zbxhist.parent_state s WHERE s.parent = step_merge.parent;
    END IF;
    PERFORM zbxhist.lock_moves(parent);
    batch := zbxhist.merge_rows(parent, day, entry.from_clock, entry.to_clock, 50000);
    UPDATE zbxhist.parent_state s
       SET action_rows = s.action_rows + batch.merged,
           duplicates = s.duplicates + batch.duplicates,
           last_move = CASE WHEN batch.merged > 0 THEN pg_current_xact_id() ELSE s.last_move END,
           settling = CASE WHEN batch.merged > 0 THEN NULL ELSE s.settling END
     WHERE s.parent = step_merge.parent;
    UPDATE zbxhist.packed_day d SET nrows = d.nrows + batch.merged
     WHERE d.day = step_merge.day AND batch.merged > 0;
    IF NOT batch.done THEN
        RETURN 'more';
    END IF;
    IF state.action_rows + batch.merged > 0 OR batch.duplicates > 0 THEN
        PERFORM zbxhist.log_action(parent, 'merge', day::text, state.action_rows + batch.merged,
                                   NULL, state.action_started);
    END IF;
    PERFORM zbxhist.set_action(parent, NULL, NULL);
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist.step_merge(regclass, regclass) IS
'Maintenance: merges a batch of rows from the parent into their packed day (internal)';

REVOKE ALL ON FUNCTION zbxhist.step_merge(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.step_merge(regclass, regclass) TO pg_database_owner;
-- sql/functions/step_pack.sql

CREATE FUNCTION zbxhist.step_pack(parent regclass, partition regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    problem text;
BEGIN
    PERFORM zbxhist.require_parent(parent);
    -- another run may have packed it, or the policy has been changed
    IF NOT EXISTS (SELECT FROM zbxhist.packable_partitions(parent) p WHERE p = partition) THEN
        RETURN 'done';
    END IF;
    BEGIN
        RETURN zbxhist.pack_partition(parent, partition);
    EXCEPTION WHEN program_limit_exceeded OR feature_not_supported THEN
        -- it would be so each time
        GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT;
    END;
    INSERT INTO zbxhist.partition_state AS s (partition, parent, settling, not_packable)
    VALUES (partition, parent, zbxhist.running_transactions(), problem)
    ON CONFLICT ON CONSTRAINT partition_state_pkey DO UPDATE SET not_packable = excluded.not_packable;
    PERFORM zbxhist.set_action(parent, NULL, NULL);
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist.step_pack(regclass, regclass) IS
'Maintenance: packs a partition that the policy wants packed (internal)';

REVOKE ALL ON FUNCTION zbxhist.step_pack(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.step_pack(regclass, regclass) TO pg_database_owner;
-- sql/functions/step_unpack.sql
--
-- First an empty partition; when every transaction knows of it, the rows go
-- there, so that each snapshot sees them at one of both places; when none sees
-- them in the packed day any more, that is dropped.  From the first step to
-- the second late rows stay in the parent, from the second on they go to the
-- partition.

CREATE FUNCTION zbxhist.step_unpack(parent regclass, day regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    label   CONSTANT text := day::text;
    entry   zbxhist.packed_day;
    rows    bigint;
    before  bigint;
    waited  interval;
BEGIN
    PERFORM zbxhist.require_parent(parent);
    SELECT * INTO entry FROM zbxhist.packed_day d
     WHERE d.parent = step_unpack.parent AND d.day = step_unpack.day FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'done';
    END IF;
    IF entry.settling IS NULL AND entry.partition IS NOT NULL THEN
        UPDATE zbxhist.packed_day d SET settling = zbxhist.running_transactions()
         WHERE d.day = step_unpack.day RETURNING d.settling INTO entry.settling;
    END IF;
    CASE
        WHEN entry.partition IS NULL
             OR NOT EXISTS (SELECT FROM zbxhist.list_partitions(parent) p
                             WHERE p.partition = entry.partition) THEN
            entry.partition := zbxhist.create_range(parent, entry.from_clock, entry.to_clock);
            UPDATE zbxhist.packed_day d
               SET partition = entry.partition, unpacked = false, settling = NULL
             WHERE d.day = step_unpack.day;
            RETURN 'more';
        WHEN NOT zbxhist.is_settled(entry.settling, entry.changed) THEN
            RETURN 'wait';
        WHEN NOT entry.unpacked THEN
            before := pg_total_relation_size(day);
            PERFORM zbxhist.lock_moves(parent);
            rows := zbxhist.unpack_rows(day, entry.partition);
            UPDATE zbxhist.packed_day d
               SET unpacked = true, settling = NULL, changed = pg_current_xact_id()
             WHERE d.day = step_unpack.day;
            PERFORM zbxhist.invalidate(parent);
            PERFORM zbxhist.log_action(parent, 'unpack', entry.partition::text, rows,
                before - pg_total_relation_size(entry.partition), started, NULL, NULL,
                format('%s before, %s after', pg_size_pretty(before),
                       pg_size_pretty(pg_total_relation_size(entry.partition))));
            RETURN 'more';
        ELSE
            waited := zbxhist.lock_exclusively(day, zbxhist.short_lock_timeout());
            PERFORM zbxhist.end_older_snapshots(day, entry.changed);
            EXECUTE format('DROP TABLE %s', day);
            DELETE FROM zbxhist.packed_day d WHERE d.day = step_unpack.day;
            PERFORM zbxhist.invalidate(parent);
            PERFORM zbxhist.log_action(parent, 'unpack_drop', label, NULL, NULL, started, waited);
            RETURN 'done';
    END CASE;
END
$$;

COMMENT ON FUNCTION zbxhist.step_unpack(regclass, regclass) IS
'Unpacks a packed day, one of its three steps: more, call again; wait, call again later (internal)';

REVOKE ALL ON FUNCTION zbxhist.step_unpack(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.step_unpack(regclass, regclass) TO pg_database_owner;
-- sql/functions/verify.sql

CREATE FUNCTION zbxhist.verify(parent regclass)
RETURNS TABLE (day regclass, itemid bigint, clock integer, problem text)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM zbxhist.require_parent(parent);
    RETURN QUERY
        SELECT d.day, v.itemid, v.clock, v.problem
          FROM zbxhist.packed_day d
          JOIN pg_class k ON k.oid = d.day
         CROSS JOIN LATERAL zbxhist.verify_day(d.day) v
         WHERE d.parent = verify.parent
         ORDER BY d.from_clock;
END
$$;

COMMENT ON FUNCTION zbxhist.verify(regclass) IS
'Looks through all packed days of a managed table: checksums, and statistics against values; no rows when all is well';

REVOKE ALL ON FUNCTION zbxhist.verify(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.verify(regclass) TO pg_database_owner;
-- sql/functions/wait_for_readers.sql
--
-- To be called before work that would be in vain, since the lock that ends it
-- could not be had.

CREATE FUNCTION zbxhist.wait_for_readers(relation regclass, milliseconds integer)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    deadline CONSTANT timestamptz := clock_timestamp() + milliseconds * interval '1 ms';
    holders  text[];
    present  text[];
BEGIN
    LOOP
        SELECT coalesce(array_agg(l.virtualtransaction), '{}') INTO present
          FROM pg_locks l
          JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
         WHERE l.locktype = 'relation' AND l.relation = wait_for_readers.relation
           AND l.granted AND l.pid <> pg_backend_pid();
        EXIT WHEN NOT coalesce(holders, present) && present;
        holders := coalesce(holders, present);
        IF clock_timestamp() >= deadline THEN
            RAISE EXCEPTION 'table % is in use by another transaction', relation
                USING ERRCODE = 'lock_not_available',
                      HINT = 'See pg_locks and pg_stat_activity.';
        END IF;
        PERFORM pg_sleep(0.02);
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist.wait_for_readers(regclass, integer) IS
'Raises an error if a transaction holds a lock on a table for longer than a time (internal)';

REVOKE ALL ON FUNCTION zbxhist.wait_for_readers(regclass, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.wait_for_readers(regclass, integer) TO pg_database_owner;
-- sql/functions/wait_for_transactions.sql

CREATE FUNCTION zbxhist.wait_for_transactions(milliseconds integer)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    deadline CONSTANT timestamptz := clock_timestamp() + milliseconds * interval '1 ms';
    present  CONSTANT text[] := zbxhist.running_transactions();
BEGIN
    WHILE clock_timestamp() < deadline AND zbxhist.running_transactions() && present LOOP
        PERFORM pg_sleep(0.02);
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist.wait_for_transactions(integer) IS
'Waits a bounded time for the end of the transactions that run now (internal)';

REVOKE ALL ON FUNCTION zbxhist.wait_for_transactions(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.wait_for_transactions(integer) TO pg_database_owner;
-- sql/functions/waiting_days.sql
--
-- In a parent of more than 1 GB, whose rows from before the set-up may be millions
-- of items, one look in an hour is enough: late rows can be read where they are.
-- A day from before an ALTER TABLE takes none: check says so.

CREATE FUNCTION zbxhist.waiting_days(parent regclass)
RETURNS SETOF regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    bounds record;
    oldest bigint;
    newest bigint;
BEGIN
    SELECT min(d.from_clock) AS from_clock, max(d.to_clock) AS to_clock INTO bounds
      FROM zbxhist.packed_day d WHERE d.parent = waiting_days.parent;
    IF bounds.from_clock IS NULL OR zbxhist.own_pages(parent) = 0
       OR zbxhist.own_pages(parent) > 131072
          AND EXISTS (SELECT FROM zbxhist.parent_state s
                       WHERE s.parent = waiting_days.parent
                         AND s.merged_at > clock_timestamp() - interval '1 hour') THEN
        RETURN;
    END IF;
    newest := zbxhist.waiting_clock(parent, bounds.from_clock, bounds.to_clock, true);
    IF newest IS NULL THEN
        RETURN;
    END IF;
    oldest := zbxhist.waiting_clock(parent, bounds.from_clock, newest + 1, false);
    RETURN QUERY
        SELECT d.day
          FROM zbxhist.packed_day d
         WHERE d.parent = waiting_days.parent AND d.partition IS NULL
           AND zbxhist.has_same_columns(waiting_days.parent, d.day)
           AND d.to_clock > oldest AND d.from_clock <= newest
           AND zbxhist.waiting_clock(waiting_days.parent, d.from_clock, d.to_clock, true) IS NOT NULL
         ORDER BY d.from_clock DESC;
END
$$;

COMMENT ON FUNCTION zbxhist.waiting_days(regclass) IS
'The packed days whose rows wait in the parent, newest first (internal)';

REVOKE ALL ON FUNCTION zbxhist.waiting_days(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.waiting_days(regclass) TO PUBLIC;
-- sql/functions/minimum_time.sql

CREATE FUNCTION zbxhist.minimum_time(parent regclass, itemid bigint)
RETURNS TABLE (clock integer, ns integer)
LANGUAGE c STABLE STRICT ROWS 1 PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_minimum_time';

COMMENT ON FUNCTION zbxhist.minimum_time(regclass, bigint) IS
'Clock and ns of the oldest row of an item; no row if it has none';

REVOKE ALL ON FUNCTION zbxhist.minimum_time(regclass, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.minimum_time(regclass, bigint) TO PUBLIC;
-- sql/functions/nearest.sql

CREATE FUNCTION zbxhist.nearest(
    row_type anyelement,
    itemid bigint,
    clock integer,
    ns integer DEFAULT 0,
    which text DEFAULT 'exact')
RETURNS anyelement
LANGUAGE c STABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_nearest';

COMMENT ON FUNCTION zbxhist.nearest(anyelement, bigint, integer, integer, text) IS
'The row of an item at a moment; if there is none, NULL (exact), the nearest before it (less) or after it (greater)';

REVOKE ALL ON FUNCTION zbxhist.nearest(anyelement, bigint, integer, integer, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.nearest(anyelement, bigint, integer, integer, text) TO PUBLIC;
-- sql/functions/nearest_time.sql

CREATE FUNCTION zbxhist.nearest(
    row_type anyelement,
    itemid bigint,
    moment timestamptz,
    which text DEFAULT 'exact')
RETURNS anyelement
LANGUAGE c STABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_nearest_time';

COMMENT ON FUNCTION zbxhist.nearest(anyelement, bigint, timestamptz, text) IS
'The row of an item at a time; if there is none, NULL (exact), the nearest before it (less) or after it (greater)';

REVOKE ALL ON FUNCTION zbxhist.nearest(anyelement, bigint, timestamptz, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.nearest(anyelement, bigint, timestamptz, text) TO PUBLIC;
-- sql/functions/range_support.sql

CREATE FUNCTION zbxhist.range_support(internal)
RETURNS internal
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_range_support';

COMMENT ON FUNCTION zbxhist.range_support(internal) IS
'Lets a LIMIT above the function range reach it (internal)';

REVOKE ALL ON FUNCTION zbxhist.range_support(internal) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.range_support(internal) TO PUBLIC;
-- sql/functions/range.sql

CREATE FUNCTION zbxhist.range(
    row_type anyelement,
    itemid bigint,
    from_clock integer,
    to_clock integer,
    sort text DEFAULT 'asc',
    max_rows bigint DEFAULT NULL,
    from_ns integer DEFAULT 0,
    to_ns integer DEFAULT 0)
RETURNS SETOF anyelement
LANGUAGE c STABLE PARALLEL SAFE
SUPPORT zbxhist.range_support
AS 'MODULE_PATHNAME', 'zbxhist_range';

COMMENT ON FUNCTION zbxhist.range(anyelement, bigint, integer, integer, text, bigint, integer, integer) IS
'Rows of an item from one moment, included, to another, excluded; sort is asc, desc or none; NULL::history names the managed table';

REVOKE ALL ON FUNCTION zbxhist.range(anyelement, bigint, integer, integer, text, bigint, integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.range(anyelement, bigint, integer, integer, text, bigint, integer, integer) TO PUBLIC;
-- sql/functions/range_time.sql

CREATE FUNCTION zbxhist.range(
    row_type anyelement,
    itemid bigint,
    from_time timestamptz,
    to_time timestamptz,
    sort text DEFAULT 'asc',
    max_rows bigint DEFAULT NULL)
RETURNS SETOF anyelement
LANGUAGE c STABLE PARALLEL SAFE
SUPPORT zbxhist.range_support
AS 'MODULE_PATHNAME', 'zbxhist_range_time';

COMMENT ON FUNCTION zbxhist.range(anyelement, bigint, timestamptz, timestamptz, text, bigint) IS
'Rows of an item from one time, included, to another, excluded; sort is asc, desc or none; NULL::history names the managed table';

REVOKE ALL ON FUNCTION zbxhist.range(anyelement, bigint, timestamptz, timestamptz, text, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.range(anyelement, bigint, timestamptz, timestamptz, text, bigint) TO PUBLIC;
-- sql/functions/statistics.sql

CREATE FUNCTION zbxhist.statistics(
    parent regclass,
    itemid bigint,
    from_clock integer,
    to_clock integer)
RETURNS TABLE (
    count bigint,
    min numeric,
    max numeric,
    sum numeric,
    avg numeric,
    delta numeric,
    first_clock integer,
    last_clock integer)
LANGUAGE c STABLE STRICT ROWS 1 PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_statistics';

COMMENT ON FUNCTION zbxhist.statistics(regclass, bigint, integer, integer) IS
'Aggregates of the values of an item from one clock, included, to another, excluded; delta is max - min; in trends, of the values behind them';

REVOKE ALL ON FUNCTION zbxhist.statistics(regclass, bigint, integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.statistics(regclass, bigint, integer, integer) TO PUBLIC;
-- sql/functions/statistics_time.sql

CREATE FUNCTION zbxhist.statistics(
    parent regclass,
    itemid bigint,
    from_time timestamptz,
    to_time timestamptz)
RETURNS TABLE (
    count bigint,
    min numeric,
    max numeric,
    sum numeric,
    avg numeric,
    delta numeric,
    first_clock integer,
    last_clock integer)
LANGUAGE c STABLE STRICT ROWS 1 PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_statistics_time';

COMMENT ON FUNCTION zbxhist.statistics(regclass, bigint, timestamptz, timestamptz) IS
'Aggregates of the values of an item from one time, included, to another, excluded; delta is max - min; in trends, of the values behind them';

REVOKE ALL ON FUNCTION zbxhist.statistics(regclass, bigint, timestamptz, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.statistics(regclass, bigint, timestamptz, timestamptz) TO PUBLIC;
-- sql/functions/buckets.sql

CREATE FUNCTION zbxhist.buckets(
    parent regclass,
    itemid bigint,
    from_clock integer,
    to_clock integer,
    buckets integer)
RETURNS TABLE (
    bucket integer,
    count bigint,
    avg numeric,
    min numeric,
    max numeric,
    clock integer)
LANGUAGE c STABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_buckets';

COMMENT ON FUNCTION zbxhist.buckets(regclass, bigint, integer, integer, integer) IS
'What the graph of an item needs, as the query of the frontend computes it: aggregates of each bucket that has values, both clocks included';

REVOKE ALL ON FUNCTION zbxhist.buckets(regclass, bigint, integer, integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.buckets(regclass, bigint, integer, integer, integer) TO PUBLIC;
-- sql/functions/buckets_time.sql

CREATE FUNCTION zbxhist.buckets(
    parent regclass,
    itemid bigint,
    from_time timestamptz,
    to_time timestamptz,
    buckets integer)
RETURNS TABLE (
    bucket integer,
    count bigint,
    avg numeric,
    min numeric,
    max numeric,
    clock integer)
LANGUAGE c STABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_buckets_time';

COMMENT ON FUNCTION zbxhist.buckets(regclass, bigint, timestamptz, timestamptz, integer) IS
'What the graph of an item needs, as the query of the frontend computes it: aggregates of each bucket that has values, both seconds included';

REVOKE ALL ON FUNCTION zbxhist.buckets(regclass, bigint, timestamptz, timestamptz, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.buckets(regclass, bigint, timestamptz, timestamptz, integer) TO PUBLIC;
-- sql/functions/last_values.sql

CREATE FUNCTION zbxhist.last_values(
    row_type anyelement,
    itemids bigint[],
    max_rows integer DEFAULT 1,
    since_clock integer DEFAULT NULL)
RETURNS SETOF anyelement
LANGUAGE c STABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_last_values';

COMMENT ON FUNCTION zbxhist.last_values(anyelement, bigint[], integer, integer) IS
'Newest rows of many items, up to max_rows of each, newest first, in the order of itemid; NULL::history names the managed table';

REVOKE ALL ON FUNCTION zbxhist.last_values(anyelement, bigint[], integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.last_values(anyelement, bigint[], integer, integer) TO PUBLIC;
-- sql/functions/last_values_time.sql

CREATE FUNCTION zbxhist.last_values(
    row_type anyelement,
    itemids bigint[],
    max_rows integer,
    since_time timestamptz)
RETURNS SETOF anyelement
LANGUAGE c STABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_last_values_time';

COMMENT ON FUNCTION zbxhist.last_values(anyelement, bigint[], integer, timestamptz) IS
'Newest rows of many items since a time, up to max_rows of each, newest first, in the order of itemid; NULL::history names the managed table';

REVOKE ALL ON FUNCTION zbxhist.last_values(anyelement, bigint[], integer, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.last_values(anyelement, bigint[], integer, timestamptz) TO PUBLIC;
-- sql/functions/delete_values.sql

CREATE FUNCTION zbxhist.delete_values(
    parent regclass,
    itemid bigint,
    clock integer,
    ns integer,
    which text)
RETURNS bigint
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_delete_values';

COMMENT ON FUNCTION zbxhist.delete_values(regclass, bigint, integer, integer, text) IS
'Deletes the rows of an item at a moment (equal), before it (less, less_or_equal) or after it (greater, greater_or_equal) and returns their number';

REVOKE ALL ON FUNCTION zbxhist.delete_values(regclass, bigint, integer, integer, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.delete_values(regclass, bigint, integer, integer, text) TO pg_database_owner;
-- sql/functions/delete_values_time.sql

CREATE FUNCTION zbxhist.delete_values(
    parent regclass,
    itemid bigint,
    moment timestamptz,
    which text)
RETURNS bigint
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_delete_values_time';

COMMENT ON FUNCTION zbxhist.delete_values(regclass, bigint, timestamptz, text) IS
'Deletes the rows of an item at a time (equal), before it (less, less_or_equal) or after it (greater, greater_or_equal) and returns their number';

REVOKE ALL ON FUNCTION zbxhist.delete_values(regclass, bigint, timestamptz, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.delete_values(regclass, bigint, timestamptz, text) TO pg_database_owner;
-- sql/functions/delete_item.sql

CREATE FUNCTION zbxhist.delete_item(itemid bigint)
RETURNS bigint
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    parent  regclass;
    deleted bigint := 0;
BEGIN
    FOREACH parent IN ARRAY zbxhist.parent_list() LOOP
        -- the policy may outlive the triggers
        IF EXISTS (SELECT FROM pg_trigger t
                    WHERE t.tgrelid = parent AND t.tgname = 'zzz_zbxhist_route') THEN
            deleted := deleted + zbxhist.delete_values(
                parent, itemid, -2147483648, -2147483648, 'greater_or_equal');
        END IF;
    END LOOP;
    RETURN deleted;
END
$$;

COMMENT ON FUNCTION zbxhist.delete_item(bigint) IS
'Deletes all rows of an item from every managed table and returns their number';

REVOKE ALL ON FUNCTION zbxhist.delete_item(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.delete_item(bigint) TO pg_database_owner;
-- sql/functions/add.sql

CREATE FUNCTION zbxhist.add(
    row_type anyelement,
    itemids bigint[],
    clocks integer[],
    ns integer[],
    "values" anycompatiblearray,
    on_conflict text DEFAULT 'error')
RETURNS bigint
LANGUAGE c VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_add';

COMMENT ON FUNCTION zbxhist.add(anyelement, bigint[], integer[], integer[], anycompatiblearray, text) IS
'Stores a value for each element of the arrays and returns the number of rows stored; a key that is there is an error (error), keeps its value (ignore) or gets the new one (update); NULL::history names the managed table';

REVOKE ALL ON FUNCTION zbxhist.add(anyelement, bigint[], integer[], integer[], anycompatiblearray, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.add(anyelement, bigint[], integer[], integer[], anycompatiblearray, text) TO pg_database_owner;
-- sql/procedures/maintain_parent.sql

CREATE PROCEDURE zbxhist.maintain_parent(parent regclass)
LANGUAGE plpgsql
AS $$
DECLARE
    policy    zbxhist.parent_config;
    partition regclass;
    answer    text;
BEGIN
    CALL zbxhist.next_transaction();
    SELECT * INTO policy FROM zbxhist.parent_config c WHERE c.parent = maintain_parent.parent;
    IF NOT FOUND OR NOT policy.routing THEN
        RETURN;
    END IF;
    CALL zbxhist.repeat_step(parent, 'begin', NULL::regclass, answer);
    IF answer <> 'done' THEN
        RETURN;
    END IF;
    CALL zbxhist.repeat_step(parent, 'premake', NULL::regclass, answer);
    CALL zbxhist.repeat_step(parent, 'attach', NULL::regclass, answer);
    -- what was begun by hand and broken off
    FOREACH partition IN ARRAY zbxhist.work_list(parent, 'unpack') LOOP
        CALL zbxhist.repeat_step(parent, 'unpack', partition, answer);
    END LOOP;
    IF zbxhist.own_pages(parent) > 0 THEN
        CALL zbxhist.move_waiting(parent);
    END IF;
    FOREACH partition IN ARRAY zbxhist.work_list(parent, 'drop') LOOP
        CALL zbxhist.repeat_step(parent, 'drop', partition, answer);
    END LOOP;
    FOREACH partition IN ARRAY zbxhist.work_list(parent, 'pack') LOOP
        CALL zbxhist.repeat_step(parent, 'pack', partition, answer);
    END LOOP;
    IF zbxhist.own_pages(parent) > 0 THEN
        CALL zbxhist.merge_waiting(parent);
    END IF;
    IF zbxhist.own_pages(parent) > 0 THEN
        CALL zbxhist.repeat_step(parent, 'truncate', NULL::regclass, answer);
        IF answer = 'done' THEN
            CALL zbxhist.repeat_step(parent, 'expire', NULL::regclass, answer);
        END IF;
    END IF;
    CALL zbxhist.repeat_step(parent, 'verify', NULL::regclass, answer);
    CALL zbxhist.repeat_step(parent, 'end', NULL::regclass, answer);
END
$$;

COMMENT ON PROCEDURE zbxhist.maintain_parent(regclass) IS
'Maintenance of one managed table (internal)';

REVOKE ALL ON PROCEDURE zbxhist.maintain_parent(regclass) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist.maintain_parent(regclass) TO pg_database_owner;
-- sql/procedures/move_waiting.sql

CREATE PROCEDURE zbxhist.move_waiting(parent regclass)
LANGUAGE plpgsql
AS $$
DECLARE
    partition regclass;
    answer    text;
BEGIN
    CALL zbxhist.next_transaction();
    UPDATE zbxhist.parent_state s SET duplicates = 0
     WHERE s.parent = move_waiting.parent AND s.duplicates <> 0;
    FOREACH partition IN ARRAY zbxhist.work_list(parent, 'move') LOOP
        CALL zbxhist.repeat_step(parent, 'move', partition, answer);
    END LOOP;
    LOOP
        CALL zbxhist.next_transaction();
        answer := zbxhist.run_step(parent, 'extend');
        EXIT WHEN answer <> 'more';
        CALL zbxhist.next_transaction();
        SELECT to_regclass(s.relation) INTO partition
          FROM zbxhist.parent_state s WHERE s.parent = move_waiting.parent;
        EXIT WHEN partition IS NULL;
        CALL zbxhist.repeat_step(parent, 'move', partition, answer);
    END LOOP;
END
$$;

COMMENT ON PROCEDURE zbxhist.move_waiting(regclass) IS
'Moves the rows that wait in a parent to their partitions and, with move_existing, creates the partitions of older ones (internal)';

REVOKE ALL ON PROCEDURE zbxhist.move_waiting(regclass) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist.move_waiting(regclass) TO pg_database_owner;
-- sql/procedures/merge_waiting.sql

CREATE PROCEDURE zbxhist.merge_waiting(parent regclass)
LANGUAGE plpgsql
AS $$
DECLARE
    day    regclass;
    answer text;
    failed boolean := false;
BEGIN
    CALL zbxhist.next_transaction();
    FOREACH day IN ARRAY zbxhist.work_list(parent, 'merge') LOOP
        CALL zbxhist.repeat_step(parent, 'merge', day, answer);
        failed := failed OR answer <> 'done';
    END LOOP;
    IF NOT failed THEN
        UPDATE zbxhist.parent_state s SET merged_at = clock_timestamp()
         WHERE s.parent = merge_waiting.parent
           AND (s.merged_at IS NULL OR s.merged_at < clock_timestamp() - interval '1 hour');
    END IF;
END
$$;

COMMENT ON PROCEDURE zbxhist.merge_waiting(regclass) IS
'Merges the rows that wait in a parent into their packed days (internal)';

REVOKE ALL ON PROCEDURE zbxhist.merge_waiting(regclass) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist.merge_waiting(regclass) TO pg_database_owner;
-- sql/procedures/next_transaction.sql
--
-- A procedure that commits cannot have a SET clause, so each transaction sets
-- its search_path itself.

CREATE PROCEDURE zbxhist.next_transaction()
LANGUAGE plpgsql
AS $$
BEGIN
    COMMIT;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
END
$$;

COMMENT ON PROCEDURE zbxhist.next_transaction() IS
'Commits, and begins a transaction with a safe search_path (internal)';

REVOKE ALL ON PROCEDURE zbxhist.next_transaction() FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist.next_transaction() TO pg_database_owner;
-- sql/procedures/repeat_by_hand.sql

CREATE PROCEDURE zbxhist.repeat_by_hand(parent regclass, step text, relation regclass)
LANGUAGE plpgsql
AS $$
DECLARE
    answer text;
    tries  integer := 0;
BEGIN
    LOOP
        CALL zbxhist.next_transaction();
        answer := zbxhist.run_by_hand(parent, step, relation);
        CALL zbxhist.next_transaction();
        EXIT WHEN answer = 'done';
        IF answer = 'wait' THEN
            tries := tries + 1;
            PERFORM zbxhist.refuse_to_wait(parent, tries);
            PERFORM pg_sleep(0.25);
        END IF;
    END LOOP;
    -- the session's own search_path again, for the caller's next statement
    COMMIT;
END
$$;

COMMENT ON PROCEDURE zbxhist.repeat_by_hand(regclass, text, regclass) IS
'Runs a step of packing or unpacking until it is done, each time in a transaction of its own (internal)';

REVOKE ALL ON PROCEDURE zbxhist.repeat_by_hand(regclass, text, regclass) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist.repeat_by_hand(regclass, text, regclass) TO pg_database_owner;
-- sql/procedures/pack.sql

CREATE PROCEDURE zbxhist.pack(parent regclass, day date)
LANGUAGE plpgsql
AS $$
BEGIN
    CALL zbxhist.next_transaction();
    CALL zbxhist.repeat_by_hand(parent, 'pack', zbxhist.partition_to_pack(parent, day));
END
$$;

COMMENT ON PROCEDURE zbxhist.pack(regclass, date) IS
'Packs the partition of a managed table in which a UTC day begins';

REVOKE ALL ON PROCEDURE zbxhist.pack(regclass, date) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist.pack(regclass, date) TO pg_database_owner;
-- sql/procedures/repeat_step.sql
--
-- Between two batches it sleeps as long as the batch took, so that maintenance
-- takes at most half of a disk.  A lock not got, or a transaction that has to
-- end first, is waited for a little; the next run tries again.

CREATE PROCEDURE zbxhist.repeat_step(
    parent regclass,
    step text,
    relation regclass,
    INOUT answer text)
LANGUAGE plpgsql
AS $$
DECLARE
    tries integer := 0;
    began timestamptz;
    pause double precision;
BEGIN
    LOOP
        CALL zbxhist.next_transaction();
        began := clock_timestamp();
        answer := zbxhist.run_step(parent, step, relation);
        CALL zbxhist.next_transaction();
        EXIT WHEN answer NOT IN ('more', 'locked', 'wait');
        IF answer = 'more' THEN
            tries := 0;
            pause := least(2, extract(epoch FROM clock_timestamp() - began));
        ELSE
            tries := tries + 1;
            EXIT WHEN tries >= CASE answer WHEN 'locked' THEN 3 ELSE 8 END;
            pause := 0.25;
        END IF;
        PERFORM pg_sleep(pause);
    END LOOP;
END
$$;

COMMENT ON PROCEDURE zbxhist.repeat_step(regclass, text, regclass, text) IS
'Runs a step of maintenance until it is done, in a transaction each time (internal)';

REVOKE ALL ON PROCEDURE zbxhist.repeat_step(regclass, text, regclass, text) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist.repeat_step(regclass, text, regclass, text) TO pg_database_owner;
-- sql/procedures/run_maintenance.sql

CREATE PROCEDURE zbxhist.run_maintenance(parent regclass DEFAULT NULL)
LANGUAGE plpgsql
AS $$
DECLARE
    target regclass;
    answer text;
BEGIN
    CALL zbxhist.next_transaction();
    -- a standby gets all this from its primary
    IF pg_is_in_recovery() THEN
        RETURN;
    END IF;
    IF parent IS NOT NULL THEN
        PERFORM zbxhist.require_parent(parent);
        CALL zbxhist.maintain_parent(parent);
    ELSE
        PERFORM zbxhist.forget_dropped();
        FOREACH target IN ARRAY ARRAY(SELECT zbxhist.new_tables()) LOOP
            CALL zbxhist.repeat_step(target, 'take_up', NULL::regclass, answer);
        END LOOP;
        FOREACH target IN ARRAY zbxhist.parent_list() LOOP
            CALL zbxhist.maintain_parent(target);
        END LOOP;
    END IF;
    -- the session's own search_path again, for the caller's next statement
    COMMIT;
END
$$;

COMMENT ON PROCEDURE zbxhist.run_maintenance(regclass) IS
'Does everything that time brings, for one managed table or all: premake, move rows out of the parent, drop, pack, merge late rows; each step in a transaction of its own.  Call it every quarter of an hour';

REVOKE ALL ON PROCEDURE zbxhist.run_maintenance(regclass) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist.run_maintenance(regclass) TO pg_database_owner;
-- sql/procedures/undo.sql

CREATE PROCEDURE zbxhist.undo(parent regclass)
LANGUAGE plpgsql
AS $$
DECLARE
    partition regclass;
    answer    text;
BEGIN
    CALL zbxhist.next_transaction();
    PERFORM zbxhist.require_parent(parent);
    CALL zbxhist.repeat_step(parent, 'undo_begin', NULL::regclass, answer);
    FOREACH partition IN ARRAY zbxhist.work_list(parent, 'unpack') LOOP
        EXIT WHEN answer NOT IN ('done', 'more', 'wait');
        CALL zbxhist.repeat_step(parent, 'unpack', partition, answer);
    END LOOP;
    -- a second round for rows of transactions that began before the first
    FOR round IN 1 .. 3 LOOP
        EXIT WHEN answer = 'failed' OR cardinality(zbxhist.work_list(parent, 'undo')) = 0;
        FOREACH partition IN ARRAY zbxhist.work_list(parent, 'undo') LOOP
            CALL zbxhist.repeat_step(parent, 'undo_move', partition, answer);
        END LOOP;
        CALL zbxhist.repeat_step(parent, 'undo_settle', NULL::regclass, answer);
        FOREACH partition IN ARRAY zbxhist.work_list(parent, 'undo') LOOP
            CALL zbxhist.repeat_step(parent, 'undo_drop', partition, answer);
        END LOOP;
    END LOOP;
    CALL zbxhist.repeat_step(parent, 'undo_end', NULL::regclass, answer);
    IF answer <> 'done' THEN
        RAISE NOTICE 'table % is not a plain table yet: % partitions and % packed days are left', parent,
                     cardinality(zbxhist.work_list(parent, 'undo')),
                     cardinality(zbxhist.work_list(parent, 'unpack'))
            USING HINT = format('Older transactions may still need them, or a lock could not be had: see zbxhist.maintenance_log, then repeat CALL zbxhist.undo(%L).  All rows can be read at any time.', parent);
    END IF;
    -- the session's own search_path again, for the caller's next statement
    COMMIT;
END
$$;

COMMENT ON PROCEDURE zbxhist.undo(regclass) IS
'Turns a managed table back into a plain one with every row, in batches; can be broken off and repeated';

REVOKE ALL ON PROCEDURE zbxhist.undo(regclass) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist.undo(regclass) TO pg_database_owner;
-- sql/procedures/unpack.sql

CREATE PROCEDURE zbxhist.unpack(parent regclass, day date)
LANGUAGE plpgsql
AS $$
BEGIN
    CALL zbxhist.next_transaction();
    CALL zbxhist.repeat_by_hand(parent, 'unpack', zbxhist.day_to_unpack(parent, day));
END
$$;

COMMENT ON PROCEDURE zbxhist.unpack(regclass, date) IS
'Makes the packed day of a managed table in which a UTC day begins an ordinary partition again; can be broken off and repeated';

REVOKE ALL ON PROCEDURE zbxhist.unpack(regclass, date) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist.unpack(regclass, date) TO pg_database_owner;
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
       c.created_at
  FROM zbxhist.parent_config c
  JOIN pg_catalog.pg_class k ON k.oid = c.parent
  CROSS JOIN LATERAL zbxhist.effective_retention(c.parent, c.retention) r
 ORDER BY c.parent::pg_catalog.text;

COMMENT ON VIEW zbxhist.parents IS
'The managed tables, their policy, and the retention that counts';
COMMENT ON COLUMN zbxhist.parents.parent IS 'The managed table';
COMMENT ON COLUMN zbxhist.parents.partition_interval IS 'Time range of one partition';
COMMENT ON COLUMN zbxhist.parents.premake IS 'Number of partitions kept ahead of the current one';
COMMENT ON COLUMN zbxhist.parents.retention IS 'Retention of the policy; NULL follows Zabbix';
COMMENT ON COLUMN zbxhist.parents.effective_retention IS 'The retention that counts; NULL drops nothing';
COMMENT ON COLUMN zbxhist.parents.retention_source IS 'Where that comes from: policy, zabbix: and the setting, or none';
COMMENT ON COLUMN zbxhist.parents.pack_after IS 'Age at which a partition is packed';
COMMENT ON COLUMN zbxhist.parents.move_existing IS 'Whether maintenance moves rows older than the oldest partition, too';
COMMENT ON COLUMN zbxhist.parents.routing IS 'False while an undo is in progress';
COMMENT ON COLUMN zbxhist.parents.created_at IS 'When the table was taken into care';

REVOKE ALL ON zbxhist.parents FROM PUBLIC;
GRANT SELECT ON zbxhist.parents TO PUBLIC;
-- sql/views/partitions.sql

CREATE VIEW zbxhist.partitions AS
SELECT c.parent,
       p.relation AS partition,
       CASE WHEN p.is_packed THEN 'packed' ELSE 'heap' END AS kind,
       p.from_clock,
       p.to_clock,
       pg_catalog.to_timestamp(p.from_clock) AS from_time,
       pg_catalog.to_timestamp(p.to_clock) AS to_time,
       CASE WHEN p.is_packed THEN 'packed'
            WHEN p.from_clock > t.present THEN 'future'
            WHEN p.to_clock > t.present THEN 'current'
            ELSE 'open' END AS state,
       e.rows,
       e.bytes,
       pg_catalog.round(e.bytes::pg_catalog.numeric / nullif(e.rows, 0), 1) AS bytes_per_value
  FROM zbxhist.parent_config c
  JOIN pg_catalog.pg_class k ON k.oid = c.parent
  CROSS JOIN LATERAL zbxhist.list_ranges(c.parent) p
  CROSS JOIN LATERAL (SELECT pg_catalog.date_part('epoch', pg_catalog.now()) AS present) t
  CROSS JOIN LATERAL (
       SELECT CASE WHEN p.is_packed
                   THEN (SELECT CASE WHEN NOT d.unpacked THEN d.nrows ELSE 0 END
                           FROM zbxhist.packed_day d WHERE d.day = p.relation)
                   ELSE zbxhist.estimated_rows(p.relation) END AS rows,
              pg_catalog.pg_total_relation_size(p.relation) AS bytes) e
 ORDER BY c.parent::pg_catalog.text, p.from_clock, p.is_packed;

COMMENT ON VIEW zbxhist.partitions IS
'The partitions and packed days of all managed tables';
COMMENT ON COLUMN zbxhist.partitions.parent IS 'The managed table';
COMMENT ON COLUMN zbxhist.partitions.partition IS 'Its partition, or the table of the packed day';
COMMENT ON COLUMN zbxhist.partitions.kind IS 'How it is stored: heap, an ordinary table; or packed';
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
          FROM zbxhist.insert_paths() i
         WHERE i.parent = c.parent
           AND i.path <> 'fast') AS values_slow
  FROM zbxhist.parent_config c
  JOIN pg_catalog.pg_class k ON k.oid = c.parent
  LEFT JOIN zbxhist.parent_state s ON s.parent = c.parent
  CROSS JOIN LATERAL zbxhist.effective_retention(c.parent, c.retention) r
  CROSS JOIN LATERAL (
       SELECT pg_catalog.count(*) FILTER (WHERE NOT l.is_packed) AS partitions,
              pg_catalog.count(*) FILTER (WHERE l.is_packed) AS packed_days,
              pg_catalog.count(*) FILTER (WHERE l.from_clock > pg_catalog.date_part('epoch', pg_catalog.now()))
                  AS partitions_ahead,
              pg_catalog.to_timestamp(pg_catalog.max(l.to_clock)) AS covered_until,
              pg_catalog.min(l.to_clock) AS first_end
         FROM zbxhist.list_ranges(c.parent) l) p
  CROSS JOIN LATERAL zbxhist.waiting_rows(c.parent) w
  CROSS JOIN LATERAL zbxhist.stored_values(c.parent) v
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
-- sql/views/progress.sql

CREATE VIEW zbxhist.progress AS
SELECT s.parent,
       s.action,
       s.relation AS partition,
       s.action_pid AS pid,
       s.action_started AS started_at,
       coalesce(p.rows, s.action_rows) AS rows,
       CASE WHEN p.rows IS NULL THEN s.action_percent
            ELSE pg_catalog.round(50.0 * p.read + 50.0 * p.written, 1) END AS percent
  FROM zbxhist.parent_state s
  JOIN pg_catalog.pg_class k ON k.oid = s.parent
  LEFT JOIN LATERAL (
       -- first all rows are read and sorted, then they are written
       SELECT i.param3 AS rows,
              coalesce(i.param1::pg_catalog.numeric / nullif(i.param2, 0), 0) AS read,
              coalesce(least(1, i.param3::pg_catalog.numeric
                  / nullif(zbxhist.estimated_rows(i.relid::pg_catalog.regclass), 0)), 0) AS written
         FROM pg_catalog.pg_stat_get_progress_info('COPY') i
        WHERE s.action = 'pack' AND i.pid = s.action_pid
          AND i.relid = pg_catalog.to_regclass(s.relation)) p ON true
 WHERE s.action IS NOT NULL
   AND EXISTS (SELECT FROM pg_catalog.pg_stat_activity a
                WHERE a.pid = s.action_pid
                  AND a.datname = pg_catalog.current_database());

COMMENT ON VIEW zbxhist.progress IS
'What maintenance is doing now, for actions of many batches';
COMMENT ON COLUMN zbxhist.progress.parent IS 'The managed table';
COMMENT ON COLUMN zbxhist.progress.action IS 'move, expire, pack, merge or undo';
COMMENT ON COLUMN zbxhist.progress.partition IS 'The partition concerned';
COMMENT ON COLUMN zbxhist.progress.pid IS 'The server process';
COMMENT ON COLUMN zbxhist.progress.started_at IS 'When the action began';
COMMENT ON COLUMN zbxhist.progress.rows IS 'Rows done so far';
COMMENT ON COLUMN zbxhist.progress.percent IS 'How far it has come, judged by the item reached or, of a partition that is packed, by the blocks read and the rows written';

REVOKE ALL ON zbxhist.progress FROM PUBLIC;
GRANT SELECT ON zbxhist.progress TO PUBLIC;
