-- sql/partitions/ranges_of_day.sql
CREATE FUNCTION zbxhist_internal.ranges_of_day(parent regclass, day date)
RETURNS TABLE (relation regclass, from_clock bigint, to_clock bigint, is_packed boolean)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 24
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT r.*
      FROM zbxhist_internal.day_clock(day) AS moment,
           zbxhist_internal.list_ranges(parent) r
     WHERE r.from_clock < moment + 86400 AND r.to_clock > moment
     ORDER BY r.from_clock
$$;

COMMENT ON FUNCTION zbxhist_internal.ranges_of_day(regclass, date) IS
'The partitions and packed days in which clocks of a day lie (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.ranges_of_day(regclass, date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.ranges_of_day(regclass, date) TO PUBLIC;
