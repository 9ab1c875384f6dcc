-- sql/functions/wanted_ranges.sql

CREATE FUNCTION zbxhist.wanted_ranges(parent regclass)
RETURNS TABLE (from_clock bigint, to_clock bigint)
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 3
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    policy  zbxhist.parent_config;
    present CONSTANT bigint := extract(epoch FROM clock_timestamp());
    reached bigint := present;
    covered record;
BEGIN
    SELECT * INTO policy FROM zbxhist.parent_config c WHERE c.parent = wanted_ranges.parent;
    FOR ahead IN 0 .. policy.premake LOOP
        covered := zbxhist.clock_range(policy.partition_interval, reached);
        EXIT WHEN covered.from_clock >= 2147483648;
        RETURN QUERY
            SELECT m.gap_from, m.gap_to
              FROM zbxhist.missing_ranges(parent, covered.from_clock, covered.to_clock) m
             WHERE m.gap_to > present;
        reached := covered.to_clock;
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist.wanted_ranges(regclass) IS
'The ranges, from the present one on, for which the policy wants a partition and there is none (internal)';

REVOKE ALL ON FUNCTION zbxhist.wanted_ranges(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.wanted_ranges(regclass) TO PUBLIC;
