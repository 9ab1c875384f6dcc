-- sql/maintenance/step_split.sql
--
-- The shorter partitions are made before the lock is asked for, so that it is
-- held for the moment of a drop.  Who stores a row meanwhile stores it in the
-- day's partition, which then stays, or in the parent.

CREATE FUNCTION zbxhist_internal.step_split(parent regclass, partition regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    label   CONSTANT text := partition::text;
    allowed CONSTANT integer := zbxhist_internal.short_lock_timeout();
    covered CONSTANT record := zbxhist.partition_bounds(partition);
    piece   record;
    made    integer := 0;
    waited  interval;
BEGIN
    PERFORM zbxhist_internal.require_parent(parent);
    -- another run may have done it, or its time has come
    IF NOT EXISTS (SELECT FROM zbxhist_internal.partitions_to_split(parent) p WHERE p = partition) THEN
        RETURN 'done';
    END IF;
    PERFORM zbxhist_internal.wait_for_readers(partition, allowed);
    FOR piece IN SELECT * FROM zbxhist_internal.split_ranges(parent, covered.from_clock, covered.to_clock) LOOP
        PERFORM zbxhist_internal.create_place(parent, piece.piece_from, piece.piece_to);
        made := made + 1;
    END LOOP;
    waited := zbxhist_internal.lock_exclusively(partition, allowed);
    IF zbxhist_internal.own_pages(partition) > 0 THEN
        RAISE EXCEPTION 'rows have just been stored in partition %: it stays as it is', partition
            USING ERRCODE = 'object_in_use';
    END IF;
    PERFORM zbxhist_internal.execute_as_owner(parent, format('DROP TABLE %s', partition));
    PERFORM zbxhist_internal.invalidate(parent);
    PERFORM zbxhist_internal.log_action(parent, 'split', label, NULL, NULL, started, waited, NULL,
                                        format('%s partitions in its place', made));
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist_internal.step_split(regclass, regclass) IS
'Puts shorter partitions in the place of an empty one of a day to come (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.step_split(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.step_split(regclass, regclass) TO pg_database_owner;
