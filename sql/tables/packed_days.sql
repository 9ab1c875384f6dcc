-- sql/tables/packed_days.sql

-- Which packed days there are.  Unlike partitions they are listed here: to
-- read the constraints of a year of days takes a new connection longer than a
-- query.  The C code reads (parent, day, from_clock, to_clock, nrows, packed_at,
-- partition, unpacked) by name, and the index by its name.
CREATE TABLE zbxhist.packed_day (
    parent     regclass NOT NULL,
    day        regclass NOT NULL PRIMARY KEY,  -- the table in schema zbxhist_packed that holds the day
    from_clock bigint NOT NULL,  -- first clock of the day
    to_clock   bigint NOT NULL,  -- end of the day: the first clock that is not in it
    nrows      bigint NOT NULL,  -- number of values, less what maintenance has yet to hear was deleted
    heap_bytes bigint,  -- disk space, with indexes, of the partition that it was
    packed_at  timestamptz NOT NULL DEFAULT pg_catalog.now(),  -- when it was packed
    partition  regclass,  -- the partition that it is being unpacked to
    -- whether its values are in that partition already, and here only for older transactions
    unpacked   boolean NOT NULL DEFAULT false,
    settling   text[],  -- transactions that ran at the last step of that and may not know of it
    changed    xid8,  -- transaction that brought the values there
    packed_bytes bigint,  -- disk space of its values, without index, when they were written last
    packed_rows bigint,  -- number of values then
    merged_at  timestamptz,  -- when late values were last merged into it
    repacked_at timestamptz,  -- when it was last repacked or compacted, or that was tried in vain
    not_compacted text,  -- why it cannot be compacted with others, found when it was tried
    time_precision integer,  -- nanoseconds that times have been rounded to; NULL: they are as they came
    archive_copy uuid,  -- the copy in zbxhist.archive_copy that has its groups; NULL: it is not archived
    -- whether it was unarchived by hand, so that maintenance leaves it here
    kept_here boolean NOT NULL DEFAULT false
);

CREATE INDEX packed_day_parent ON zbxhist.packed_day (parent, from_clock);

COMMENT ON TABLE zbxhist.packed_day IS 'The packed days of all managed tables';

-- a table dropped since would be dumped as a bare number
SELECT pg_catalog.pg_extension_config_dump('zbxhist.packed_day',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = parent)'
    ' AND EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = day)');

-- Written by the C code for sessions that change packed rows, see
-- src/packed/day_conflicts.c; it has no index for that reason.
CREATE TABLE zbxhist.packed_change (
    day     regclass NOT NULL,  -- the packed day
    removed bigint NOT NULL  -- number of values that were deleted
);

-- deleted from, even where a publication has all tables
ALTER TABLE zbxhist.packed_change REPLICA IDENTITY FULL;

COMMENT ON TABLE zbxhist.packed_change IS 'Changes of packed days since maintenance last looked';

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
    day         regclass NOT NULL PRIMARY KEY,  -- the table of the packed day
    parent      regclass NOT NULL,
    verified_at timestamptz NOT NULL,  -- when it was last looked through, or damage was met
    found_at    timestamptz,  -- when damage was first found; NULL: there is none
    problem     text  -- the first of what was damaged
);

COMMENT ON TABLE zbxhist.verified_day IS 'When packed days were last looked through, and what was damaged';
