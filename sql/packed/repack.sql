-- sql/packed/repack.sql

-- Merges rows of the parent itself in a range of clocks into their packed day.  Rows stay in the parent
-- if the day has their key with other values, or has too many rows of their item and second.  For an
-- archived day, a call with only_fetch must first fetch the groups in the same transaction.
CREATE FUNCTION zbxhist_internal.merge_rows(
    parent regclass, day regclass, from_clock bigint, to_clock bigint, max_rows integer, only_fetch boolean DEFAULT false,
    OUT merged bigint, OUT duplicates bigint, OUT done boolean)
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_merge_rows';

-- Writes the rows of packed days, whose ranges do not overlap, into the table of a new one, which was
-- created in the same transaction, and reads them back.  It writes only those of kept_items if that is not
-- empty, and rounds times to time_precision nanoseconds.  Raises 55006 while not all transactions see the
-- same rows.
-- Others may change the days meanwhile, so the caller compares their versions with day_version() after it
-- has locked them.
CREATE FUNCTION zbxhist_internal.repack_rows(
    days regclass[], new_day regclass, kept_items bigint[] DEFAULT '{}', time_precision integer DEFAULT 0,
    OUT rows bigint, OUT bytes bigint, OUT versions bigint[], OUT left_out bigint)
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_repack_rows';

-- Returns the precision in nanoseconds to which times of a packed day that ends at a clock are to be
-- rounded now; NULL if they are not.
-- By default that is a week later, when nobody sends the same values again.  Values of one unit of time
-- get different, ascending ns; only a key demands that, and it may have been dropped.
CREATE FUNCTION zbxhist_internal.due_precision(parent regclass, to_clock bigint) RETURNS integer
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (
        SELECT CASE c.time_precision WHEN '1 us' THEN 1000 WHEN '1 ms' THEN 1000000 WHEN '1 s' THEN 1000000000 END
          FROM zbxhist.parent_config c
         WHERE c.parent = due_precision.parent
           AND due_precision.to_clock <= zbxhist_internal.clock_before(c.time_precision_after)
           AND 'ns' = ANY (zbxhist_internal.key_columns(c.parent)));
END
$$;

-- Whether zbxhist.maintenance_repack_limit allows a day of a managed table to be repacked now.
-- Each repacked day postpones the next one by its size, so that on average the limit holds, even if one
-- day exceeds it.  Up to an hour's unused allowance can be used at once.
CREATE FUNCTION zbxhist_internal.may_repack(parent regclass) RETURNS boolean
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN zbxhist_internal.library_setting('maintenance_repack_limit', '0') <> '0'
       AND NOT EXISTS (SELECT FROM zbxhist.parent_state s
                        WHERE s.parent = may_repack.parent AND s.repack_after > clock_timestamp());
END
$$;

