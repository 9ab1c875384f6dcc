-- sql/locks/settled.sql
--
-- Moved rows stay in their old table, deleted, for whoever has an older
-- snapshot.  TRUNCATE and DROP respect no snapshot, so before one of them
-- every transaction must have ended that was running when the last move had
-- been committed.  Called for the first time after a move, this makes the list
-- of those; called again, it says whether one is still there.

CREATE FUNCTION zbxhist_internal.settled(parent regclass)
RETURNS boolean
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    state zbxhist.parent_state;
BEGIN
    SELECT * INTO STRICT state FROM zbxhist.parent_state s WHERE s.parent = settled.parent;
    IF state.settling IS NULL THEN
        state.settling := zbxhist_internal.running_transactions();
        UPDATE zbxhist.parent_state s SET settling = state.settling WHERE s.parent = settled.parent;
    END IF;
    RETURN zbxhist_internal.is_settled(state.settling, state.last_move);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.settled(regclass) IS
'Whether no transaction can need the rows of a managed table at their place before the last move any more (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.settled(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.settled(regclass) TO pg_database_owner;
