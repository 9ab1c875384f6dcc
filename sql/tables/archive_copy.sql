-- sql/tables/archive_copy.sql

-- Copies of packed days on other servers: of archived days, of those being archived, and what is
-- yet to be removed there.
--
-- Copies of packed days on other servers.  The C code reads (day, copy, groups,
-- archived_at) by name, and the index by its name.  Copies that are not listed here are never
-- removed from the server, so a row is written before the first group is sent, and deleted when no
-- group is left.
CREATE TABLE zbxhist.archive_copy (
    copy         uuid NOT NULL PRIMARY KEY,  -- what the rows there have in their column copy
    parent       regclass NOT NULL,
    -- the table in schema zbxhist_packed of the day; NULL: nothing needs the copy any more
    day          regclass,
    server       name NOT NULL,  -- the server that has it
    groups       regclass NOT NULL,  -- the foreign table by which it is read
    origin       text NOT NULL,  -- the database that has made it: others remove nothing of it
    -- copying: groups are being sent; comparing: they are being read back; compared: they are all
    -- there; archived: the day has no others; useless: the day was changed, or they are not the same
    state        text NOT NULL DEFAULT 'copying' CHECK (state IN ('copying', 'comparing', 'compared', 'archived', 'useless')),
    version      bigint NOT NULL,  -- what the day was like when it was begun
    begun_at     timestamptz NOT NULL DEFAULT pg_catalog.now(),  -- when that was
    archived_at  timestamptz,  -- since when the day is read there
    left_at      timestamptz,  -- when maintenance first found that nothing needs it any more
    number       bigint NOT NULL DEFAULT 0,  -- the group that was sent, or read back, last
    last_itemid  bigint NOT NULL DEFAULT -9223372036854775808,  -- its first item
    last_clock   integer NOT NULL DEFAULT -2147483648,  -- the first clock of that
    copied       bigint NOT NULL DEFAULT 0,  -- number of groups that were sent
    bytes        bigint NOT NULL DEFAULT 0  -- bytes of these
);

CREATE INDEX archive_copy_day ON zbxhist.archive_copy (day);

-- a table dropped since would be dumped as a bare number
SELECT pg_catalog.pg_extension_config_dump('zbxhist.archive_copy',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = parent)'
    ' AND EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = groups)'
    ' AND (day IS NULL OR EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = day))');

-- The marks by which archive servers know the databases that may remove copies there.
--
-- Marks of databases on archive servers: of this database and, if it is a copy, of the original,
-- too.
CREATE TABLE zbxhist.archive_mark (
    groups       regclass NOT NULL,  -- the foreign table by which copies are read
    origin       text NOT NULL,  -- the database
    mark         uuid NOT NULL,  -- what its row there has in the column copy
    token        bytea,  -- what that has for a payload; NULL: there is none yet
    next         bytea,  -- what it may have, if a commit here was lost
    renewed_at   timestamptz,  -- when maintenance last changed it
    lost_at      timestamptz,  -- when it was found to be another's; NULL: it is not
    PRIMARY KEY (groups, origin)
);

SELECT pg_catalog.pg_extension_config_dump('zbxhist.archive_mark',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = groups)');
