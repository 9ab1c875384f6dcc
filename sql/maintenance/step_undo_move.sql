-- sql/maintenance/step_undo_move.sql

CREATE FUNCTION zbxhist_internal.step_undo_move(parent regclass, partition regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    bounds record;
BEGIN
    IF NOT EXISTS (SELECT FROM zbxhist_internal.own_children(parent) c WHERE c = partition) THEN
        RETURN 'done';
    END IF;
    -- one that has no bounds any more is emptied, whatever the clocks
    SELECT p.from_clock, p.to_clock INTO bounds
      FROM zbxhist.list_partitions(parent) p WHERE p.partition = step_undo_move.partition;
    RETURN zbxhist_internal.move_batch(parent, 'undo', partition, partition, parent,
                              bounds.from_clock, bounds.to_clock);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.step_undo_move(regclass, regclass) IS
'Undo: moves a batch of rows from a partition back to the parent (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.step_undo_move(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.step_undo_move(regclass, regclass) TO pg_database_owner;
