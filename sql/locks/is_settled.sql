-- sql/locks/is_settled.sql
--
-- Snapshots handed on, and those of standby servers, show only in part.  A
-- transaction of the future is another cluster's, from which a dump has it.

CREATE FUNCTION zbxhist_internal.is_settled(settling text[], since xid8)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    -- first, since the age of others counts from a later transaction than this
    since_age CONSTANT integer := age(since::xid);
    distance  CONSTANT bigint :=
        pg_snapshot_xmax(pg_current_snapshot())::text::bigint - since::text::bigint;
    is_foreign CONSTANT boolean :=
        distance <= 0 AND since IS DISTINCT FROM pg_current_xact_id_if_assigned();
BEGIN
    IF settling && zbxhist_internal.running_transactions() THEN
        RETURN false;
    END IF;
    RETURN is_foreign OR distance >= 1000000000 OR since IS NULL OR NOT EXISTS (
            SELECT FROM pg_stat_activity a
             WHERE a.pid <> pg_backend_pid() AND age(a.backend_xmin) >= since_age
               AND (a.datname = current_database() OR a.datid IS NULL)
               AND a.backend_type <> 'autovacuum worker'
            UNION ALL
            SELECT FROM pg_replication_slots r
             WHERE age(r.xmin) >= since_age);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.is_settled(text[], xid8) IS
'Whether no transaction of a list is running any more, and no snapshot is known that is older than another transaction (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.is_settled(text[], xid8) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.is_settled(text[], xid8) TO PUBLIC;
