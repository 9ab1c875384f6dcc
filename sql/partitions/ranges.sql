-- sql/partitions/ranges.sql

-- Returns the current time as a clock of Zabbix: seconds since 1970-01-01 UTC.
CREATE FUNCTION zbxhist_internal.current_clock() RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN floor(extract(epoch FROM clock_timestamp()))::bigint;
END
$$;

-- Returns the clock of some time ago; months and days are counted in UTC.
CREATE FUNCTION zbxhist_internal.clock_before(age interval) RETURNS bigint
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN floor(extract(epoch FROM to_timestamp(zbxhist_internal.current_clock()) AT TIME ZONE 'UTC' - age))::bigint;
END
$$;

-- Length of a span; NULL if partitions are a day or longer.
-- A span is the largest part of a day that at most 24 partitions of this length divide: with partitions
-- of an hour it is the day.
CREATE FUNCTION zbxhist_internal.span_seconds(partition_interval interval) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (
        SELECT max(n * s.seconds)
          FROM (SELECT extract(epoch FROM partition_interval)::bigint AS seconds) s,
               generate_series(1, 24) n
         WHERE s.seconds < 86400 AND 86400 % (n * s.seconds) = 0);
END
$$;

-- The partition range, from included, to excluded, in which a clock lies.
-- Ranges of days, hours and minutes are multiples of the interval counted
-- from 1970-01-01 00:00 UTC; ranges of months are counted from January 1970.
-- Timestamps here are without time zone, in UTC.
CREATE FUNCTION zbxhist_internal.clock_range(
    partition_interval interval, clock bigint, OUT from_clock bigint, OUT to_clock bigint)
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    epoch  CONSTANT timestamp := '1970-01-01';
    months CONSTANT integer := extract(year FROM partition_interval) * 12
                               + extract(month FROM partition_interval);
    seconds bigint;
    moment  timestamp;
    ordinal integer;
BEGIN
    IF months > 0 THEN
        moment := epoch + make_interval(secs => clock);
        ordinal := (extract(year FROM moment) - 1970) * 12 + extract(month FROM moment) - 1;
        ordinal := floor(ordinal::numeric / months) * months;
        from_clock := extract(epoch FROM epoch + make_interval(months => ordinal));
        to_clock := extract(epoch FROM epoch + make_interval(months => ordinal + months));
    ELSE
        seconds := extract(epoch FROM partition_interval);
        from_clock := floor(clock::numeric / seconds) * seconds;
        to_clock := from_clock + seconds;
    END IF;
    -- beyond the range of an integer the bound is open
    from_clock := greatest(from_clock, -2147483648);
    to_clock := least(to_clock, 2147483648);
END
$$;

-- Cuts a range of clocks at multiples of a number of seconds.
CREATE FUNCTION zbxhist_internal.cut_range(from_clock bigint, to_clock bigint, seconds bigint)
RETURNS TABLE (piece_from bigint, piece_to bigint)
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE ROWS 24 SET search_path = pg_catalog, pg_temp AS $$
    SELECT greatest(g, cut_range.from_clock), least(g + seconds, cut_range.to_clock)
      FROM generate_series(floor(cut_range.from_clock::numeric / seconds)::bigint * seconds,
                           cut_range.to_clock - 1, seconds) g
$$;

-- Length of partitions that are created for the past, or for days ahead: a day at least.
-- A past day has no current hour, and creating and packing one partition is faster than 24.
CREATE FUNCTION zbxhist_internal.coarse_interval(partition_interval interval) RETURNS interval
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN zbxhist_internal.span_seconds(partition_interval) IS NULL
                THEN partition_interval ELSE interval '1 day' END
$$;

