-- sql/partitions/next_existing_range.sql

CREATE FUNCTION zbxhist_internal.next_existing_range(
    policy zbxhist.parent_config,
    OUT from_clock bigint,
    OUT to_clock bigint)
LANGUAGE plpgsql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    floor_clock CONSTANT bigint := coalesce(zbxhist_internal.deletion_clock(policy.parent), -2147483648);
    -- above this there are only the dead entries of rows just moved
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
    LOOP
        newest := zbxhist_internal.waiting_clock(policy.parent, floor_clock, below, true);
        IF newest IS NULL THEN
            RETURN;
        END IF;
        SELECT p.from_clock INTO owner
          FROM zbxhist_internal.list_ranges(policy.parent) p
         WHERE newest >= p.from_clock AND newest < p.to_clock;
        EXIT WHEN NOT FOUND;
        -- a row that could not be moved, or came since
        below := owner.from_clock;
    END LOOP;
    gap := zbxhist_internal.clock_range(zbxhist_internal.coarse_interval(policy.partition_interval), newest);
    SELECT m.gap_from, m.gap_to INTO from_clock, to_clock
      FROM zbxhist_internal.missing_ranges(policy.parent, gap.from_clock, gap.to_clock) m
     WHERE newest >= m.gap_from AND newest < m.gap_to;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.next_existing_range(zbxhist.parent_config) IS
'The range of the newest rows in the parent that are within retention and have no partition (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.next_existing_range(zbxhist.parent_config) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.next_existing_range(zbxhist.parent_config) TO PUBLIC;
