-- sql/tables/archive_copy.sql

-- Copies of packed days on other servers: of archived days, of days that are being archived, and
-- copies that are still to be removed there.
--
-- The C code reads day, copy, groups, archived_at and the index by name.  Maintenance removes no copy
-- from the other server that is not listed here, so a row is written before the first group is sent,
-- and deleted when no group is left.
CREATE TABLE zbxhist.archive_copy (
    copy         uuid NOT NULL PRIMARY KEY,  -- the value of the column copy in the rows there
    parent       regclass NOT NULL,
    -- the table in schema zbxhist_packed of the day; NULL: nothing needs the copy any more
    day          regclass,
    server       name NOT NULL,  -- the server that has it
    groups       regclass NOT NULL,  -- the foreign table by which it is read
    origin       text NOT NULL,  -- the database that made it: no other one removes any of it
    -- copying: groups are being sent; comparing: they are being read back; compared: all are there;
    -- archived: the day's only groups; useless: the day was changed since, or the groups differ
    state        text NOT NULL DEFAULT 'copying' CHECK (state IN ('copying', 'comparing', 'compared', 'archived', 'useless')),
    version      bigint NOT NULL,  -- the version of the day that is copied
    begun_at     timestamptz NOT NULL DEFAULT pg_catalog.now(),  -- when copying began
    archived_at  timestamptz,  -- since when the day is read from there
    left_at      timestamptz,  -- when maintenance first found that nothing needs it any more
    number       bigint NOT NULL DEFAULT 0,  -- the group that was last sent, or read back
    last_itemid  bigint NOT NULL DEFAULT -9223372036854775808,  -- the first item of that group
    last_clock   integer NOT NULL DEFAULT -2147483648,  -- the first clock of that item
    copied       bigint NOT NULL DEFAULT 0,  -- number of groups sent
    bytes        bigint NOT NULL DEFAULT 0  -- bytes of these groups
);

CREATE INDEX archive_copy_day ON zbxhist.archive_copy (day);

-- pg_dump would write a dropped table as a bare number
SELECT pg_catalog.pg_extension_config_dump('zbxhist.archive_copy',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = parent)'
    ' AND EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = groups)'
    ' AND (day IS NULL OR EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = day))');

-- Marks by which archive servers know which databases may remove copies there.
--
-- It holds the marks of this database and, if this database is a copy, also those of the original.
CREATE TABLE zbxhist.archive_mark (
    groups       regclass NOT NULL,  -- the foreign table by which copies are read
    origin       text NOT NULL,  -- the database
    mark         uuid NOT NULL,  -- the value of the column copy in the mark's row there
    token        bytea,  -- the payload of that row; NULL: there is no row yet
    next         bytea,  -- the payload that it may have if a commit here was lost
    renewed_at   timestamptz,  -- when maintenance last changed it
    lost_at      timestamptz,  -- when another database was found to have it; NULL: none has
    PRIMARY KEY (groups, origin)
);

SELECT pg_catalog.pg_extension_config_dump('zbxhist.archive_mark',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = groups)');
