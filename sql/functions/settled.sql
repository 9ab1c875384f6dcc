-- sql/functions/settled.sql
--
-- Moved rows stay in their old table, deleted, for whoever has an older
-- snapshot.  TRUNCATE and DROP respect no snapshot, so before one of them
-- every transaction must have ended that was running when the last move had
-- been committed.  Called for the first time after a move, this makes the list
-- of those; called again, it says whether one is still there.

CREATE FUNCTION zbxhist.settled(parent regclass)
RETURNS boolean
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    state   zbxhist.parent_state;
    present CONSTANT text[] := zbxhist.running_transactions();
    moves   bigint;
BEGIN
    SELECT * INTO STRICT state FROM zbxhist.parent_state s WHERE s.parent = settled.parent;
    IF state.settling IS NULL THEN
        UPDATE zbxhist.parent_state s SET settling = present WHERE s.parent = settled.parent;
        state.settling := present;
    END IF;
    IF state.settling && present THEN
        RETURN false;
    END IF;
    -- snapshots handed on, and those of standby servers, as far as they show
    moves := pg_snapshot_xmax(pg_current_snapshot())::text::bigint - state.last_move::text::bigint;
    RETURN NOT coalesce(moves < 1000000000 AND EXISTS (
            SELECT FROM pg_stat_activity a
             WHERE a.pid <> pg_backend_pid() AND age(a.backend_xmin) > moves
               AND (a.datname = current_database() OR a.datid IS NULL)
               AND a.backend_type <> 'autovacuum worker'
            UNION ALL
            SELECT FROM pg_replication_slots r
             WHERE age(r.xmin) > moves), false);
END
$$;

COMMENT ON FUNCTION zbxhist.settled(regclass) IS
'Whether no transaction can need the rows of a managed table at their place before the last move any more (internal)';

REVOKE ALL ON FUNCTION zbxhist.settled(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.settled(regclass) TO pg_database_owner;
