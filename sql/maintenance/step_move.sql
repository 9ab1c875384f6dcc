-- sql/maintenance/step_move.sql

CREATE FUNCTION zbxhist_internal.step_move(parent regclass, partition regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    bounds record;
BEGIN
    PERFORM zbxhist_internal.require_parent(parent);
    SELECT p.from_clock, p.to_clock INTO bounds
      FROM zbxhist.list_partitions(parent) p WHERE p.partition = step_move.partition;
    IF NOT FOUND THEN
        RETURN 'done';
    END IF;
    RETURN zbxhist_internal.move_batch(parent, 'move', partition, parent, partition,
                              bounds.from_clock, bounds.to_clock);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.step_move(regclass, regclass) IS
'Maintenance: moves a batch of rows from the parent to their partition (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.step_move(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.step_move(regclass, regclass) TO pg_database_owner;
