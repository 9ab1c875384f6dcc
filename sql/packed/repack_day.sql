-- sql/packed/repack_day.sql
--
-- The day is read and changed meanwhile: one that has been changed is left as
-- it is.  The first call waits for what is running to end, so that the second
-- one, in a transaction of its own, finds rows that all transactions see alike.

CREATE FUNCTION zbxhist_internal.repack_day(parent regclass, day regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    label   CONSTANT text := day::text;
    allowed CONSTANT integer := zbxhist_internal.short_lock_timeout();
    packed  CONSTANT regclass := zbxhist_internal.packed_table(parent);
    before  bigint;
    after   bigint;
    new_day regclass;
    written record;
    waited  interval;
BEGIN
    PERFORM FROM zbxhist.packed_day d
       JOIN pg_class k ON k.oid = d.day
      WHERE d.parent = repack_day.parent AND d.day = repack_day.day AND d.partition IS NULL
        FOR UPDATE OF d;
    IF NOT FOUND OR packed IS NULL THEN
        RETURN 'done';
    END IF;
    IF NOT EXISTS (SELECT FROM zbxhist.parent_state s
                    WHERE s.parent = repack_day.parent AND s.action = 'repack'
                      AND s.relation = label AND s.action_pid = pg_backend_pid()) THEN
        PERFORM zbxhist_internal.wait_for_readers(day, allowed);
        PERFORM zbxhist_internal.wait_for_readers(packed, allowed);
        PERFORM zbxhist_internal.wait_for_transactions(least(allowed, 1000));
        PERFORM zbxhist_internal.set_action(parent, 'repack', label);
        RETURN 'more';
    END IF;
    before := pg_total_relation_size(day);
    BEGIN
        new_day := zbxhist_internal.create_day_like(parent, day);
        written := zbxhist_internal.repack_rows(ARRAY[day], new_day);
    EXCEPTION WHEN object_in_use THEN
        -- some transactions do not see its newest rows yet
        RETURN 'wait';
    END;
    after := pg_total_relation_size(new_day);
    PERFORM zbxhist_internal.attach_day(new_day, packed);
    PERFORM zbxhist_internal.set_action(parent, NULL, NULL);
    UPDATE zbxhist.packed_day d
       SET day = new_day, nrows = written.rows, packed_rows = written.rows,
           packed_bytes = zbxhist_internal.day_bytes(new_day), repacked_at = clock_timestamp()
     WHERE d.day = repack_day.day;
    waited := zbxhist_internal.lock_unchanged_days(ARRAY[day], written.versions, packed);
    PERFORM zbxhist_internal.replace_table(day, new_day);
    PERFORM zbxhist_internal.invalidate(parent);
    PERFORM zbxhist_internal.log_action(parent, 'repack', label, written.rows, before - after,
                                        started, waited, NULL,
                                        format('%s before, %s after', pg_size_pretty(before),
                                               pg_size_pretty(after)));
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist_internal.repack_day(regclass, regclass) IS
'Writes a packed day anew, or does what has to be done before: more, call again; wait, call again later (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.repack_day(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.repack_day(regclass, regclass) TO pg_database_owner;