-- The packed days that are due to be repacked, worst first: those that take a third more space than they
-- need, whose times are to be rounded, or that belong in another tablespace, which is returned.
-- The space that a day needs is estimated from the size of its values when it was last written.  If it has
-- twice as many values now, other days are the measure.  A wrong estimate costs one repack, after which it
-- is right.  Rounding is assumed to save a third.
CREATE FUNCTION zbxhist_internal.wasteful_days(parent regclass)
RETURNS TABLE (day regclass, bytes bigint, wasted bigint, tablespace name)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
        WITH days AS (
            SELECT d.day, d.nrows, d.repacked_at, zbxhist_internal.day_bytes(d.day) AS bytes,
                   -- these functions are called only where the policy asks for it
                   c.time_precision <> '1 ns' AND d.nrows > 0
                   AND zbxhist_internal.due_precision(d.parent, d.to_clock) > coalesce(d.time_precision, 1) AS is_due,
                   CASE WHEN c.packed_tablespace IS NOT NULL
                        THEN nullif(zbxhist_internal.due_tablespace(d.parent, d.to_clock), zbxhist_internal.tablespace_of(d.day))
                        END AS tablespace,
                   d.packed_bytes::float8 / nullif(d.packed_rows, 0) AS row_bytes,
                   d.packed_rows >= d.nrows / 2 AS is_known
              FROM zbxhist.packed_day d
              JOIN zbxhist.parent_config c ON c.parent = d.parent
              JOIN pg_class k ON k.oid = d.day
             WHERE d.parent = wasteful_days.parent AND d.partition IS NULL AND d.archive_copy IS NULL),
        usual AS (
            SELECT percentile_disc(0.25) WITHIN GROUP (ORDER BY d.bytes::float8 / d.nrows) AS row_bytes
              FROM days d WHERE d.nrows > 0)
        SELECT d.day, d.bytes, n.wasted, d.tablespace
          FROM days d
         CROSS JOIN usual u
         CROSS JOIN LATERAL (
               SELECT d.bytes - CASE WHEN d.nrows = 0 THEN 0
                                     ELSE (d.nrows * CASE WHEN d.is_known THEN d.row_bytes
                                                          ELSE least(d.row_bytes, u.row_bytes) END)::bigint
                                END + CASE WHEN d.is_due THEN d.bytes / 3 ELSE 0 END AS wasted) n
         WHERE (n.wasted >= greatest(d.bytes / 4, 131072) OR d.is_due OR d.tablespace IS NOT NULL)
           AND (d.repacked_at IS NULL OR d.repacked_at < clock_timestamp() - interval '6 hours')
         ORDER BY n.wasted DESC;
END
$$;

-- Takes ACCESS EXCLUSIVE on packed days and the packed table, if the days are unchanged since their
-- versions were read; returns the time it waited.
-- It first locks out changes and compares the versions; then it locks out readers, for the moment of the
-- swap.  A session that changes packed rows may hold a lock on the packed table and wait for a day's, so all
-- locks are released before the next try.  With has_same_rows, the new table has the same rows as the days,
-- so readers that are not reading one of the days need not wait.
CREATE FUNCTION zbxhist_internal.lock_unchanged_days(
    days regclass[], versions bigint[], packed regclass, has_same_rows boolean)
RETURNS interval
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    allowed CONSTANT integer := zbxhist_internal.short_lock_timeout();
    started CONSTANT timestamptz := clock_timestamp();
    changed regclass;
    seen    record;
    stopped timestamptz;
BEGIN
    FOR attempt IN 1 .. 5 LOOP
        BEGIN
            FOR n IN 1 .. cardinality(days) LOOP
                PERFORM zbxhist_internal.lock_patiently(days[n]);
                PERFORM set_config('lock_timeout', allowed::text, true);
                EXECUTE format('LOCK TABLE ONLY %s IN SHARE ROW EXCLUSIVE MODE', days[n]);
                changed := days[n];
                seen := zbxhist_internal.day_version(days[n]);
                IF seen.version <> versions[n] THEN
                    RAISE object_in_use;
                END IF;
                PERFORM zbxhist_internal.end_older_snapshots(days[n], seen.newest);
            END LOOP;
            stopped := clock_timestamp();
            PERFORM zbxhist_internal.lock_exclusively(packed,
                mode => CASE WHEN has_same_rows THEN 'SHARE ROW EXCLUSIVE' ELSE 'ACCESS EXCLUSIVE' END);
            FOR n IN 1 .. cardinality(days) LOOP
                -- readers wait for all days together no longer than for one
                PERFORM zbxhist_internal.lock_exclusively(days[n], greatest(1,
                    (allowed - 1000 * extract(epoch FROM clock_timestamp() - stopped))::integer));
            END LOOP;
            EXIT;
        EXCEPTION
            WHEN object_in_use THEN
                PERFORM zbxhist_internal.refuse('40001', format('packed day %s has been changed meanwhile', changed),
                    hint => 'Repeat the call.');
            WHEN lock_not_available OR deadlock_detected THEN
                PERFORM zbxhist_internal.refuse('55P03', format('could not lock table %s within %s ms, five times', packed, allowed),
                    detail => 'A transaction is using it.  Repeat the call when that has ended.',
                    hint => zbxhist_internal.long_transactions())
                  WHERE attempt = 5;
        END;
        PERFORM pg_sleep(0.25 * attempt);
    END LOOP;
    RETURN clock_timestamp() - started;
