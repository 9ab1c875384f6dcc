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
    merged_at       timestamptz,
    repack_after    timestamptz,
    deleted_bytes   bigint,
    deleted_percent numeric(4, 1),
    measured_at     timestamptz,
    oldest_clock    bigint,
    oldest_at       timestamptz
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
COMMENT ON COLUMN zbxhist.parent_state.repack_after IS 'When the next packed day may be repacked';
COMMENT ON COLUMN zbxhist.parent_state.deleted_bytes IS 'About what values of items that Zabbix has deleted take of packed days; null: unknown';
COMMENT ON COLUMN zbxhist.parent_state.deleted_percent IS 'The same in per cent of packed days';
COMMENT ON COLUMN zbxhist.parent_state.measured_at IS 'When that was last measured';
COMMENT ON COLUMN zbxhist.parent_state.oldest_clock IS 'Clock of the oldest value in the table itself; null: there is none, or it is not known';
COMMENT ON COLUMN zbxhist.parent_state.oldest_at IS 'When that was last looked for';

REVOKE ALL ON zbxhist.parent_state FROM PUBLIC;
GRANT SELECT ON zbxhist.parent_state TO PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON zbxhist.parent_state TO pg_database_owner;
