-- sql/tables/import_slice.sql

-- The progress of imports of other tables (see the procedure import), a row for each day or month.
--
-- Not dumped: it is about tables of this server.
CREATE TABLE zbxhist.import_slice (
    parent      regclass NOT NULL,
    source      regclass NOT NULL,  -- the table whose rows are imported
    from_clock  bigint NOT NULL,  -- first clock of the slice
    to_clock    bigint NOT NULL,  -- its end: the first clock that is not in it
    rows_read   bigint,  -- rows that the source has of it
    rows_stored bigint,  -- those whose key was not there yet
    checksum    bigint,  -- a checksum over all values that the source has of it
    done_at     timestamptz,  -- when they were imported; NULL: not yet
    compared_at timestamptz,  -- when the source was read once more and still had just these; NULL: not yet
    pid         integer,  -- server process that imports, or did
    begun_at    timestamptz,  -- when that began
    PRIMARY KEY (parent, source, from_clock)
);
