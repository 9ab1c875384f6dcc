-- sql/tables/check_summary.sql
--
-- What check() found at the end of the last maintenance, for metrics(), which is
-- asked every minute.  Not dumped: the next run writes it anew.

CREATE TABLE zbxhist.check_summary (
    severity   text NOT NULL PRIMARY KEY,
    lines      integer NOT NULL,
    checked_at timestamptz NOT NULL
);

COMMENT ON TABLE zbxhist.check_summary IS
'How many lines check() had when maintenance ended last';
COMMENT ON COLUMN zbxhist.check_summary.severity IS 'error, warning or info';
COMMENT ON COLUMN zbxhist.check_summary.lines IS 'Lines of that severity';
COMMENT ON COLUMN zbxhist.check_summary.checked_at IS 'When that was';

REVOKE ALL ON zbxhist.check_summary FROM PUBLIC;
GRANT SELECT ON zbxhist.check_summary TO PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON zbxhist.check_summary TO pg_database_owner;
