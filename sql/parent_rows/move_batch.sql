-- sql/parent_rows/move_batch.sql
--
-- The position is kept in parent_state, so each call is a transaction of its
-- own and a pass that was broken off costs nothing but its last batch.  Without
-- clocks all rows are moved, and there is no position: each batch begins with
-- what the one before has left.

CREATE FUNCTION zbxhist_internal.move_batch(
    parent regclass,
    action text,
    relation regclass,
    source regclass,
    target regclass,
    from_clock bigint,
    to_clock bigint)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    state zbxhist.parent_state;
    batch record;
BEGIN
    SELECT * INTO state FROM zbxhist.parent_state s WHERE s.parent = move_batch.parent;
    IF state.action IS DISTINCT FROM move_batch.action
       OR state.relation IS DISTINCT FROM move_batch.relation::text THEN
        PERFORM zbxhist_internal.set_action(parent, action, relation::text);
        SELECT * INTO STRICT state FROM zbxhist.parent_state s WHERE s.parent = move_batch.parent;
    END IF;
    IF state.first_itemid IS NULL AND from_clock IS NOT NULL THEN
        SELECT i.first_itemid, i.final_itemid INTO state.first_itemid, state.final_itemid
          FROM zbxhist_internal.own_items(source) i;
    END IF;
    batch := zbxhist_internal.move_rows(source, target, from_clock, to_clock, state.position_itemid,
                                         CASE WHEN from_clock IS NULL THEN 50000 ELSE 5000 END);
    IF NOT batch.done AND batch.moved = 0 AND batch.last_itemid IS NOT DISTINCT FROM state.position_itemid THEN
        RAISE EXCEPTION 'moving rows of % does not get on', relation
            USING ERRCODE = 'program_limit_exceeded',
                  DETAIL = format('No row was moved after item %s.', state.position_itemid);
    END IF;
    UPDATE zbxhist.parent_state s
       SET first_itemid = state.first_itemid, final_itemid = state.final_itemid,
           position_itemid = batch.last_itemid,
           action_rows = s.action_rows + batch.moved,
           action_percent = CASE
               WHEN batch.done THEN 100
               WHEN state.final_itemid > state.first_itemid THEN
                   greatest(0, least(100, 100.0 * (batch.last_itemid::numeric - state.first_itemid)
                                          / (state.final_itemid::numeric - state.first_itemid))) END,
           duplicates = s.duplicates + batch.duplicates,
           last_move = CASE WHEN batch.moved > 0 THEN pg_current_xact_id() ELSE s.last_move END,
           settling = CASE WHEN batch.moved > 0 THEN NULL ELSE s.settling END
     WHERE s.parent = move_batch.parent;
    IF NOT batch.done THEN
        RETURN 'more';
    END IF;
    IF state.action_rows + batch.moved > 0 OR batch.duplicates > 0 THEN
        PERFORM zbxhist_internal.log_action(parent, action, relation::text,
                                   state.action_rows + batch.moved, NULL, state.action_started);
    END IF;
    PERFORM zbxhist_internal.set_action(parent, NULL, NULL);
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist_internal.move_batch(regclass, text, regclass, regclass, regclass, bigint, bigint) IS
'Moves the next batch of rows and keeps count of it (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.move_batch(regclass, text, regclass, regclass, regclass, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.move_batch(regclass, text, regclass, regclass, regclass, bigint, bigint) TO pg_database_owner;
