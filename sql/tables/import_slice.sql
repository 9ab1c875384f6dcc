-- sql/tables/import_slice.sql

-- The progress of imports of other tables (see the procedure import), a row for each day or month.
--
-- Not dumped: it describes tables of this server.
CREATE TABLE zbxhist.import_slice (
    parent      regclass NOT NULL,
    source      regclass NOT NULL,  -- the table whose rows are imported
    from_clock  bigint NOT NULL,  -- first clock of the slice
    to_clock    bigint NOT NULL,  -- its end: the first clock that is not in it
    rows_read   bigint,  -- number of its rows in the source
    rows_stored bigint,  -- number of those whose key did not exist yet
    checksum    bigint,  -- checksum of its values in the source
    done_at     timestamptz,  -- when it was imported; NULL: not yet
    compared_at timestamptz,  -- when the source was read again and had the same rows; NULL: not yet
    pid         integer,  -- server process that imports or imported it
    begun_at    timestamptz,  -- when the import began
    PRIMARY KEY (parent, source, from_clock)
);
