-- sql/parent_rows/waiting.sql

-- Returns the newest or oldest clock in a range among the rows of the parent itself; NULL if there is
-- none.
-- The table may have terabytes, so only its index (itemid, clock) is read: from item to item, and of
-- each item only the first or last entry in the range, see src/tables/item_index.c.
CREATE FUNCTION zbxhist_internal.waiting_clock(parent regclass, from_clock bigint, to_clock bigint, newest boolean)
RETURNS bigint
LANGUAGE c VOLATILE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zbxhist_waiting_clock';

-- Number of rows in the parent itself: counted if the table is small and the caller may read it, else
-- estimated.
CREATE FUNCTION zbxhist_internal.waiting_rows(parent regclass, OUT rows bigint, OUT exact boolean)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    exact := zbxhist_internal.own_pages(parent) < 1000 AND has_table_privilege(parent, 'SELECT')
             AND NOT row_security_active(parent)
             AND EXISTS (SELECT FROM pg_class k WHERE k.oid = parent AND k.relkind = 'r');
    rows := CASE WHEN exact THEN zbxhist_internal.count_own_rows(parent, NULL, NULL)
                 ELSE zbxhist_internal.estimated_rows(parent) END;
END
$$;

-- Number of rows of the parent itself in a clock range; NULL if the table is too large to be counted.
CREATE FUNCTION zbxhist_internal.count_waiting(parent regclass, from_clock bigint, to_clock bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF zbxhist_internal.own_pages(parent) >= 10000 THEN
        RETURN NULL;
    END IF;
    RETURN zbxhist_internal.count_own_rows(parent, from_clock, to_clock);
END
$$;

-- The oldest and the newest clock among the rows of the parent itself that belong to its
-- partitions, or packed days; NULL if there are none.
CREATE FUNCTION zbxhist_internal.waiting_span(parent regclass, packed boolean, OUT oldest bigint, OUT newest bigint)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    bounds record;
BEGIN
    IF zbxhist_internal.own_pages(parent) = 0 THEN
        RETURN;
    END IF;
    SELECT min(r.from_clock) AS from_clock, max(r.to_clock) AS to_clock INTO bounds
      FROM zbxhist_internal.list_ranges(parent) r
     WHERE r.is_packed = packed;
    newest := zbxhist_internal.waiting_clock(parent, bounds.from_clock, bounds.to_clock, true);
    oldest := zbxhist_internal.waiting_clock(parent, bounds.from_clock, newest + 1, false);
END
$$;

-- The partitions of which the parent may hold rows, newest first.
CREATE FUNCTION zbxhist_internal.waiting_partitions(parent regclass) RETURNS SETOF regclass
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT p.partition
      FROM zbxhist_internal.waiting_span(parent, false) w
      JOIN zbxhist.list_partitions(parent) p ON p.to_clock > w.oldest AND p.from_clock <= w.newest
     WHERE NOT EXISTS (SELECT FROM zbxhist.packed_day d
                        WHERE d.partition = p.partition AND NOT d.unpacked)
       AND zbxhist_internal.own_column(parent, p.partition) IS NULL
     ORDER BY p.from_clock DESC
$$;

-- The packed days that are due to be merged with late rows in the parent, newest first.
-- Late rows can be read where they are, so there is no hurry.  A parent of more than 1 GB, with maybe
-- millions of items, is searched once an hour.  Merging a few rows of many items rewrites the whole
-- day, so a day is merged again only after six hours, or sooner if there are many rows.
CREATE FUNCTION zbxhist_internal.waiting_days(parent regclass) RETURNS SETOF regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF zbxhist_internal.own_pages(parent) > 131072
       AND EXISTS (SELECT FROM zbxhist.parent_state s
                    WHERE s.parent = waiting_days.parent AND s.merged_at > clock_timestamp() - interval '1 hour') THEN
        RETURN;
    END IF;
    RETURN QUERY
        SELECT d.day
          FROM zbxhist_internal.waiting_span(waiting_days.parent, true) w
          JOIN zbxhist.packed_day d ON d.to_clock > w.oldest AND d.from_clock <= w.newest
         WHERE d.parent = waiting_days.parent AND d.partition IS NULL
           AND (coalesce(d.merged_at < clock_timestamp() - interval '6 hours', true)
                OR coalesce(zbxhist_internal.count_waiting(waiting_days.parent, d.from_clock, d.to_clock)
                            >= d.nrows / 10,
                            d.merged_at < clock_timestamp() - interval '1 hour'))
           AND zbxhist_internal.waiting_clock(waiting_days.parent, d.from_clock, d.to_clock, true) IS NOT NULL
         ORDER BY d.from_clock DESC;
END
$$;
