-- sql/parent_rows/own_rows.sql

-- Number of rows of the table itself, all or those in a clock range, counted without a query, which
-- might run its owner's code.
CREATE FUNCTION zbxhist_internal.count_own_rows(relation regclass, from_clock bigint, to_clock bigint) RETURNS bigint
LANGUAGE c VOLATILE PARALLEL SAFE AS 'MODULE_PATHNAME', 'zbxhist_count_own_rows';

-- Number of pages of the table itself, without its partitions.
CREATE FUNCTION zbxhist_internal.own_pages(parent regclass) RETURNS bigint
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(pg_relation_size(parent, 'main'), 0) / current_setting('block_size')::bigint
$$;

-- Whether the parent itself holds a row, or one not older than a clock.
-- Like waiting_clock, but ends at the first row found.
CREATE FUNCTION zbxhist_internal.has_own_rows(parent regclass, since_clock bigint) RETURNS boolean
LANGUAGE c VOLATILE PARALLEL SAFE AS 'MODULE_PATHNAME', 'zbxhist_has_own_rows';

-- Until the end of the transaction, lets nobody store a row in a managed table that belongs to one
-- of its partitions; waits for those who are doing so.
CREATE FUNCTION zbxhist_internal.lock_strays(parent regclass) RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_lock_strays';

-- Values sent to the partitions of a managed table, kept in it, batches, and values planned as fast
-- inserts, since the server started; where the server does not count them, the rows inserted into
-- partitions as the statistics have it.
CREATE FUNCTION zbxhist_internal.stored_values(
    parent regclass, OUT values_routed bigint, OUT values_kept bigint, OUT batches bigint, OUT values_fast bigint)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    SELECT c.values_routed, c.values_kept, c.batches, c.values_fast
      INTO values_routed, values_kept, batches, values_fast
      FROM zbxhist_internal.counters() c WHERE c.parent = stored_values.parent;
    IF NOT FOUND THEN
        SELECT sum(pg_stat_get_tuples_inserted(p.partition))::bigint INTO values_routed
          FROM zbxhist.list_partitions(parent) p;
    END IF;
END
$$;

-- About how many rows of a table itself are older than a clock, and the oldest of these.
-- A large parent is not read for this: its share is taken from the statistics
-- of the column.  Of one that the caller may not read nothing is known.
CREATE FUNCTION zbxhist_internal.rows_before(parent regclass, cutoff bigint, OUT rows bigint, OUT oldest bigint)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    bounds bigint[];
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
    rows := zbxhist_internal.count_waiting(parent, -2147483648, cutoff);
    IF rows IS NOT NULL THEN
        RETURN;
    END IF;
    SELECT s.histogram_bounds::text::bigint[] INTO bounds
      FROM pg_stats s
      JOIN pg_namespace n ON n.nspname = s.schemaname
      JOIN pg_class k ON k.relnamespace = n.oid AND k.relname = s.tablename
     WHERE k.oid = rows_before.parent AND s.attname = 'clock' AND NOT s.inherited;
    rows := greatest(1, zbxhist_internal.probable_rows(parent)
                        * coalesce(width_bucket(cutoff, bounds)::numeric / cardinality(bounds), 1));
END
$$;

-- Whether the parent is known to have no row of a partition: step_verify has found that, and
-- nobody has marked one since.
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

-- Removes the marks of strays and, if there are any, what had been verified before them.
-- With a mark nothing counts as verified.  Without it that must be so, too,
-- until somebody has looked.
CREATE FUNCTION zbxhist_internal.remove_marks(parent regclass) RETURNS void
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
    UPDATE zbxhist.partition_state s SET verified = NULL
     WHERE s.parent = remove_marks.parent
       AND EXISTS (SELECT FROM zbxhist.stray_mark m WHERE m.parent = remove_marks.parent);
    DELETE FROM zbxhist.stray_mark m WHERE m.parent = remove_marks.parent;
    SELECT zbxhist_internal.invalidate(parent)
$$;
