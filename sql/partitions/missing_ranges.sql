-- sql/partitions/missing_ranges.sql

CREATE FUNCTION zbxhist_internal.missing_ranges(parent regclass, from_clock bigint, to_clock bigint)
RETURNS TABLE (gap_from bigint, gap_to bigint)
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    present record;
BEGIN
    gap_from := from_clock;
    FOR present IN
        SELECT p.from_clock, p.to_clock
          FROM zbxhist_internal.list_ranges(parent) p
         WHERE p.to_clock > missing_ranges.from_clock AND p.from_clock < missing_ranges.to_clock
         ORDER BY p.from_clock
    LOOP
        IF present.from_clock > gap_from THEN
            gap_to := present.from_clock;
            RETURN NEXT;
        END IF;
        gap_from := greatest(gap_from, present.to_clock);
    END LOOP;
    IF gap_from < to_clock THEN
        gap_to := to_clock;
        RETURN NEXT;
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.missing_ranges(regclass, bigint, bigint) IS
'The parts of a clock range that no partition or packed day of the parent covers (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.missing_ranges(regclass, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.missing_ranges(regclass, bigint, bigint) TO PUBLIC;
