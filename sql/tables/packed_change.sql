-- sql/tables/packed_change.sql
--
-- Written by the C code for whoever changes packed rows, see
-- src/packed/day/day_conflicts.c; it has no index for that reason.

CREATE TABLE zbxhist.packed_change (
    day     regclass NOT NULL,
    removed bigint NOT NULL
);

-- deleted from, even where a publication has all tables
ALTER TABLE zbxhist.packed_change REPLICA IDENTITY FULL;

COMMENT ON TABLE zbxhist.packed_change IS
'Changes of packed days since maintenance last looked';
COMMENT ON COLUMN zbxhist.packed_change.day IS 'The packed day';
COMMENT ON COLUMN zbxhist.packed_change.removed IS 'Number of values that were deleted';

REVOKE ALL ON zbxhist.packed_change FROM PUBLIC;
GRANT SELECT ON zbxhist.packed_change TO PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON zbxhist.packed_change TO pg_database_owner;
