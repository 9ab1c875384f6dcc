-- sql/tables/lost_values.sql

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
COMMENT ON COLUMN zbxhist.lost_values.parent IS 'The managed table';
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

REVOKE ALL ON zbxhist.lost_values FROM PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON zbxhist.lost_values TO pg_database_owner;
