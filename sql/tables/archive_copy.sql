-- sql/tables/archive_copy.sql

-- Copies of packed days on other servers.  The C code reads (day, copy, groups,
-- archived_at) by name, and the index by its name.  What is there and not listed
-- here nobody removes, so a row is written before the first group is sent, and deleted
-- when none is left.
CREATE TABLE zbxhist.archive_copy (
    copy         uuid NOT NULL PRIMARY KEY,
    parent       regclass NOT NULL,
    day          regclass,
    server       name NOT NULL,
    groups       regclass NOT NULL,
    origin       text NOT NULL,
    state        text NOT NULL DEFAULT 'copying' CHECK (state IN ('copying', 'comparing', 'compared', 'archived', 'useless')),
    version      bigint NOT NULL,
    begun_at     timestamptz NOT NULL DEFAULT pg_catalog.now(),
    archived_at  timestamptz,
    left_at      timestamptz,
    number       bigint NOT NULL DEFAULT 0,
    last_itemid  bigint NOT NULL DEFAULT -9223372036854775808,
    last_clock   integer NOT NULL DEFAULT -2147483648,
    copied       bigint NOT NULL DEFAULT 0,
    bytes        bigint NOT NULL DEFAULT 0
);

CREATE INDEX archive_copy_day ON zbxhist.archive_copy (day);

COMMENT ON TABLE zbxhist.archive_copy IS
'Copies of packed days on other servers: of archived days, of those being archived, and what is yet to be removed there';
COMMENT ON COLUMN zbxhist.archive_copy.copy IS 'What the rows there have in their column copy';
COMMENT ON COLUMN zbxhist.archive_copy.day IS 'The table in schema zbxhist_packed of the day; NULL: nothing needs the copy any more';
COMMENT ON COLUMN zbxhist.archive_copy.server IS 'The server that has it';
COMMENT ON COLUMN zbxhist.archive_copy.groups IS 'The foreign table by which it is read';
COMMENT ON COLUMN zbxhist.archive_copy.origin IS 'The database that has made it: others remove nothing of it';
COMMENT ON COLUMN zbxhist.archive_copy.state IS 'copying: groups are being sent; comparing: they are being read back; compared: they are all there; archived: the day has no others; useless: the day was changed, or they are not the same';
COMMENT ON COLUMN zbxhist.archive_copy.version IS 'What the day was like when it was begun';
COMMENT ON COLUMN zbxhist.archive_copy.begun_at IS 'When that was';
COMMENT ON COLUMN zbxhist.archive_copy.archived_at IS 'Since when the day is read there';
COMMENT ON COLUMN zbxhist.archive_copy.left_at IS 'When maintenance first found that nothing needs it any more';
COMMENT ON COLUMN zbxhist.archive_copy.number IS 'The group that was sent, or read back, last';
COMMENT ON COLUMN zbxhist.archive_copy.last_itemid IS 'Its first item';
COMMENT ON COLUMN zbxhist.archive_copy.last_clock IS 'The first clock of that';
COMMENT ON COLUMN zbxhist.archive_copy.copied IS 'Number of groups that were sent';
COMMENT ON COLUMN zbxhist.archive_copy.bytes IS 'Bytes of these';

-- a table dropped since would be dumped as a bare number
SELECT pg_catalog.pg_extension_config_dump('zbxhist.archive_copy',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = parent)'
    ' AND EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = groups)'
    ' AND (day IS NULL OR EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = day))');

-- Marks of databases on archive servers: this one's, and of a copy of a database those of
-- that too.
CREATE TABLE zbxhist.archive_mark (
    groups       regclass NOT NULL,
    origin       text NOT NULL,
    mark         uuid NOT NULL,
    token        bytea,
    next         bytea,
    renewed_at   timestamptz,
    lost_at      timestamptz,
    PRIMARY KEY (groups, origin)
);

COMMENT ON TABLE zbxhist.archive_mark IS
'By what databases are known to archive servers as those that may remove copies there';
COMMENT ON COLUMN zbxhist.archive_mark.groups IS 'The foreign table by which copies are read';
COMMENT ON COLUMN zbxhist.archive_mark.origin IS 'The database';
COMMENT ON COLUMN zbxhist.archive_mark.mark IS 'What its row there has in the column copy';
COMMENT ON COLUMN zbxhist.archive_mark.token IS 'What that has for a payload; NULL: there is none yet';
COMMENT ON COLUMN zbxhist.archive_mark.next IS 'What it may have, if a commit here was lost';
COMMENT ON COLUMN zbxhist.archive_mark.renewed_at IS 'When maintenance last changed it';
COMMENT ON COLUMN zbxhist.archive_mark.lost_at IS 'When it was found to be another''s; NULL: it is not';

SELECT pg_catalog.pg_extension_config_dump('zbxhist.archive_mark',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = groups)');
