-- sql/tables/packed_day.sql
--
-- Which packed days there are.  Unlike partitions they are listed here: to
-- read the constraints of a year of days takes a new connection longer than a
-- query.  The C code reads (parent, day, from_clock, to_clock, nrows, packed_at,
-- partition, unpacked, runs) by name, and the index by its name.

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
    changed    xid8,
    packed_bytes bigint,
    packed_rows bigint,
    merged_at  timestamptz,
    repacked_at timestamptz,
    not_compacted text,
    runs boolean NOT NULL DEFAULT false
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

COMMENT ON COLUMN zbxhist.packed_day.packed_bytes IS 'Disk space of its values, without index, when they were written last';
COMMENT ON COLUMN zbxhist.packed_day.packed_rows IS 'Number of values then';
COMMENT ON COLUMN zbxhist.packed_day.merged_at IS 'When late values were last merged into it';
COMMENT ON COLUMN zbxhist.packed_day.repacked_at IS 'When it was last repacked or compacted, or that was tried in vain';
COMMENT ON COLUMN zbxhist.packed_day.not_compacted IS 'Why it cannot be compacted with others, found when it was tried';
COMMENT ON COLUMN zbxhist.packed_day.runs IS 'Whether INSERTs still store values there, a statement''s as a run: an hour to come or not yet packed';

-- a table dropped since would be dumped as a bare number
SELECT pg_catalog.pg_extension_config_dump('zbxhist.packed_day',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = parent)'
    ' AND EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = day)');

REVOKE ALL ON zbxhist.packed_day FROM PUBLIC;
GRANT SELECT ON zbxhist.packed_day TO PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON zbxhist.packed_day TO pg_database_owner;
