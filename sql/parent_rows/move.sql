-- sql/parent_rows/move.sql

-- Moves one batch of rows between a managed table and its partition, in the order of itemid.
CREATE FUNCTION zbxhist_internal.move_rows(
    source regclass, target regclass, from_clock bigint, to_clock bigint, after_itemid bigint, max_rows integer,
    OUT moved bigint, OUT duplicates bigint, OUT last_itemid bigint, OUT done boolean)
LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_move_rows';

-- Step of maintenance: moves the next batch of rows from the parent to their partition, or back
-- (undo_move), and counts them.
-- The position is kept in parent_state, so each call can be a transaction of its own, and an
-- interrupted pass loses only its last batch.  A partition that has lost its bounds is emptied whatever
-- the clocks of its rows; then there is no position, and each batch starts at the beginning.
CREATE FUNCTION zbxhist_internal.step_move(parent regclass, partition regclass, step text DEFAULT 'move') RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    source CONSTANT regclass := CASE step WHEN 'move' THEN parent ELSE partition END;
    target CONSTANT regclass := CASE step WHEN 'move' THEN partition ELSE parent END;
    action CONSTANT text := CASE step WHEN 'move' THEN 'move' ELSE 'undo' END;
    bounds record;
    state  zbxhist.parent_state;
    batch  record;
BEGIN
    SELECT p.from_clock, p.to_clock INTO bounds
      FROM zbxhist.list_partitions(parent) p WHERE p.partition = step_move.partition;
    IF NOT FOUND AND (step = 'move' OR partition NOT IN (SELECT zbxhist_internal.own_children(parent))) THEN
        RETURN 'done';
    END IF;
    SELECT * INTO state FROM zbxhist.parent_state s WHERE s.parent = step_move.parent;
    IF (state.action, state.relation) IS DISTINCT FROM (action, partition::text) THEN
        PERFORM zbxhist_internal.set_action(parent, action, partition::text);
        SELECT * INTO STRICT state FROM zbxhist.parent_state s WHERE s.parent = step_move.parent;
    END IF;
    IF state.action_total IS NULL THEN
        state.action_total := CASE step
            WHEN 'move' THEN zbxhist_internal.rows_older(parent, bounds.to_clock) - zbxhist_internal.rows_older(parent, bounds.from_clock)
            ELSE zbxhist_internal.probable_rows(partition) END;
    END IF;
    batch := zbxhist_internal.move_rows(source, target, bounds.from_clock, bounds.to_clock, state.position_itemid,
                                         CASE WHEN bounds.from_clock IS NULL THEN 50000 ELSE 5000 END);
    PERFORM zbxhist_internal.refuse('54000', format('moving rows of %s makes no progress', partition),
        detail => format('No row was moved after item %s.', state.position_itemid))
      WHERE NOT batch.done AND batch.moved = 0 AND batch.last_itemid IS NOT DISTINCT FROM state.position_itemid;
    UPDATE zbxhist.parent_state s
       SET action_total = state.action_total,
           position_itemid = batch.last_itemid,
           action_rows = s.action_rows + batch.moved,
           action_percent = CASE
               WHEN batch.done THEN 100
               ELSE least(99.9, 100.0 * (s.action_rows + batch.moved) / nullif(state.action_total, 0)) END,
           duplicates = s.duplicates + batch.duplicates,
           last_move = CASE WHEN batch.moved > 0 THEN pg_current_xact_id() ELSE s.last_move END,
           settling = CASE WHEN batch.moved > 0 THEN NULL ELSE s.settling END
     WHERE s.parent = step_move.parent;
    IF NOT batch.done THEN
        RETURN 'more';
    END IF;
    IF state.action_rows + batch.moved > 0 OR batch.duplicates > 0 THEN
        PERFORM zbxhist_internal.log_action(parent, action, partition::text, rows => state.action_rows + batch.moved,
            started_at => state.action_started);
    END IF;
    PERFORM zbxhist_internal.set_action(parent, NULL, NULL);
    RETURN 'done';
END
$$;

-- Moves rows from the parent to their partitions.  With move_existing it then creates partitions for
-- older rows, one after the other, and moves and packs them.
CREATE PROCEDURE zbxhist_internal.move_waiting(parent regclass, INOUT answer text)
LANGUAGE plpgsql AS $$
DECLARE
    partition pg_catalog.regclass;
    made      pg_catalog.text;
    due       pg_catalog.regclass[];
    packed    pg_catalog.text;
    unpacked  pg_catalog.int4 := 0;
BEGIN
    CALL zbxhist_internal.next_transaction();
    UPDATE zbxhist.parent_state s SET duplicates = 0
     WHERE s.parent = move_waiting.parent AND s.duplicates <> 0;
    FOREACH partition IN ARRAY zbxhist_internal.work_list(parent, 'move') LOOP
        CALL zbxhist_internal.repeat_step(parent, 'move', ARRAY[partition], false, answer);
    END LOOP;
    -- rows that are moved but not packed take twice the disk space
    FOR attempt IN 1 .. 100 LOOP
        CALL zbxhist_internal.next_transaction();
        made := zbxhist_internal.run_step(parent, 'extend');
        EXIT WHEN made <> 'more';
        CALL zbxhist_internal.next_transaction();
        SELECT to_regclass(s.relation) INTO partition
          FROM zbxhist.parent_state s WHERE s.parent = move_waiting.parent;
        EXIT WHEN partition IS NULL;
        CALL zbxhist_internal.repeat_step(parent, 'move', ARRAY[partition], false, answer);
        CALL zbxhist_internal.next_transaction();
        due := ARRAY(SELECT zbxhist_internal.packable_partitions(parent, partition));
        CALL zbxhist_internal.repeat_step(parent, 'pack', due, false, packed);
        unpacked := unpacked + (packed <> 'done')::integer;
        EXIT WHEN unpacked = 3;
    END LOOP;
END
$$;

-- Deletes rows past retention from the parent itself, item by item, at most max_rows; returns the item
-- after which the next call goes on.
CREATE FUNCTION zbxhist_internal.delete_expired(
    parent regclass, cutoff bigint, after_itemid bigint, max_rows integer, OUT deleted bigint, OUT last_itemid bigint,
    OUT done boolean)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    next_item CONSTANT text := format(
        'SELECT p.itemid FROM ONLY %s p WHERE p.itemid > $1::bigint OR $1 IS NULL ORDER BY p.itemid LIMIT 1',
        parent);
    cut CONSTANT text := format(
        'DELETE FROM ONLY %1$s WHERE clock < $2::bigint AND ctid = ANY (ARRAY('
        'SELECT p.ctid FROM ONLY %1$s p WHERE p.itemid = $1::bigint AND p.clock < $2::bigint'
        ' LIMIT $3::bigint))', parent);
    item  bigint;
    wiped bigint;
BEGIN
    deleted := 0;
    last_itemid := after_itemid;
    done := false;
    FOR step IN 1 .. 2000 LOOP
        item := zbxhist_internal.execute_as_owner(parent, next_item, last_itemid::text);
        IF item IS NULL THEN
            done := true;
            RETURN;
        END IF;
        wiped := zbxhist_internal.execute_as_owner(parent, cut, item::text, cutoff::text,
                                                   (max_rows - deleted)::text);
        deleted := deleted + wiped;
        -- the next batch goes on with this item
        EXIT WHEN deleted >= max_rows;
        last_itemid := item;
    END LOOP;
END
$$;