-- Clock up to which partitions shorter than a day are created in advance; after it, whole days are.  NULL
-- if partitions are a day or longer.
-- It is at least four hours ahead, or a span if that is shorter, and little more, because each query
-- without an upper clock reads all future partitions.  They are created three at a time if three divide
-- a span.
CREATE FUNCTION zbxhist_internal.fine_until(partition_interval interval) RETURNS bigint
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (
        SELECT ((zbxhist_internal.current_clock() + least(s, 14400)) / together + 1) * together
          FROM zbxhist_internal.span_seconds(partition_interval) s,
               extract(epoch FROM partition_interval) AS e (seconds),
               LATERAL (SELECT seconds::bigint * CASE WHEN s % (3 * seconds) = 0 THEN 3 ELSE 1 END) t (together)
         WHERE s IS NOT NULL);
END
$$;

-- The ranges, from the current one on, for which a policy needs a partition that does not exist.
-- Partitions shorter than a day are created some hours ahead, see fine_until; then one for each of
-- premake days after today.
CREATE FUNCTION zbxhist_internal.wanted_ranges(policy zbxhist.parent_config)
RETURNS TABLE (from_clock bigint, to_clock bigint)
LANGUAGE plpgsql VOLATILE PARALLEL SAFE ROWS 3 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    present CONSTANT bigint := zbxhist_internal.current_clock();
    seconds CONSTANT bigint := extract(epoch FROM policy.partition_interval);
    fine    CONSTANT bigint := zbxhist_internal.fine_until(policy.partition_interval);
    reached bigint := present;
    covered record;
BEGIN
    IF fine IS NOT NULL THEN
        RETURN QUERY
            SELECT c.piece_from, c.piece_to
              FROM (VALUES (present / seconds * seconds, fine, seconds),
                           (fine, (present / 86400 + 1 + policy.premake) * 86400, 86400)) AS w (first, final, length),
                   zbxhist_internal.missing_ranges(policy.parent, w.first, least(w.final, 2147483648)) m,
                   zbxhist_internal.cut_range(m.gap_from, m.gap_to, w.length) c
             WHERE c.piece_to > present
             ORDER BY c.piece_from;
        RETURN;
    END IF;
    FOR ahead IN 0 .. policy.premake LOOP
        covered := zbxhist_internal.clock_range(policy.partition_interval, reached);
        -- a gap in the past needs no partition
        RETURN QUERY
            SELECT m.gap_from, m.gap_to
              FROM zbxhist_internal.missing_ranges(policy.parent, covered.from_clock, covered.to_clock) m
             WHERE m.gap_to > present;
        EXIT WHEN covered.to_clock >= 2147483648;
        reached := covered.to_clock;
    END LOOP;
END
$$;

