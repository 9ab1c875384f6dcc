-- sql/locks/end_older_snapshots.sql
--
-- On this server the transactions that need the table have been waited for;
-- those of a standby, unless it sends feedback, are unknown here.

CREATE FUNCTION zbxhist_internal.end_older_snapshots(relation regclass, changed xid8)
RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_end_older_snapshots';

COMMENT ON FUNCTION zbxhist_internal.end_older_snapshots(regclass, xid8) IS
'Has standby servers end queries that do not see a transaction, before the table that has the rows for them is dropped (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.end_older_snapshots(regclass, xid8) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.end_older_snapshots(regclass, xid8) TO pg_database_owner;
