-- sql/partitions/wanted_ranges.sql

CREATE FUNCTION zbxhist_internal.wanted_ranges(policy zbxhist.parent_config)
RETURNS TABLE (from_clock bigint, to_clock bigint)
LANGUAGE plpgsql VOLATILE PARALLEL SAFE ROWS 3
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    present CONSTANT bigint := zbxhist_internal.current_clock();
    reached bigint := present;
    covered record;
BEGIN
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
