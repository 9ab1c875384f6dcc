-- sql/packed/pack_partition.sql
--
-- Nobody may write to the partition meanwhile; INSERTs do not wait for that
-- but leave their rows in the parent.  Its rows are the same for every
-- snapshot, as pack_rows makes sure of, so its place can be taken by a table
-- whose rows are visible to all.

CREATE FUNCTION zbxhist_internal.pack_partition(parent regclass, partition regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    label   CONSTANT text := partition::text;
    allowed CONSTANT integer := zbxhist_internal.short_lock_timeout();
    packed  regclass := zbxhist_internal.packed_table(parent);
    covered record;
    day     regclass;
    kept    record;
    written record;
    before  bigint;
    waited  interval;
BEGIN
    SELECT p.from_clock, p.to_clock INTO covered
      FROM zbxhist.list_partitions(parent) p WHERE p.partition = pack_partition.partition;
    IF NOT FOUND AND EXISTS (SELECT FROM zbxhist.packed_day d WHERE d.day = pack_partition.partition AND d.runs) THEN
        RETURN zbxhist_internal.rewrite_days(parent, 'pack', ARRAY[partition]);
    ELSIF NOT FOUND THEN
        RETURN 'done';
    END IF;
    PERFORM zbxhist_internal.refuse_overlap(parent, partition);
    IF packed IS NULL THEN
        packed := zbxhist_internal.create_packed_table(parent);
        PERFORM zbxhist_internal.log_action(parent, 'packed_table', packed::text, NULL, NULL, started);
        RETURN 'more';
    END IF;
    IF NOT zbxhist_internal.packed_table_settled(parent, packed) THEN
        RETURN 'wait';
    END IF;
    IF NOT EXISTS (SELECT FROM zbxhist.parent_state s
                    WHERE s.parent = pack_partition.parent AND s.action = 'pack'
                      AND s.relation = label AND s.action_pid = pg_backend_pid()) THEN
        PERFORM zbxhist_internal.set_action(parent, 'pack', label);
        RETURN 'more';
    END IF;
    PERFORM zbxhist_internal.wait_for_readers(partition, allowed);
    PERFORM zbxhist_internal.wait_for_readers(packed, allowed);
    PERFORM zbxhist_internal.lock_patiently(partition);
    PERFORM set_config('lock_timeout', allowed::text, true);
    EXECUTE format('LOCK TABLE ONLY %s IN SHARE MODE', partition);
    PERFORM zbxhist_internal.refuse_overlap(parent, partition);
    -- what has been written just now is the same for all when these have ended
    PERFORM zbxhist_internal.wait_for_transactions(least(allowed, 1000));
    BEGIN
        day := zbxhist_internal.create_day(parent, partition);
        -- nobody has stored a value there since
        kept := zbxhist_internal.kept_items(parent);
        written := zbxhist_internal.pack_rows(partition, day, kept.items);
    EXCEPTION WHEN object_in_use THEN
        -- some transactions, an autovacuum's maybe, do not see its newest rows yet
        RETURN 'wait';
    END;
    before := pg_total_relation_size(partition);
    INSERT INTO zbxhist.packed_day
        (parent, day, from_clock, to_clock, nrows, heap_bytes, packed_at, packed_rows, packed_bytes)
    VALUES (parent, day, covered.from_clock, covered.to_clock, written.rows, before, clock_timestamp(), written.rows,
            zbxhist_internal.day_bytes(day));
    PERFORM zbxhist_internal.attach_day(day, packed);
    PERFORM zbxhist_internal.set_action(parent, NULL, NULL);
    -- who lists the children without the partition waits for the foreign table,
    -- and by then has heard of the day
    waited := zbxhist_internal.lock_with_patience(partition, packed);
    PERFORM zbxhist_internal.note_columns(parent, packed, day);
    PERFORM zbxhist_internal.execute_as_owner(parent, format('DROP TABLE %s', partition));
    PERFORM zbxhist_internal.invalidate(parent);
    PERFORM zbxhist_internal.log_action(parent, 'pack', label, written.rows, before - pg_total_relation_size(day),
                               started, waited, NULL,
                               format('%s before, %s after%s', pg_size_pretty(before),
                                      pg_size_pretty(pg_total_relation_size(day)),
                                      zbxhist_internal.describe_left_out(written.left_out, kept.problem)));
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist_internal.pack_partition(regclass, regclass) IS
'Packs a partition, or does what has to be done before: more, call again; wait, call again later (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.pack_partition(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.pack_partition(regclass, regclass) TO pg_database_owner;
