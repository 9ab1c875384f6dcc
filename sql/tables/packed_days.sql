-- sql/tables/packed_days.sql

-- Which packed days there are.  Unlike partitions they are listed here: to
-- read the constraints of a year of days takes a new connection longer than a
-- query.  The C code reads (parent, day, from_clock, to_clock, nrows, packed_at,
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
    changed    xid8,
    packed_bytes bigint,
    packed_rows bigint,
    merged_at  timestamptz,
    repacked_at timestamptz,
    not_compacted text,
    time_precision integer,
    archive_copy uuid,
    kept_here boolean NOT NULL DEFAULT false
);

CREATE INDEX packed_day_parent ON zbxhist.packed_day (parent, from_clock);

COMMENT ON TABLE zbxhist.packed_day IS 'The packed days of all managed tables';
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
COMMENT ON COLUMN zbxhist.packed_day.time_precision IS 'Nanoseconds that times have been rounded to; NULL: they are as they came';
COMMENT ON COLUMN zbxhist.packed_day.archive_copy IS 'The copy in zbxhist.archive_copy that has its groups; NULL: it is not archived';
COMMENT ON COLUMN zbxhist.packed_day.kept_here IS 'Whether it was unarchived by hand, so that maintenance leaves it here';

-- a table dropped since would be dumped as a bare number
SELECT pg_catalog.pg_extension_config_dump('zbxhist.packed_day',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = parent)'
    ' AND EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = day)');

-- Written by the C code for sessions that change packed rows, see
-- src/packed/day_conflicts.c; it has no index for that reason.
CREATE TABLE zbxhist.packed_change (
    day     regclass NOT NULL,
    removed bigint NOT NULL
);

-- deleted from, even where a publication has all tables
ALTER TABLE zbxhist.packed_change REPLICA IDENTITY FULL;

COMMENT ON TABLE zbxhist.packed_change IS 'Changes of packed days since maintenance last looked';
COMMENT ON COLUMN zbxhist.packed_change.day IS 'The packed day';
COMMENT ON COLUMN zbxhist.packed_change.removed IS 'Number of values that were deleted';

CREATE TABLE zbxhist.lost_values (
    parent       regclass NOT NULL,
    day          text NOT NULL,
    salvaged_at  timestamptz NOT NULL DEFAULT pg_catalog.now(),
    first_itemid bigint,
    first_clock  integer,
    last_itemid  bigint,
    last_clock   integer,
    is_end       boolean NOT NULL,
    rows         bigint,
    problem      text NOT NULL,
    bytes        bytea
);

-- deleted from, even where a publication has all tables
ALTER TABLE zbxhist.lost_values REPLICA IDENTITY FULL;

COMMENT ON TABLE zbxhist.lost_values IS
'What could not be read of damaged packed days when the rest was salvaged, and what was dropped with their tables; kept until somebody deletes it';
COMMENT ON COLUMN zbxhist.lost_values.day IS 'The table that held the packed day';
COMMENT ON COLUMN zbxhist.lost_values.salvaged_at IS 'When that was';
COMMENT ON COLUMN zbxhist.lost_values.first_itemid IS 'Item of the first value that is lost; NULL: nothing is known of them';
COMMENT ON COLUMN zbxhist.lost_values.first_clock IS 'Its clock';
COMMENT ON COLUMN zbxhist.lost_values.last_itemid IS 'Item of the last value that is lost, or of the next one that is not';
COMMENT ON COLUMN zbxhist.lost_values.last_clock IS 'Its clock';
COMMENT ON COLUMN zbxhist.lost_values.is_end IS 'Whether the last value is lost itself; false: those before it are';
COMMENT ON COLUMN zbxhist.lost_values.rows IS 'Number of values; NULL: not known';
COMMENT ON COLUMN zbxhist.lost_values.problem IS 'Why they could not be read';
COMMENT ON COLUMN zbxhist.lost_values.bytes IS 'The bytes in which they were: a group of segments, or a page of the table.  With the first of several losses';

-- a table dropped since would be dumped as a bare number
SELECT pg_catalog.pg_extension_config_dump('zbxhist.lost_values',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = parent)');

-- Damage is remembered until the day is right again, or its table is gone.  Not
-- dumped: it is about this server's disks.
CREATE TABLE zbxhist.verified_day (
    day         regclass NOT NULL PRIMARY KEY,
    parent      regclass NOT NULL,
    verified_at timestamptz NOT NULL,
    found_at    timestamptz,
    problem     text
);

COMMENT ON TABLE zbxhist.verified_day IS 'When packed days were last looked through, and what was damaged';
COMMENT ON COLUMN zbxhist.verified_day.day IS 'The table of the packed day';
COMMENT ON COLUMN zbxhist.verified_day.verified_at IS 'When it was last looked through, or damage was met';
COMMENT ON COLUMN zbxhist.verified_day.found_at IS 'When damage was first found; NULL: there is none';
COMMENT ON COLUMN zbxhist.verified_day.problem IS 'The first of what was damaged';