-- The parts of a clock range that no partition or packed day of the parent covers.
CREATE FUNCTION zbxhist_internal.missing_ranges(parent regclass, from_clock bigint, to_clock bigint)
RETURNS TABLE (gap_from bigint, gap_to bigint)
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT g.covered, g.from_clock
          FROM (SELECT p.from_clock, greatest(missing_ranges.from_clock, max(p.to_clock) OVER (
                           ORDER BY p.from_clock, p.to_clock ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS covered
                  FROM (SELECT r.from_clock, r.to_clock FROM zbxhist_internal.list_ranges(parent) r
                         WHERE r.to_clock > missing_ranges.from_clock AND r.from_clock < missing_ranges.to_clock
                         UNION ALL
                        SELECT missing_ranges.to_clock, missing_ranges.to_clock) p) g
         WHERE g.covered < g.from_clock
         ORDER BY g.covered;
END
$$;

-- Returns the range for the next partition of existing rows: that of the newest rows in the parent that
-- are within retention and have no partition; NULLs if there are none.
CREATE FUNCTION zbxhist_internal.next_existing_range(
    policy zbxhist.parent_config, OUT from_clock bigint, OUT to_clock bigint)
LANGUAGE plpgsql VOLATILE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    floor_clock bigint;
    -- above this clock the index has only dead entries of rows just moved
    below  bigint := coalesce((SELECT s.extended_to FROM zbxhist.parent_state s
                                WHERE s.parent = policy.parent),
                              zbxhist_internal.current_clock());
    newest bigint;
    owner  record;
    gap    record;
BEGIN
    IF NOT policy.move_existing OR zbxhist_internal.own_pages(policy.parent) = 0 THEN
        RETURN;
    END IF;
    floor_clock := coalesce(zbxhist_internal.deletion_clock(policy.parent), -2147483648);
    LOOP
        newest := zbxhist_internal.waiting_clock(policy.parent, floor_clock, below, true);
        IF newest IS NULL THEN
            RETURN;
        END IF;
        SELECT p.from_clock INTO owner
          FROM zbxhist_internal.list_ranges(policy.parent) p
         WHERE newest >= p.from_clock AND newest < p.to_clock;
        EXIT WHEN NOT FOUND;
        -- the row could not be moved, or arrived since
        below := owner.from_clock;
    END LOOP;
    gap := zbxhist_internal.clock_range(zbxhist_internal.coarse_interval(policy.partition_interval), newest);
    SELECT m.gap_from, m.gap_to INTO from_clock, to_clock
      FROM zbxhist_internal.missing_ranges(policy.parent, gap.from_clock, gap.to_clock) m
     WHERE newest >= m.gap_from AND newest < m.gap_to;
END
$$;

-- The partitions and packed days that hold clocks of a day.
CREATE FUNCTION zbxhist_internal.ranges_of_day(parent regclass, day date)
RETURNS TABLE (relation regclass, from_clock bigint, to_clock bigint, is_packed boolean)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 24 SET search_path = pg_catalog, pg_temp AS $$
    SELECT r.*
      FROM zbxhist_internal.day_clock(day) AS moment,
           zbxhist_internal.list_ranges(parent) r
     WHERE r.from_clock < moment + 86400 AND r.to_clock > moment
     ORDER BY r.from_clock
$$;

-- Future partitions of a day that are due to be replaced by shorter ones, and those of a time when the
-- server's clock was ahead, which are replaced by none.
-- A partition that has ever had a row is not replaced: an old snapshot may still see rows that were
-- deleted since.
CREATE FUNCTION zbxhist_internal.partitions_to_split(parent regclass) RETURNS SETOF regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
        WITH coarse AS MATERIALIZED (
            SELECT p.partition, p.from_clock
              FROM zbxhist.parent_config c
             CROSS JOIN LATERAL extract(epoch FROM c.partition_interval) AS seconds
             CROSS JOIN LATERAL zbxhist_internal.current_clock() AS present
             CROSS JOIN LATERAL zbxhist_internal.fine_until(c.partition_interval) AS horizon
             CROSS JOIN LATERAL zbxhist.list_partitions(c.parent) p
             WHERE c.parent = partitions_to_split.parent AND c.routing
               AND p.from_clock > present
               AND (p.from_clock < horizon AND p.to_clock - p.from_clock > seconds AND p.from_clock % seconds = 0
                    OR p.from_clock > present + 30 * 86400 + (c.premake + 1) * greatest(seconds, 86400))
               AND NOT EXISTS (SELECT FROM zbxhist.packed_day d WHERE d.partition = p.partition))
        SELECT p.partition
          FROM coarse p
         WHERE zbxhist_internal.own_pages(p.partition) = 0
           AND zbxhist_internal.dependent_object(p.partition) IS NULL
           AND p.partition NOT IN (SELECT zbxhist_internal.foreign_children(partitions_to_split.parent))
         ORDER BY p.from_clock;
END
$$;

-- Number of partitions of a table for which the server's lock table has room.
-- A statement without a condition on clock locks all partitions and their indexes.  An eighth of the
-- lock table for one such statement leaves room for a few of them at a time.
CREATE FUNCTION zbxhist_internal.most_partitions() RETURNS bigint
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT greatest(30, current_setting('max_locks_per_transaction')::bigint
                        * (current_setting('max_connections')::bigint
                           + current_setting('max_prepared_transactions')::bigint) / 16)
$$;
