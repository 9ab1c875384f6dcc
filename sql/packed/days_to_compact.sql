-- sql/packed/days_to_compact.sql
--
-- A part of a day that is larger than the limit is compacted alone.

CREATE FUNCTION zbxhist_internal.days_to_compact(parent regclass)
RETURNS SETOF regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- the setting exists once the library is loaded
    PERFORM zbxhist.version();
    RETURN QUERY
        SELECT c.days[1]
          FROM (SELECT d.*, coalesce(sum(d.bytes) OVER (ORDER BY d.from_clock DESC
                                     ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
                  FROM zbxhist_internal.compactable_days(parent) d) c
          JOIN pg_settings s ON s.name = 'zbxhist.maintenance_compact_limit'
         WHERE c.before < s.setting::bigint * 1048576
         ORDER BY c.from_clock DESC;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.days_to_compact(regclass) IS
'The first tables of those parts of days that one run of maintenance makes one each, by zbxhist.maintenance_compact_limit (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.days_to_compact(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.days_to_compact(regclass) TO PUBLIC;
