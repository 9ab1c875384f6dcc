-- sql/tables/state.sql

-- What maintenance remembers of each managed table between two steps (see the views status and
-- progress).
--
-- The state of maintenance of each parent.  Not dumped: it is about this server, and the next run
-- writes it again.
CREATE TABLE zbxhist.parent_state (
    parent          regclass NOT NULL PRIMARY KEY,
    last_run        timestamptz,  -- when maintenance last came to the end for this table
    last_success    timestamptz,  -- when it last did so without an error
    last_error      text,  -- the last error
    last_error_at   timestamptz,  -- when that was
    failed          boolean NOT NULL DEFAULT false,  -- whether a step has failed since the present run began
    -- rows left in the parent because a different row with their key is in the partition, or too many
    -- of their item and second in the packed day
    duplicates      bigint NOT NULL DEFAULT 0,
    last_move       xid8,  -- transaction that last moved rows
    -- transactions that ran when the parent was first found empty and may still need its old rows
    settling        text[],
    extended_to     bigint,  -- how far down this run has created partitions for existing rows
    action          text,  -- batched action under way
    relation        text,  -- partition it works on
    action_pid      integer,  -- server process that does it
    action_started  timestamptz,  -- when it began
    action_total    bigint,  -- about how many rows there were when it began
    position_itemid bigint,  -- the last item done
    action_rows     bigint NOT NULL DEFAULT 0,  -- rows done
    action_percent  numeric(4, 1),  -- per cent done, of about so many rows
    -- whether marks of strays have been removed for a look through the parent that is not over yet
    verifying       boolean NOT NULL DEFAULT false,
    packed_table    regclass,  -- the foreign table that stands for packed days, when it was first seen here
    packed_settling text[],  -- transactions that ran then and may not know of it
    merged_at       timestamptz,  -- when it was last looked for rows of packed days
    repack_after    timestamptz,  -- when the next packed day may be repacked
    -- clock of the oldest value in the table itself; null: there is none, or it is not known
    oldest_clock    bigint,
    oldest_at       timestamptz,  -- when that was last looked for
    -- clock below which values were past retention when check() began to tell that they go in a day
    announced_cutoff bigint,
    begun_at        timestamptz,  -- when a run of maintenance began last with this table
    begun_pid       integer,  -- server process of that run; null: it has come to its end
    undo_pid        integer  -- server process of the undo that is under way
);

-- What maintenance knows about partitions: whether the parent may have rows of them, so that
-- INSERTs have to look for keys there, and why a partition cannot be packed.
--
-- Read by the C code (parent, partition, verified), see src/tables/stray.c.
-- Not dumped: it is about this server, and the next runs write it anew.
CREATE TABLE zbxhist.partition_state (
    partition    regclass NOT NULL PRIMARY KEY,  -- the partition
    parent       regclass NOT NULL,
    settling     text[],  -- transactions that ran when the partition was first seen and may not know of it
    -- version of the routing trigger under which the parent was found to have no rows of the
    -- partition; NULL: not yet
    verified     xid,
    not_packable text,  -- why its rows cannot be packed, found when it was tried
    not_packable_at timestamptz  -- when that was; it is tried again after a day
);

-- Managed tables in which a row that belongs to a partition has been stored since maintenance last
-- checked.
--
-- Written by the C code for sessions that insert, see src/tables/stray.c; it has
-- no index for that reason.
CREATE TABLE zbxhist.stray_mark (
    parent regclass NOT NULL
);

-- deleted from, even where a publication has all tables
ALTER TABLE zbxhist.stray_mark REPLICA IDENTITY FULL;

-- Values of the last day that were left out, because they were older than the policy max_age or
-- further ahead than max_ahead.
--
-- Written by the C code for sessions that insert, see src/ingest/left_out.c; it has no
-- index for that reason, and few rows: maintenance adds them up.
CREATE TABLE zbxhist.left_out (
    parent      regclass NOT NULL,
    itemid      bigint,  -- the item; NULL: others of a statement that had more than 31 of them
    rows        bigint NOT NULL,  -- how many
    first_clock integer NOT NULL,  -- the lowest clock among them
    last_clock  integer NOT NULL,  -- the highest
    noted_at    timestamptz NOT NULL,  -- when they came, or the hour of that
    kept        text  -- the row as text, if the policy out_of_range is keep; cast it to the table's row type
);

-- deleted from, even where a publication has all tables
ALTER TABLE zbxhist.left_out REPLICA IDENTITY FULL;

-- Steps of maintenance that could not be done when they were last tried.
--
-- What maintenance could not do, and since when.  Not dumped: it is about this
-- server, and the next runs write it anew.
CREATE TABLE zbxhist.step_problem (
    parent   regclass NOT NULL,
    step     text NOT NULL,  -- the step: premake, move, drop, pack, ...
    relation text NOT NULL DEFAULT '',  -- the partition or packed day that it is about, or empty
    since    timestamptz NOT NULL,  -- when it was first tried in vain
    last_at  timestamptz NOT NULL,  -- when it was last tried in vain
    sqlstate text,  -- SQLSTATE of the error; NULL if it waits for the end of older transactions
    message  text,  -- the error
    PRIMARY KEY (parent, step, relation)
);

-- How many lines check() had when maintenance ended last.
--
-- What check() found at the end of the last maintenance that had something to do, or an hour
-- later at most, for metrics(), which is asked every minute.  Not dumped: the next run writes it anew.
CREATE TABLE zbxhist.check_summary (
    severity   text NOT NULL PRIMARY KEY,  -- error, warning or info
    lines      integer NOT NULL,  -- lines of that severity
    checked_at timestamptz NOT NULL  -- when that was
);

-- What a part of check() has found.
CREATE TYPE zbxhist_internal.check_line AS (severity text, code text, object text, message text, hint text);

-- Every action of maintenance, kept for 30 days.
CREATE TABLE zbxhist.maintenance_log (
    id         bigint NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,  -- number of the entry
    started_at timestamptz NOT NULL,  -- when the action began
    parent     regclass,
    -- what was done: take_up, owner, premake, split, replace, trigger, align, index, move, extend,
    -- drop, expire, truncate, pack, merge, compact, repack, unpack, salvage, lost, detach, inspect, undo, ...
    action     text NOT NULL,
    relation   text,  -- the partition, if it was about one
    rows       bigint,  -- rows moved, deleted or dropped (an estimate for dropped ones)
    bytes      bigint,  -- disk space freed
    duration   interval NOT NULL,  -- how long the action took, lock waits included
    lock_wait  interval,  -- how long it waited for locks that stop writers or readers
    sqlstate   text,  -- SQLSTATE if it failed
    message    text  -- error message or remark
);

CREATE INDEX ON zbxhist.maintenance_log (started_at);
