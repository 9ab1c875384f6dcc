-- sql/tables/state.sql

-- State of maintenance of each managed table (see the views status and progress).
--
-- Not dumped: it describes this server, and the next run writes it again.
CREATE TABLE zbxhist.parent_state (
    parent          regclass NOT NULL PRIMARY KEY,
    last_run        timestamptz,  -- when maintenance of this table last ended
    last_success    timestamptz,  -- when it last ended without an error
    last_error      text,  -- the last error
    last_error_at   timestamptz,  -- when that was
    failed          boolean NOT NULL DEFAULT false,  -- whether a step has failed since the present run began
    -- rows left in the parent because the partition has a different row with their key, or the packed
    -- day has too many rows of their item and second
    duplicates      bigint NOT NULL DEFAULT 0,
    last_move       xid8,  -- transaction that last moved rows
    -- transactions that ran when the parent was first found empty and may still need its old rows
    settling        text[],
    extended_to     bigint,  -- the clock down to which this run has created partitions for existing rows
    action          text,  -- action in progress that works in batches
    relation        text,  -- partition it works on
    action_pid      integer,  -- server process that does it
    action_started  timestamptz,  -- when it began
    action_total    bigint,  -- estimated number of rows when it began
    position_itemid bigint,  -- the last item done
    action_rows     bigint NOT NULL DEFAULT 0,  -- rows done
    action_percent  numeric(4, 1),  -- percentage done, of the estimate
    -- whether marks of strays were removed for a search of the parent that has not ended yet
    verifying       boolean NOT NULL DEFAULT false,
    packed_table    regclass,  -- the packed table, noted when maintenance first saw it
    packed_settling text[],  -- transactions that ran then and may not see it
    merged_at       timestamptz,  -- when maintenance last looked for rows of packed days in the parent
    repack_after    timestamptz,  -- when the next packed day may be repacked
    -- clock of the oldest value in the table itself; NULL: there is none, or it is not known
    oldest_clock    bigint,
    oldest_at       timestamptz,  -- when that was determined
    -- values with lower clocks were past retention when check() began to announce their deletion
    announced_cutoff bigint,
    begun_at        timestamptz,  -- when the last run of maintenance began with this table
    begun_pid       integer,  -- server process of that run; NULL: it has ended
    undo_pid        integer  -- server process of the undo in progress
);

-- State of partitions: whether the parent may have rows of one, so that INSERTs must look for their
-- keys there, too, and why one cannot be packed.
--
-- The C code reads parent, partition and verified by name, see src/tables/stray.c.
-- Not dumped: it describes this server, and the next runs write it again.
CREATE TABLE zbxhist.partition_state (
    partition    regclass NOT NULL PRIMARY KEY,  -- the partition
    parent       regclass NOT NULL,
    settling     text[],  -- transactions that ran when maintenance first saw the partition and may not see it
    -- version of the routing trigger when the parent was found to have no rows of the partition; NULL:
    -- not yet
    verified     xid,
    not_packable text,  -- why its rows cannot be packed, noted when that failed
    not_packable_at timestamptz  -- when it failed; it is tried again after a day
);

-- Managed tables in which a row that belongs to a partition has been stored since maintenance last
-- checked.
--
-- Sessions that insert write it, see src/tables/stray.c; it has no index, so that this is cheap.
CREATE TABLE zbxhist.stray_mark (
    parent regclass NOT NULL
);

-- rows are deleted, also where a publication is FOR ALL TABLES
ALTER TABLE zbxhist.stray_mark REPLICA IDENTITY FULL;

-- Values of the last day that were left out, because they were older than max_age of the policy or
-- further in the future than max_ahead.
--
-- Sessions that insert write it, see src/ingest/left_out.c; it has no index, so that this is cheap,
-- and few rows, because maintenance adds them up.
CREATE TABLE zbxhist.left_out (
    parent      regclass NOT NULL,
    itemid      bigint,  -- the item; NULL: further items of a statement that had more than 31
    rows        bigint NOT NULL,  -- how many
    first_clock integer NOT NULL,  -- the lowest clock among them
    last_clock  integer NOT NULL,  -- the highest
    noted_at    timestamptz NOT NULL,  -- when they arrived, or the hour of that
    kept        text  -- the row as text, if the policy out_of_range is keep; cast it to the table's row type
);

-- rows are deleted, also where a publication is FOR ALL TABLES
ALTER TABLE zbxhist.left_out REPLICA IDENTITY FULL;

-- Steps of maintenance that failed when they were last tried.
--
-- Not dumped: it describes this server, and the next runs write it again.
CREATE TABLE zbxhist.step_problem (
    parent   regclass NOT NULL,
    step     text NOT NULL,  -- the step: premake, move, drop, pack, ...
    relation text NOT NULL DEFAULT '',  -- its partition or packed day, or empty
    since    timestamptz NOT NULL,  -- when it first failed
    last_at  timestamptz NOT NULL,  -- when it last failed
    sqlstate text,  -- SQLSTATE of the error; NULL if it waits for the end of older transactions
    message  text,  -- the error
    PRIMARY KEY (parent, step, relation)
);

-- How many lines of each severity check() returned at the end of the last maintenance.
--
-- metrics() reads it, because Zabbix asks for that every minute.  A run that has nothing to do writes
-- it once an hour.  Not dumped: the next run writes it again.
CREATE TABLE zbxhist.check_summary (
    severity   text NOT NULL PRIMARY KEY,  -- error, warning or info
    lines      integer NOT NULL,  -- lines of that severity
    checked_at timestamptz NOT NULL  -- when check() ran
);

-- A line of check().
CREATE TYPE zbxhist_internal.check_line AS (severity text, code text, object text, message text, hint text);

-- Every action of maintenance, kept for 30 days.
CREATE TABLE zbxhist.maintenance_log (
    id         bigint NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,  -- number of the entry
    started_at timestamptz NOT NULL,  -- when the action began
    parent     regclass,
    -- what was done: take_up, owner, premake, split, replace, trigger, align, index, move, extend,
    -- drop, expire, truncate, pack, merge, compact, repack, unpack, salvage, lost, detach, inspect, undo, ...
    action     text NOT NULL,
    relation   text,  -- the partition or packed day, if there was one
    rows       bigint,  -- rows moved, deleted or dropped (an estimate for dropped ones)
    bytes      bigint,  -- disk space freed
    duration   interval NOT NULL,  -- how long the action took, lock waits included
    lock_wait  interval,  -- how long it waited for locks that stop writers or readers
    sqlstate   text,  -- SQLSTATE if it failed
    message    text  -- error message or remark
);

CREATE INDEX ON zbxhist.maintenance_log (started_at);