END
$$;

-- Begins an action that rewrites packed days: waits for their readers and for running transactions, and
-- notes the action.  In the next transaction, all transactions see the same rows in them.
CREATE FUNCTION zbxhist_internal.begin_rewrite(parent regclass, action text, days regclass[]) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM zbxhist_internal.wait_for_readers(d) FROM unnest(days || zbxhist_internal.packed_table(parent)) d;
    PERFORM zbxhist_internal.wait_for_transactions();
    PERFORM zbxhist_internal.set_action(parent, action, days[1]::text);
END
$$;

-- Replaces packed days by a new table, which is already listed in packed_day; raises an error if they were
-- changed since their versions were read.  The new table gets the name of the first day, or one for the
-- whole range.  Returns the time it waited for locks.
CREATE FUNCTION zbxhist_internal.end_rewrite(
    parent regclass, days regclass[], versions bigint[], new_day regclass, has_same_rows boolean) RETURNS interval
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    packed    CONSTANT regclass := zbxhist_internal.packed_table(parent);
    entry     CONSTANT zbxhist.packed_day := (SELECT d FROM zbxhist.packed_day d WHERE d.day = new_day);
    old_name  name;
    old_index name;
    new_index regclass;
    waited    interval;
BEGIN
    PERFORM zbxhist_internal.attach_day(new_day, packed);
    PERFORM zbxhist_internal.set_action(parent, NULL, NULL);
    waited := zbxhist_internal.lock_unchanged_days(days, versions, packed, has_same_rows);
    SELECT k.relname, x.relname INTO old_name, old_index
      FROM pg_class k
      JOIN pg_index i ON i.indrelid = k.oid AND i.indisprimary
      JOIN pg_class x ON x.oid = i.indexrelid
     WHERE k.oid = days[1];
    SELECT i.indexrelid INTO new_index FROM pg_index i WHERE i.indrelid = new_day AND i.indisprimary;
    PERFORM zbxhist_internal.execute_as_owner(new_day, format('DROP TABLE %s', d)) FROM unnest(days) d;
    IF cardinality(days) > 1 THEN
        -- the name that it would have had at once: history_p20261120_0000 becomes history_p20261120 for
        -- a whole day, history_p20261120_0000_0959 for ten hours; a number at the end is chosen again
        old_name := zbxhist_internal.free_name('zbxhist_packed'::regnamespace,
                        regexp_replace(old_name, '(_p\d{8})_\d{4}(_\d{4})?(_\d{1,3})?$', concat('\1',
                            CASE WHEN entry.to_clock - entry.from_clock < 86400
                                 THEN to_char(to_timestamp(entry.from_clock) AT TIME ZONE 'UTC', '_HH24MI')
                                      || to_char(to_timestamp(entry.to_clock - 60) AT TIME ZONE 'UTC', '_HH24MI') END)));
        old_index := zbxhist_internal.free_name('zbxhist_packed'::regnamespace, old_name || '_pkey');
    END IF;
    PERFORM zbxhist_internal.execute_as_owner(
        new_day, format('ALTER TABLE %s RENAME TO %I', new_day, old_name));
    PERFORM zbxhist_internal.execute_as_owner(
        new_day, format('ALTER INDEX %s RENAME TO %I', new_index, old_index));
    PERFORM zbxhist_internal.invalidate(parent);
    RETURN waited;
END
$$;

