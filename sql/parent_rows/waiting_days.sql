-- sql/parent_rows/waiting_days.sql
--
-- In a parent of more than 1 GB, whose rows from before the set-up may be millions
-- of items, one look in an hour is enough: late rows can be read where they are.
-- To merge a few rows of many items is to write the whole day, so when that has
-- been done it is not done again before some hours have gone by, or there are
-- many.

CREATE FUNCTION zbxhist_internal.waiting_days(parent regclass)
RETURNS SETOF regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    bounds record;
    oldest bigint;
    newest bigint;
BEGIN
    SELECT min(d.from_clock) AS from_clock, max(d.to_clock) AS to_clock INTO bounds
      FROM zbxhist.packed_day d WHERE d.parent = waiting_days.parent;
    IF bounds.from_clock IS NULL OR zbxhist_internal.own_pages(parent) = 0
       OR zbxhist_internal.own_pages(parent) > 131072
          AND EXISTS (SELECT FROM zbxhist.parent_state s
                       WHERE s.parent = waiting_days.parent
                         AND s.merged_at > clock_timestamp() - interval '1 hour') THEN
        RETURN;
    END IF;
    newest := zbxhist_internal.waiting_clock(parent, bounds.from_clock, bounds.to_clock, true);
    IF newest IS NULL THEN
        RETURN;
    END IF;
    oldest := zbxhist_internal.waiting_clock(parent, bounds.from_clock, newest + 1, false);
    RETURN QUERY
        SELECT d.day
          FROM zbxhist.packed_day d
         WHERE d.parent = waiting_days.parent AND d.partition IS NULL AND NOT d.runs
           AND d.to_clock > oldest AND d.from_clock <= newest
           AND (coalesce(d.merged_at < clock_timestamp() - interval '6 hours', true)
                OR coalesce(zbxhist_internal.count_waiting(waiting_days.parent, d.from_clock, d.to_clock)
                            >= d.nrows / 10,
                            d.merged_at < clock_timestamp() - interval '1 hour'))
           AND zbxhist_internal.waiting_clock(waiting_days.parent, d.from_clock, d.to_clock, true) IS NOT NULL
         ORDER BY d.from_clock DESC;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.waiting_days(regclass) IS
'The packed days whose rows wait in the parent and are to be merged now, newest first (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.waiting_days(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.waiting_days(regclass) TO PUBLIC;
