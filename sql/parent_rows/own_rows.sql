-- sql/parent_rows/own_rows.sql

-- Counts the rows of the table itself, all or those in a clock range.  It runs no query, which might
-- run code of the table's owner.
CREATE FUNCTION zbxhist_internal.count_own_rows(relation regclass, from_clock bigint, to_clock bigint) RETURNS bigint
LANGUAGE c VOLATILE PARALLEL SAFE AS 'MODULE_PATHNAME', 'zbxhist_count_own_rows';

-- Number of pages of the table itself, without its partitions.  It waits for no lock.
CREATE FUNCTION zbxhist_internal.own_pages(parent regclass) RETURNS bigint
LANGUAGE c VOLATILE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zbxhist_own_pages';

-- Whether the parent itself holds a row, or one not older than a clock.
-- Unlike waiting_clock, it stops at the first row found.
CREATE FUNCTION zbxhist_internal.has_own_rows(parent regclass, since_clock bigint) RETURNS boolean
LANGUAGE c VOLATILE PARALLEL SAFE AS 'MODULE_PATHNAME', 'zbxhist_has_own_rows';

-- Takes the lock for strays until the end of the transaction: nobody can store a row in the parent that
-- belongs to a partition.  Waits for transactions that have stored one.
CREATE FUNCTION zbxhist_internal.lock_strays(parent regclass) RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_lock_strays';

-- Counts since the server started: values stored in partitions and in the parent, batches, and values
-- of fast INSERTs.  If the server does not count them, values_routed is from PostgreSQL's statistics of
-- the partitions, and the others are NULL.
CREATE FUNCTION zbxhist_internal.stored_values(
    parent regclass, OUT values_routed bigint, OUT values_kept bigint, OUT batches bigint, OUT values_fast bigint)
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(sum(i.values_routed)::bigint,
                    (SELECT sum(pg_stat_get_tuples_inserted(p.partition))::bigint FROM zbxhist.list_partitions(stored_values.parent) p)),
           sum(i.values_stored - i.values_routed)::bigint, sum(i.statements)::bigint,
           CASE WHEN count(*) > 0 THEN coalesce(sum(i.values_stored) FILTER (WHERE i.path = 'fast'), 0)::bigint END
      FROM zbxhist.insert_paths() i WHERE i.parent = stored_values.parent
$$;

