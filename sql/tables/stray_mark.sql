-- sql/tables/stray_mark.sql
--
-- Written by the C code for whoever inserts, see src/rows/stray.c; it has
-- no index for that reason.

CREATE TABLE zbxhist.stray_mark (
    parent regclass NOT NULL
);

-- deleted from, even where a publication has all tables
ALTER TABLE zbxhist.stray_mark REPLICA IDENTITY FULL;

COMMENT ON TABLE zbxhist.stray_mark IS
'Managed tables in which a row has been stored that belongs to a partition, since maintenance last looked';
COMMENT ON COLUMN zbxhist.stray_mark.parent IS 'The managed table';

REVOKE ALL ON zbxhist.stray_mark FROM PUBLIC;
GRANT SELECT ON zbxhist.stray_mark TO PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON zbxhist.stray_mark TO pg_database_owner;
