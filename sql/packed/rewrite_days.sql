-- sql/packed/rewrite_days.sql
--
-- One packed day is repacked, or several whose ranges follow each other are
-- compacted: made one.  They are read and changed meanwhile: if one has been
-- changed, all are left as they are.  The first call waits for what is running
-- to end, so that the second one, in a transaction of its own, finds rows that
-- all transactions see alike.

CREATE FUNCTION zbxhist_internal.rewrite_days(parent regclass, action text, days regclass[])
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    label   CONSTANT text := days[1]::text;
    allowed CONSTANT integer := zbxhist_internal.short_lock_timeout();
    packed  CONSTANT regclass := zbxhist_internal.packed_table(parent);
    entries zbxhist.packed_day[];
    covered record;
    new_day regclass;
    kept    record;
    written record;
    waited  interval;
BEGIN
    SELECT array_agg(l.entry) INTO entries
      FROM (SELECT d AS entry FROM zbxhist.packed_day d
              JOIN pg_class k ON k.oid = d.day
             WHERE d.parent = rewrite_days.parent AND d.day = ANY (days) AND d.partition IS NULL
             ORDER BY d.day
               FOR UPDATE OF d) l;
    IF cardinality(entries) IS DISTINCT FROM cardinality(days) OR packed IS NULL THEN
        RETURN 'done';
    END IF;
    IF NOT EXISTS (SELECT FROM zbxhist.parent_state s
                    WHERE s.parent = rewrite_days.parent AND s.action = rewrite_days.action
                      AND s.relation = label AND s.action_pid = pg_backend_pid()) THEN
        PERFORM zbxhist_internal.wait_for_readers(d, allowed) FROM unnest(days) d;
        PERFORM zbxhist_internal.wait_for_readers(packed, allowed);
        PERFORM zbxhist_internal.wait_for_transactions(least(allowed, 1000));
        INSERT INTO zbxhist.parent_state (parent) VALUES (rewrite_days.parent) ON CONFLICT DO NOTHING;
        PERFORM zbxhist_internal.set_action(parent, action, label);
        RETURN 'more';
    END IF;
    SELECT min(e.from_clock) AS from_clock, max(e.to_clock) AS to_clock, sum(e.heap_bytes)::bigint AS heap_bytes,
           max(e.packed_at) AS packed_at, max(e.merged_at) AS merged_at,
           sum(pg_total_relation_size(e.day))::bigint AS bytes
      INTO covered FROM unnest(entries) e;
    IF entries[1].runs THEN
        -- from now on its values stay as they are, and new ones are kept in the parent
        PERFORM zbxhist_internal.lock_patiently(days[1]);
        PERFORM set_config('lock_timeout', allowed::text, true);
        EXECUTE format('LOCK TABLE ONLY %s IN SHARE MODE', days[1]);
        PERFORM zbxhist_internal.wait_for_transactions(least(allowed, 1000));
    END IF;
    BEGIN
        new_day := zbxhist_internal.create_day_like(parent, days[1], covered.from_clock, covered.to_clock);
        IF entries[1].runs THEN
            PERFORM zbxhist_internal.execute_as_owner(
                new_day, format('ALTER TABLE %s RENAME COLUMN run TO payload', new_day));
            PERFORM zbxhist_internal.execute_as_owner(
                new_day, format('ALTER TABLE %s DROP COLUMN batch', new_day));
        END IF;
        kept := zbxhist_internal.kept_items(parent);
        written := zbxhist_internal.repack_rows(days, new_day, kept.items);
    EXCEPTION WHEN object_in_use THEN
        -- some transactions do not see their newest rows yet
        RETURN 'wait';
    END;
    PERFORM zbxhist_internal.attach_day(new_day, packed);
    PERFORM zbxhist_internal.set_action(parent, NULL, NULL);
    DELETE FROM zbxhist.packed_day d WHERE d.day = ANY (days[2:]);
    UPDATE zbxhist.packed_day d
       SET day = new_day, from_clock = covered.from_clock, to_clock = covered.to_clock,
           nrows = written.rows, runs = false, heap_bytes = coalesce(covered.heap_bytes, covered.bytes),
           packed_at = CASE WHEN d.runs THEN clock_timestamp() ELSE covered.packed_at END,
           packed_rows = written.rows, packed_bytes = zbxhist_internal.day_bytes(new_day),
           merged_at = covered.merged_at, repacked_at = clock_timestamp(), not_compacted = NULL
     WHERE d.day = days[1];
    waited := zbxhist_internal.lock_unchanged_days(days, written.versions, packed);
    PERFORM zbxhist_internal.replace_tables(days, new_day);
    PERFORM zbxhist_internal.invalidate(parent);
    PERFORM zbxhist_internal.log_action(parent, action, label, written.rows,
                                        covered.bytes - pg_total_relation_size(new_day),
                                        started, waited, NULL,
                                        format('%s%s before, %s after%s',
                                               CASE WHEN cardinality(days) > 1
                                                    THEN format('%s tables, ', cardinality(days)) END,
                                               pg_size_pretty(covered.bytes),
                                               pg_size_pretty(pg_total_relation_size(new_day)),
                                               zbxhist_internal.describe_left_out(written.left_out, kept.problem)));
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist_internal.rewrite_days(regclass, text, regclass[]) IS
'Writes packed days anew, as one, or does what has to be done before: more, call again; wait, call again later (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.rewrite_days(regclass, text, regclass[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.rewrite_days(regclass, text, regclass[]) TO pg_database_owner;
