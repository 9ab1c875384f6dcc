-- sql/tables/packed_days.sql

-- The packed days of all managed tables.
--
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

-- a table dropped since would be dumped as a bare number
SELECT pg_catalog.pg_extension_config_dump('zbxhist.packed_day',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = parent)'
    ' AND EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = day)');

-- Changes of packed days since maintenance last checked.
--
-- Written by the C code for sessions that change packed rows, see
-- src/packed/day_conflicts.c; it has no index for that reason.
CREATE TABLE zbxhist.packed_change (
    day     regclass NOT NULL,  -- the packed day
    removed bigint NOT NULL  -- number of values that were deleted
);

-- deleted from, even where a publication has all tables
ALTER TABLE zbxhist.packed_change REPLICA IDENTITY FULL;

-- Values of damaged packed days that could not be salvaged, or that were dropped with their tables;
-- kept until somebody deletes the rows.
CREATE TABLE zbxhist.lost_values (
    parent       regclass NOT NULL,
    day          text NOT NULL,  -- the table that held the packed day
    salvaged_at  timestamptz NOT NULL DEFAULT pg_catalog.now(),  -- when that was
    first_itemid bigint,  -- item of the first value that is lost; NULL: nothing is known of them
    first_clock  integer,  -- its clock
    last_itemid  bigint,  -- item of the last value that is lost, or of the next one that is not
    last_clock   integer,  -- its clock
    is_end       boolean NOT NULL,  -- whether the last value is lost itself; false: those before it are
    rows         bigint,  -- number of values; NULL: not known
    problem      text NOT NULL,  -- why they could not be read
    -- the bytes in which they were: a group of segments, or a page of the table.  With the first of
    -- several losses
    bytes        bytea
);

-- deleted from, even where a publication has all tables
ALTER TABLE zbxhist.lost_values REPLICA IDENTITY FULL;

-- a table dropped since would be dumped as a bare number
SELECT pg_catalog.pg_extension_config_dump('zbxhist.lost_values',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = parent)');

-- When packed days were last checked, and what was damaged.
--
-- Damage is remembered until the day is found intact, or its table is dropped.  Not dumped: it is
-- about this server's disks.
CREATE TABLE zbxhist.verified_day (
    day         regclass NOT NULL PRIMARY KEY,  -- the table of the packed day
    parent      regclass NOT NULL,
    verified_at timestamptz NOT NULL,  -- when it was last looked through, or damage was met
    found_at    timestamptz,  -- when damage was first found; NULL: there is none
    problem     text  -- the first of what was damaged
);
