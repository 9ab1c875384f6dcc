-- sql/packed/compact.sql

-- The packed parts of UTC days that can be compacted, each list into one packed day, latest first;
-- with by_hand all of them, else those that are due.
-- Parts are compacted if their ranges follow each other without a gap (a partition may still be created
-- in a gap) and they have the same columns.  They are due if the day has ended for longer than pack_after
-- and none of its partitions is left to be packed, unless its first hours are already past retention.  To
-- limit the number of locks, more than 96 parts are first compacted by hour.
CREATE FUNCTION zbxhist_internal.compactable_days(parent regclass, by_hand boolean DEFAULT false)
RETURNS TABLE (days regclass[], from_clock bigint, to_clock bigint, rows bigint, bytes bigint)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
        WITH short AS (
            SELECT d.*, floor(d.from_clock / 86400.0)::bigint * 86400 AS midnight
              FROM zbxhist.packed_day d
             WHERE d.parent = compactable_days.parent AND d.to_clock - d.from_clock < 86400
               AND floor(d.from_clock / 86400.0) = floor((d.to_clock - 1) / 86400.0)),
        present AS (
            SELECT s.day, s.from_clock, s.to_clock, s.nrows, s.repacked_at, s.midnight,
                   concat(k.relpersistence,
                          (SELECT string_agg(format('%I %s %s', a.attname, a.atttypid, a.atttypmod), ',' ORDER BY a.attnum)
                             FROM pg_attribute a
                            WHERE a.attrelid = s.day AND a.attnum > 6 AND NOT a.attisdropped)) AS layout
              FROM zbxhist.parent_config c
              JOIN pg_class p ON p.oid = c.parent
              JOIN short s ON s.partition IS NULL AND s.archive_copy IS NULL
              JOIN pg_class k ON k.oid = s.day AND k.relowner = p.relowner
             WHERE c.parent = compactable_days.parent AND c.routing
               AND zbxhist_internal.packed_table(c.parent) IS NOT NULL
               AND (by_hand
                    OR s.not_compacted IS NULL
                       AND s.midnight + 86400 <= zbxhist_internal.clock_before(c.pack_after)
                       -- a subquery is evaluated once, and only if it is needed
                       AND s.midnight >= coalesce((SELECT zbxhist_internal.cutoff_clock(compactable_days.parent)), s.midnight))),
        follower AS (
            SELECT p.*, lag(p.to_clock) OVER w = p.from_clock AND lag(p.layout) OVER w = p.layout AS follows
              FROM present p WINDOW w AS (PARTITION BY p.midnight ORDER BY p.from_clock)),
        numbered AS (
            SELECT f.*, count(*) FILTER (WHERE f.follows IS NOT TRUE) OVER (PARTITION BY f.midnight ORDER BY f.from_clock) AS run
              FROM follower f),
        counted AS (
            SELECT n.*, count(*) OVER (PARTITION BY n.midnight, n.run) AS total FROM numbered n)
        SELECT array_agg(c.day ORDER BY c.from_clock), min(c.from_clock), max(c.to_clock),
               sum(c.nrows)::bigint, sum(zbxhist_internal.day_bytes(c.day))::bigint
          FROM counted c
         WHERE by_hand OR (
               NOT EXISTS (SELECT FROM zbxhist.list_partitions(compactable_days.parent) p
                            WHERE p.from_clock < c.midnight + 86400 AND p.to_clock > c.midnight
                              AND zbxhist_internal.not_packable(compactable_days.parent, p.partition) IS NULL)
               AND NOT EXISTS (SELECT FROM short s
                                WHERE s.midnight = c.midnight AND s.partition IS NOT NULL))
         GROUP BY c.midnight, c.run, CASE WHEN c.total > 96 THEN floor(c.from_clock / 3600.0) END
        HAVING count(*) > 1
           -- repacked_at is also set when compacting fails
           AND (by_hand OR coalesce(max(c.repacked_at) < clock_timestamp() - interval '1 hour', true))
         ORDER BY 2 DESC;
END
$$;

-- The days that one run of maintenance compacts, limited by zbxhist.maintenance_repack_limit; each is
-- named by its first table.
-- A day that is larger than the limit is compacted if it is the first one.
CREATE FUNCTION zbxhist_internal.days_to_compact(parent regclass) RETURNS SETOF regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    most CONSTANT bigint := pg_size_bytes(zbxhist_internal.library_setting('maintenance_repack_limit', '0'));
BEGIN
    RETURN QUERY
        SELECT c.days[1]
          FROM (SELECT d.*, coalesce(sum(d.bytes) OVER (ORDER BY d.from_clock DESC
                                     ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
                  FROM zbxhist_internal.compactable_days(parent) d) c
         WHERE c.before < most
         ORDER BY c.from_clock DESC;
END
$$;

-- Compacts the consecutive packed hours, or other parts, of a UTC day of a managed table into one packed
-- day; maintenance does so by itself.
CREATE PROCEDURE zbxhist.compact(parent regclass, day date)
LANGUAGE plpgsql AS $$
DECLARE
    midnight pg_catalog.int8;
    looking  pg_catalog.text;
    result   pg_catalog.regclass[];
    present  pg_catalog.int4;
BEGIN
    CALL zbxhist_internal.next_transaction();
    PERFORM zbxhist_internal.require_routed(parent);
    midnight := zbxhist_internal.day_clock(day);
    result := ARRAY(SELECT c.days[1] FROM zbxhist_internal.compactable_days(parent, true) c
                     WHERE c.from_clock >= midnight AND c.to_clock <= midnight + 86400);
    SELECT count(*) INTO present FROM zbxhist.packed_day d
     WHERE d.parent = compact.parent
       AND d.to_clock > midnight AND d.from_clock < midnight + 86400;
    looking := format('SELECT * FROM zbxhist.partitions WHERE parent = %L::regclass;', parent);
    PERFORM zbxhist_internal.refuse('55000', format('%s of table %s is not packed', to_char(day, 'YYYY-MM-DD'), parent),
        hint => looking)
      WHERE present = 0;
    PERFORM zbxhist_internal.refuse('55000', format('no packed tables of %s of table %s can be compacted', to_char(day, 'YYYY-MM-DD'), parent),
        detail => 'They must follow each other without a gap, have the same columns and belong to the owner of the table.',
        hint => looking)
      WHERE present > 1 AND result = '{}';
    IF present = 1 THEN
        RAISE NOTICE 'the packed rows of % of table % are already in one table', to_char(day, 'YYYY-MM-DD'), parent;
    END IF;
    CALL zbxhist_internal.repeat_by_hand(parent, 'compact', result);
END
$$;