-- Estimates how many rows of a table itself are older than a clock.
-- A small table is counted; for a large one the histogram of the column clock is used.
CREATE FUNCTION zbxhist_internal.rows_older(parent regclass, cutoff bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    bounds bigint[];
BEGIN
    IF zbxhist_internal.own_pages(parent) < 10000 THEN
        RETURN zbxhist_internal.count_waiting(parent, -2147483648, cutoff);
    END IF;
    SELECT s.histogram_bounds::text::bigint[] INTO bounds
      FROM pg_stats s
      JOIN pg_namespace n ON n.nspname = s.schemaname
      JOIN pg_class k ON k.relnamespace = n.oid AND k.relname = s.tablename
     WHERE k.oid = rows_older.parent AND s.attname = 'clock' AND NOT s.inherited;
    RETURN zbxhist_internal.probable_rows(parent) * coalesce(width_bucket(cutoff, bounds)::numeric / cardinality(bounds), 1);
END
$$;

-- Estimates how many rows move_existing or an undo has moved and has left to move, and how long that
-- takes; NULLs if neither is in progress.
CREATE FUNCTION zbxhist_internal.rows_left(
    parent regclass, OUT rows_moved bigint, OUT rows_left bigint, OUT time_left interval)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    policy zbxhist.parent_config;
    state  zbxhist.parent_state;
    recent bigint;
BEGIN
    SELECT * INTO policy FROM zbxhist.parent_config c WHERE c.parent = rows_left.parent;
    SELECT * INTO state FROM zbxhist.parent_state s WHERE s.parent = rows_left.parent;
    IF NOT has_table_privilege(parent, 'SELECT') OR row_security_active(parent) THEN
        RETURN;
    ELSIF NOT policy.routing THEN
        rows_left := (SELECT coalesce(sum(zbxhist_internal.probable_rows(c)), 0) FROM zbxhist_internal.own_children(parent) c)
                     + (SELECT coalesce(sum(d.nrows), 0) FROM zbxhist.packed_day d WHERE d.parent = rows_left.parent AND NOT d.unpacked)
                     - CASE state.action WHEN 'undo' THEN state.action_rows ELSE 0 END;
    ELSIF policy.move_existing AND zbxhist_internal.own_pages(parent) > 0 THEN
        -- rows are moved from the newest to the oldest
        rows_left := zbxhist_internal.rows_older(parent, coalesce((SELECT min(r.from_clock) FROM zbxhist_internal.list_ranges(parent) r),
                                                                  zbxhist_internal.current_clock()))
                     - coalesce(zbxhist_internal.rows_older(parent, zbxhist_internal.deletion_clock(parent)), 0)
                     + CASE state.action WHEN 'move' THEN greatest(0, state.action_total - state.action_rows) ELSE 0 END;
    ELSE
        RETURN;
    END IF;
    rows_left := greatest(0, rows_left);
    IF NOT has_table_privilege('zbxhist.maintenance_log', 'SELECT') THEN
        RETURN;
    END IF;
    SELECT coalesce(sum(l.rows), 0), coalesce(sum(l.rows) FILTER (WHERE l.started_at >= state.begun_at), 0)
      INTO rows_moved, recent
      FROM zbxhist.maintenance_log l
     WHERE l.parent = rows_left.parent AND l.action = CASE WHEN policy.routing THEN 'move' ELSE 'undo' END;
    IF state.action IN ('move', 'undo') THEN
        rows_moved := rows_moved + state.action_rows;
        recent := recent + state.action_rows;
    END IF;
    time_left := (clock_timestamp() - state.begun_at) * (rows_left / nullif(recent, 0)::float8);
END
$$;

-- Estimates how many rows of a table itself are older than a clock, and returns the oldest clock.
-- If the caller may not read the table, it returns 0 and NULL.
CREATE FUNCTION zbxhist_internal.rows_before(parent regclass, cutoff bigint, OUT rows bigint, OUT oldest bigint)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    rows := 0;
    IF zbxhist_internal.own_pages(parent) = 0 OR NOT has_table_privilege(parent, 'SELECT')
       OR row_security_active(parent) THEN
        RETURN;
    END IF;
    oldest := zbxhist_internal.waiting_clock(parent, -2147483648, cutoff, false);
    IF oldest IS NULL THEN
        RETURN;
    END IF;
    rows := greatest(1, zbxhist_internal.rows_older(parent, cutoff));
END
$$;

-- Whether the parent is known to have no row that belongs to a partition: step_verify has found none,
-- and no session has marked one since.
CREATE FUNCTION zbxhist_internal.is_verified(parent regclass) RETURNS boolean
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN NOT EXISTS (SELECT FROM zbxhist.stray_mark m WHERE m.parent = is_verified.parent)
       AND NOT EXISTS (SELECT FROM zbxhist.list_partitions(is_verified.parent) p
                         LEFT JOIN zbxhist.partition_state s ON s.partition = p.partition
                         LEFT JOIN pg_trigger t ON t.tgrelid = is_verified.parent AND t.tgname = 'zzz_zbxhist_route'
                                               AND t.tgenabled <> 'D' AND t.xmin = s.verified
                        WHERE t.oid IS NULL);
END
$$;

-- Removes the marks of strays.  If there were any, it also resets what was verified before: with a mark
-- nothing counts as verified, and without it that must stay so until the parent has been searched.
CREATE FUNCTION zbxhist_internal.remove_marks(parent regclass) RETURNS void
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
    UPDATE zbxhist.partition_state s SET verified = NULL
     WHERE s.parent = remove_marks.parent
       AND EXISTS (SELECT FROM zbxhist.stray_mark m WHERE m.parent = remove_marks.parent);
    DELETE FROM zbxhist.stray_mark m WHERE m.parent = remove_marks.parent;
    SELECT zbxhist_internal.invalidate(parent)
$$;
