-- sql/tables/verified_day.sql
--
-- Damage is remembered until the day is right again, or its table is gone.  Not
-- dumped: it is about this server's disks.

CREATE TABLE zbxhist.verified_day (
    day         regclass NOT NULL PRIMARY KEY,
    parent      regclass NOT NULL,
    verified_at timestamptz NOT NULL,
    found_at    timestamptz,
    problem     text
);

COMMENT ON TABLE zbxhist.verified_day IS
'When packed days were last looked through, and what was damaged';
COMMENT ON COLUMN zbxhist.verified_day.day IS 'The table of the packed day';
COMMENT ON COLUMN zbxhist.verified_day.parent IS 'The managed table';
COMMENT ON COLUMN zbxhist.verified_day.verified_at IS 'When it was last looked through, or damage was met';
COMMENT ON COLUMN zbxhist.verified_day.found_at IS 'When damage was first found; NULL: there is none';
COMMENT ON COLUMN zbxhist.verified_day.problem IS 'The first of what was damaged';

REVOKE ALL ON zbxhist.verified_day FROM PUBLIC;
GRANT SELECT ON zbxhist.verified_day TO PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON zbxhist.verified_day TO pg_database_owner;
