-- sql/tables/packed_days.sql

-- The packed days of all managed tables.
--
-- Unlike partitions, packed days are listed in a table: if a new connection had to read the
-- constraints of a year of days, that would take longer than its query.  The C code reads parent,
-- day, from_clock, to_clock, nrows, packed_at, partition, unpacked and the index by name.
CREATE TABLE zbxhist.packed_day (
    parent     regclass NOT NULL,
    day        regclass NOT NULL PRIMARY KEY,  -- the table in schema zbxhist_packed that holds the day
    from_clock bigint NOT NULL,  -- first clock of the day
    to_clock   bigint NOT NULL,  -- end of the day: the first clock that is not in it
    nrows      bigint NOT NULL,  -- number of values; the deletes in packed_change are still to be subtracted
    heap_bytes bigint,  -- disk space, with indexes, of the partition that was packed
    packed_at  timestamptz NOT NULL DEFAULT pg_catalog.now(),  -- when it was packed
    partition  regclass,  -- the partition to which it is being unpacked
    -- whether its values are in that partition; then only older transactions still read them here
    unpacked   boolean NOT NULL DEFAULT false,
    settling   text[],  -- transactions that ran during the last step of unpacking and may not see it
    changed    xid8,  -- transaction that stored the values in the partition
    packed_bytes bigint,  -- disk space of its values, without index, when they were last written
    packed_rows bigint,  -- number of values then
    merged_at  timestamptz,  -- when late values were last merged into it
    repacked_at timestamptz,  -- when it was last repacked or compacted, or that last failed
    not_compacted text,  -- why it cannot be compacted with others, noted when that failed
    time_precision integer,  -- nanoseconds to which times were rounded; NULL: they were not
    archive_copy uuid,  -- the copy in zbxhist.archive_copy that has its groups; NULL: it is not archived
    -- whether somebody has unarchived it; then maintenance does not archive it again
    kept_here boolean NOT NULL DEFAULT false
);

CREATE INDEX packed_day_parent ON zbxhist.packed_day (parent, from_clock);

-- pg_dump would write a dropped table as a bare number
SELECT pg_catalog.pg_extension_config_dump('zbxhist.packed_day',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = parent)'
    ' AND EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = day)');

-- Changes of packed days since maintenance last checked.
--
-- Sessions that change packed rows write it, see src/packed/day_conflicts.c; it has no index, so that
-- this is cheap.
CREATE TABLE zbxhist.packed_change (
    day     regclass NOT NULL,  -- the packed day
    removed bigint NOT NULL  -- number of values that were deleted
);

-- rows are deleted, also where a publication is FOR ALL TABLES
ALTER TABLE zbxhist.packed_change REPLICA IDENTITY FULL;

-- Values of damaged packed days that could not be salvaged, or were dropped with their tables; kept
-- until somebody deletes these rows.
CREATE TABLE zbxhist.lost_values (
    parent       regclass NOT NULL,
    day          text NOT NULL,  -- the table that held the packed day
    salvaged_at  timestamptz NOT NULL DEFAULT pg_catalog.now(),  -- when the day was salvaged
    first_itemid bigint,  -- item of the first lost value; NULL: not known
    first_clock  integer,  -- clock of that value
    last_itemid  bigint,  -- item of the last lost value, or of the first value after the loss
    last_clock   integer,  -- clock of that value
    is_end       boolean NOT NULL,  -- whether that value is lost itself; false: it is the first one after
    rows         bigint,  -- number of lost values; NULL: not known
    problem      text NOT NULL,  -- why they could not be read
    -- the bytes that held them: a group of segments, or a page of the table; of several losses in the
    -- same bytes only the first has them
    bytes        bytea
);

-- rows are deleted, also where a publication is FOR ALL TABLES
ALTER TABLE zbxhist.lost_values REPLICA IDENTITY FULL;

-- pg_dump would write a dropped table as a bare number
SELECT pg_catalog.pg_extension_config_dump('zbxhist.lost_values',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = parent)');

-- When packed days were last verified, and what was damaged.
--
-- Damage is kept until the day is found intact, or its table is dropped.  Not dumped: it describes
-- this server's disks.
CREATE TABLE zbxhist.verified_day (
    day         regclass NOT NULL PRIMARY KEY,  -- the table of the packed day
    parent      regclass NOT NULL,
    verified_at timestamptz NOT NULL,  -- when it was last verified, or a read met damage
    found_at    timestamptz,  -- when damage was first found; NULL: there is none
    problem     text  -- the first damage found
);
