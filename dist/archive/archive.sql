-- Creates what an archive server needs: one table in a database of its own, on any
-- PostgreSQL from 13 on, without an extension.  Run it as the role in the user mapping
-- of the primary, from the primary, which must be able to connect there anyway:
--     psql -h cold -d cold -U zbxhist_archive -f archive.sql
-- Only zbxhist writes to it.  zbxhist.archive_copy on the primary says which day a copy is of.
BEGIN;

-- the primary deletes what has been committed here, so a commit must be on disk
DO $$ BEGIN EXECUTE format('ALTER ROLE CURRENT_USER IN DATABASE %I SET synchronous_commit = on', current_database()); END $$;

CREATE SCHEMA zbxhist_archive;

CREATE TABLE zbxhist_archive.packed_group (
    copy    uuid NOT NULL,
    number  bigint NOT NULL,
    payload bytea NOT NULL,
    PRIMARY KEY (copy, number)
) WITH (toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0.02);

-- it is compressed already
ALTER TABLE zbxhist_archive.packed_group ALTER COLUMN payload SET STORAGE EXTERNAL;

COMMENT ON TABLE zbxhist_archive.packed_group IS
'Groups of values of packed days that zbxhist has archived here';
COMMENT ON COLUMN zbxhist_archive.packed_group.copy IS 'The day, by its row in zbxhist.archive_copy of the database that has archived it';
COMMENT ON COLUMN zbxhist_archive.packed_group.number IS 'The group';
COMMENT ON COLUMN zbxhist_archive.packed_group.payload IS 'Its bytes';

COMMIT;