-- Does the next part of rewriting packed days into one; returns "done", "more" (call again) or "wait" (call
-- again later).
-- One day is repacked or unarchived; several consecutive ones are compacted.  Others may read and change
-- them meanwhile: if one was changed, all stay as they are.  The first call waits for running transactions,
-- so that the second, in its own transaction, finds rows that all transactions see.
CREATE FUNCTION zbxhist_internal.rewrite_days(parent regclass, action text, days regclass[]) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    label   CONSTANT text := days[1]::text;
    packed  CONSTANT regclass := zbxhist_internal.packed_table(parent);
    entries zbxhist.packed_day[];
    covered record;
    precision integer;
    place   CONSTANT name := zbxhist_internal.tablespace_of(days[1]);
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
    IF NOT zbxhist_internal.has_begun(parent, action, label) THEN
        PERFORM zbxhist_internal.begin_rewrite(parent, action, days);
        RETURN 'more';
    END IF;
    SELECT min(e.from_clock) AS from_clock, max(e.to_clock) AS to_clock, sum(e.heap_bytes)::bigint AS heap_bytes,
           max(e.packed_at) AS packed_at, max(e.merged_at) AS merged_at,
           nullif(min(coalesce(e.time_precision, 0)), 0) AS time_precision,
           sum(pg_total_relation_size(e.day))::bigint AS bytes
      INTO covered FROM unnest(entries) e;
    precision := zbxhist_internal.due_precision(parent, covered.to_clock);
    BEGIN
        new_day := zbxhist_internal.create_day(parent, days[1], covered.from_clock, covered.to_clock);
        kept := zbxhist_internal.kept_items(parent);
        IF action = 'unarchive' THEN
            precision := NULL;
            SELECT u.rows, ARRAY[u.version] AS versions, NULL::bigint AS left_out INTO written
              FROM zbxhist_internal.unarchive_rows(days[1], new_day) u;
        ELSE
            written := zbxhist_internal.repack_rows(days, new_day, kept.items, coalesce(precision, 0));
        END IF;
    EXCEPTION WHEN object_in_use THEN
        -- some transactions do not see the days' newest rows yet
        RETURN 'wait';
    END;
    DELETE FROM zbxhist.packed_day d WHERE d.day = ANY (days[2:]);
    UPDATE zbxhist.packed_day d
       SET day = new_day, from_clock = covered.from_clock, to_clock = covered.to_clock,
           nrows = written.rows, heap_bytes = coalesce(covered.heap_bytes, covered.bytes),
           packed_at = covered.packed_at, packed_rows = written.rows, packed_bytes = zbxhist_internal.day_bytes(new_day),
           merged_at = covered.merged_at, repacked_at = clock_timestamp(), not_compacted = NULL,
           time_precision = greatest(precision, covered.time_precision),
           archive_copy = NULL, kept_here = d.kept_here OR action = 'unarchive'
     WHERE d.day = days[1];
    waited := zbxhist_internal.end_rewrite(parent, days, written.versions, new_day,
                  coalesce(precision <= covered.time_precision, precision IS NULL) AND coalesce(written.left_out, 0) = 0);
    PERFORM zbxhist_internal.log_action(parent, action, label, rows => written.rows,
        bytes => covered.bytes - pg_total_relation_size(new_day), lock_wait => waited,
        message => format('%s%s before, %s after%s%s',
                          CASE WHEN cardinality(days) > 1 THEN format('%s tables, ', cardinality(days)) END,
                          pg_size_pretty(covered.bytes), pg_size_pretty(pg_total_relation_size(new_day)),
                          ', in tablespace ' || nullif(zbxhist_internal.tablespace_of(new_day), place),
                          zbxhist_internal.describe_left_out(written.left_out, kept.problem)));
    RETURN 'done';
END
$$;

-- Rewrites the packed parts of a UTC day of a managed table so that they take as little space as
-- possible; maintenance does so by itself.
CREATE PROCEDURE zbxhist.repack(parent regclass, day date)
LANGUAGE plpgsql AS $$
BEGIN
    CALL zbxhist_internal.next_transaction();
    CALL zbxhist_internal.repeat_by_hand(parent, 'repack', zbxhist_internal.days_to_unpack(parent, day));
END
$$;
