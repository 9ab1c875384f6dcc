-- sql/partitions/wanted_ranges.sql
--
-- Partitions shorter than a day are made for about half a day ahead, see
-- fine_until; for premake days after today there is one for each.

CREATE FUNCTION zbxhist_internal.wanted_ranges(policy zbxhist.parent_config)
RETURNS TABLE (from_clock bigint, to_clock bigint)
LANGUAGE plpgsql VOLATILE PARALLEL SAFE ROWS 3
SET search_path = pg_catalog, pg_temp
AS $$
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
        -- a range that has gone by is not wanted any more
        RETURN QUERY
            SELECT m.gap_from, m.gap_to
              FROM zbxhist_internal.missing_ranges(policy.parent, covered.from_clock, covered.to_clock) m
             WHERE m.gap_to > present;
        EXIT WHEN covered.to_clock >= 2147483648;
        reached := covered.to_clock;
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.wanted_ranges(zbxhist.parent_config) IS
'The ranges, from the present one on, for which a policy wants a partition and there is none (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.wanted_ranges(zbxhist.parent_config) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.wanted_ranges(zbxhist.parent_config) TO PUBLIC;
