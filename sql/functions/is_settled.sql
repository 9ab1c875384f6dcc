-- sql/functions/is_settled.sql
--
-- Snapshots handed on, and those of standby servers, show only in part.

CREATE FUNCTION zbxhist.is_settled(settling text[], since xid8)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    later CONSTANT bigint :=
        pg_snapshot_xmax(pg_current_snapshot())::text::bigint - since::text::bigint;
BEGIN
    IF settling && zbxhist.running_transactions() THEN
        RETURN false;
    END IF;
    RETURN NOT coalesce(later < 1000000000 AND EXISTS (
            SELECT FROM pg_stat_activity a
             WHERE a.pid <> pg_backend_pid() AND age(a.backend_xmin) > later
               AND (a.datname = current_database() OR a.datid IS NULL)
               AND a.backend_type <> 'autovacuum worker'
            UNION ALL
            SELECT FROM pg_replication_slots r
             WHERE age(r.xmin) > later), false);
END
$$;

COMMENT ON FUNCTION zbxhist.is_settled(text[], xid8) IS
'Whether no transaction of a list is running any more, and no snapshot is known that is older than another transaction (internal)';

REVOKE ALL ON FUNCTION zbxhist.is_settled(text[], xid8) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.is_settled(text[], xid8) TO PUBLIC;
