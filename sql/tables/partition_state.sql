-- sql/tables/partition_state.sql
--
-- Read by the C code (parent, partition, verified), see src/rows/stray.c.
-- Not dumped: it is about this server, and the next runs write it anew.

CREATE TABLE zbxhist.partition_state (
    partition    regclass NOT NULL PRIMARY KEY,
    parent       regclass NOT NULL,
    settling     text[],
    verified     xid,
    not_packable text,
    from_clock   bigint,
    to_clock     bigint
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
COMMENT ON COLUMN zbxhist.partition_state.from_clock IS 'First clock of its range, for check() if its constraint is lost';
COMMENT ON COLUMN zbxhist.partition_state.to_clock IS 'End of its range: the first clock that is not in it';

REVOKE ALL ON zbxhist.partition_state FROM PUBLIC;
GRANT SELECT ON zbxhist.partition_state TO PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON zbxhist.partition_state TO pg_database_owner;
