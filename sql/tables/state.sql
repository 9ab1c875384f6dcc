-- sql/tables/state.sql

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
    merged_at       timestamptz,
    repack_after    timestamptz,
    deleted_bytes   bigint,
    deleted_percent numeric(4, 1),
    measured_at     timestamptz,
    oldest_clock    bigint,
    oldest_at       timestamptz,
    announced_cutoff bigint,
    begun_at        timestamptz,
    begun_pid       integer,
    undo_pid        integer
);

COMMENT ON TABLE zbxhist.parent_state IS
'What maintenance remembers of each managed table between two steps (see the views status and progress)';
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
COMMENT ON COLUMN zbxhist.parent_state.repack_after IS 'When the next packed day may be repacked';
COMMENT ON COLUMN zbxhist.parent_state.deleted_bytes IS 'About what values of items that Zabbix has deleted take of packed days; null: unknown';
COMMENT ON COLUMN zbxhist.parent_state.deleted_percent IS 'The same in per cent of packed days';
COMMENT ON COLUMN zbxhist.parent_state.measured_at IS 'When that was last measured';
COMMENT ON COLUMN zbxhist.parent_state.oldest_clock IS 'Clock of the oldest value in the table itself; null: there is none, or it is not known';
COMMENT ON COLUMN zbxhist.parent_state.oldest_at IS 'When that was last looked for';
COMMENT ON COLUMN zbxhist.parent_state.announced_cutoff IS 'Clock below which values were past retention when check() began to tell that they go in a day';
COMMENT ON COLUMN zbxhist.parent_state.begun_at IS 'When a run of maintenance began last with this table';
COMMENT ON COLUMN zbxhist.parent_state.begun_pid IS 'Server process of that run; null: it has come to its end';
COMMENT ON COLUMN zbxhist.parent_state.undo_pid IS 'Server process of the undo that is under way';

-- Read by the C code (parent, partition, verified), see src/tables/stray.c.
-- Not dumped: it is about this server, and the next runs write it anew.
CREATE TABLE zbxhist.partition_state (
    partition    regclass NOT NULL PRIMARY KEY,
    parent       regclass NOT NULL,
    settling     text[],
    verified     xid,
    not_packable text,
    not_packable_at timestamptz,
    from_clock   bigint,
    to_clock     bigint
);

COMMENT ON TABLE zbxhist.partition_state IS
'What maintenance knows of partitions: whether rows of theirs are in the parent, so that inserts have to look there for a key, and why one cannot be packed';
COMMENT ON COLUMN zbxhist.partition_state.partition IS 'The partition';
COMMENT ON COLUMN zbxhist.partition_state.settling IS
'Transactions that ran when the partition was first seen and may not know of it';
COMMENT ON COLUMN zbxhist.partition_state.verified IS
'Version of the routing trigger under which the parent was found to have no rows of the partition; NULL: not yet';
COMMENT ON COLUMN zbxhist.partition_state.not_packable IS 'Why its rows cannot be packed, found when it was tried';
COMMENT ON COLUMN zbxhist.partition_state.not_packable_at IS 'When that was; it is tried again after a day';
COMMENT ON COLUMN zbxhist.partition_state.from_clock IS 'First clock of its range, for check() if its constraint is lost';

-- Written by the C code for sessions that insert, see src/tables/stray.c; it has
-- no index for that reason.
CREATE TABLE zbxhist.stray_mark (
    parent regclass NOT NULL
);

-- deleted from, even where a publication has all tables
ALTER TABLE zbxhist.stray_mark REPLICA IDENTITY FULL;

COMMENT ON TABLE zbxhist.stray_mark IS
'Managed tables in which a row has been stored that belongs to a partition, since maintenance last looked';

-- Written by the C code for sessions that insert, see src/ingest/left_out.c; it has no
-- index for that reason, and few rows: maintenance adds them up.
CREATE TABLE zbxhist.left_out (
    parent      regclass NOT NULL,
    itemid      bigint,
    rows        bigint NOT NULL,
    first_clock integer NOT NULL,
    last_clock  integer NOT NULL,
    noted_at    timestamptz NOT NULL,
    kept        text
);

-- deleted from, even where a publication has all tables
ALTER TABLE zbxhist.left_out REPLICA IDENTITY FULL;

