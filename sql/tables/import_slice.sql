-- sql/tables/import_slice.sql

-- Not dumped: it is about tables of this server.
CREATE TABLE zbxhist.import_slice (
    parent      regclass NOT NULL,
    source      regclass NOT NULL,
    from_clock  bigint NOT NULL,
    to_clock    bigint NOT NULL,
    first_block bigint[],
    end_block   bigint[],
    rows_read   bigint,
    rows_stored bigint,
    checksum    bigint,
    done_at     timestamptz,
    compared_at timestamptz,
    pid         integer,
    begun_at    timestamptz,
    PRIMARY KEY (parent, source, from_clock)
);

COMMENT ON TABLE zbxhist.import_slice IS
'How far imports of other tables have come (see the procedure import): a day or month of each';
COMMENT ON COLUMN zbxhist.import_slice.source IS 'The table whose rows are imported';
COMMENT ON COLUMN zbxhist.import_slice.from_clock IS 'First clock of the slice';
COMMENT ON COLUMN zbxhist.import_slice.to_clock IS 'Its end: the first clock that is not in it';
COMMENT ON COLUMN zbxhist.import_slice.first_block IS 'Where in the source its rows are: the first block of each range of blocks; NULL: anywhere';
COMMENT ON COLUMN zbxhist.import_slice.end_block IS 'The block after the last one of each';
COMMENT ON COLUMN zbxhist.import_slice.rows_read IS 'Rows that the source has of it';
COMMENT ON COLUMN zbxhist.import_slice.rows_stored IS 'Those whose key was not there yet';
COMMENT ON COLUMN zbxhist.import_slice.checksum IS 'A checksum over all values that the source has of it';
COMMENT ON COLUMN zbxhist.import_slice.done_at IS 'When they were imported; NULL: not yet';
COMMENT ON COLUMN zbxhist.import_slice.compared_at IS 'When the source was read once more and still had just these; NULL: not yet';
COMMENT ON COLUMN zbxhist.import_slice.pid IS 'Server process that imports, or did';
COMMENT ON COLUMN zbxhist.import_slice.begun_at IS 'When that began';