COMMENT ON TABLE zbxhist.left_out IS
'Values of the last day that were left out, for they were older than the policy max_age or further ahead than max_ahead';
COMMENT ON COLUMN zbxhist.left_out.itemid IS 'The item; NULL: others of a statement that had more than 31 of them';
COMMENT ON COLUMN zbxhist.left_out.rows IS 'How many';
COMMENT ON COLUMN zbxhist.left_out.first_clock IS 'The lowest clock among them';
COMMENT ON COLUMN zbxhist.left_out.last_clock IS 'The highest';
COMMENT ON COLUMN zbxhist.left_out.noted_at IS 'When they came, or the hour of that';
COMMENT ON COLUMN zbxhist.left_out.kept IS 'The row as text, if the policy out_of_range is keep; cast it to the table''s row type';

-- What maintenance could not do, and since when.  Not dumped: it is about this
-- server, and the next runs write it anew.
CREATE TABLE zbxhist.step_problem (
    parent   regclass NOT NULL,
    step     text NOT NULL,
    relation text NOT NULL DEFAULT '',
    since    timestamptz NOT NULL,
    last_at  timestamptz NOT NULL,
    sqlstate text,
    message  text,
    holders  text[],
    PRIMARY KEY (parent, step, relation)
);

COMMENT ON TABLE zbxhist.step_problem IS 'Steps of maintenance that could not be done when they were last tried';
COMMENT ON COLUMN zbxhist.step_problem.step IS 'The step: premake, move, drop, pack, ...';
COMMENT ON COLUMN zbxhist.step_problem.relation IS 'The partition or packed day that it is about, or empty';
COMMENT ON COLUMN zbxhist.step_problem.since IS 'When it was first tried in vain';
COMMENT ON COLUMN zbxhist.step_problem.last_at IS 'When it was last tried in vain';
COMMENT ON COLUMN zbxhist.step_problem.sqlstate IS 'SQLSTATE of the error; NULL if it waits for the end of older transactions';
COMMENT ON COLUMN zbxhist.step_problem.message IS 'The error';
COMMENT ON COLUMN zbxhist.step_problem.holders IS 'Transactions that had what it is about locked then, of a step that is not to wait for them again';

-- What check() found at the end of the last maintenance, for metrics(), which is
-- asked every minute.  Not dumped: the next run writes it anew.
CREATE TABLE zbxhist.check_summary (
    severity   text NOT NULL PRIMARY KEY,
    lines      integer NOT NULL,
    checked_at timestamptz NOT NULL
);

COMMENT ON TABLE zbxhist.check_summary IS 'How many lines check() had when maintenance ended last';
COMMENT ON COLUMN zbxhist.check_summary.severity IS 'error, warning or info';
COMMENT ON COLUMN zbxhist.check_summary.lines IS 'Lines of that severity';
COMMENT ON COLUMN zbxhist.check_summary.checked_at IS 'When that was';

CREATE TYPE zbxhist_internal.check_line AS (severity text, code text, object text, message text, hint text);

COMMENT ON TYPE zbxhist_internal.check_line IS 'What a part of check() has found (internal)';

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

COMMENT ON TABLE zbxhist.maintenance_log IS 'Every action of maintenance, kept for 30 days';
COMMENT ON COLUMN zbxhist.maintenance_log.id IS 'Number of the entry';
COMMENT ON COLUMN zbxhist.maintenance_log.started_at IS 'When the action began';
COMMENT ON COLUMN zbxhist.maintenance_log.action IS 'What was done: take_up, owner, premake, split, replace, trigger, align, index, move, extend, drop, expire, truncate, pack, merge, compact, repack, unpack, salvage, lost, detach, absorb, inspect, undo, ...';
COMMENT ON COLUMN zbxhist.maintenance_log.relation IS 'The partition, if it was about one';
COMMENT ON COLUMN zbxhist.maintenance_log.rows IS 'Rows moved, deleted or dropped (an estimate for dropped ones)';
COMMENT ON COLUMN zbxhist.maintenance_log.bytes IS 'Disk space freed';
COMMENT ON COLUMN zbxhist.maintenance_log.duration IS 'How long the action took, lock waits included';
COMMENT ON COLUMN zbxhist.maintenance_log.lock_wait IS 'How long it waited for locks that stop writers or readers';
COMMENT ON COLUMN zbxhist.maintenance_log.sqlstate IS 'SQLSTATE if it failed';
COMMENT ON COLUMN zbxhist.maintenance_log.message IS 'Error message or remark';
