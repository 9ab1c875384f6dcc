-- sql/migrate/plan_import.sql
--
-- Clocks that are no time to have values of, such as 0, are not gone through day
-- by day: what is older than ten years is one slice, and what is of days to come.

CREATE FUNCTION zbxhist_internal.plan_import(source regclass, parent regclass)
RETURNS SETOF zbxhist.import_slice
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    WITH RECURSIVE block AS MATERIALIZED (SELECT * FROM zbxhist_internal.source_blocks(source, parent)),
    whole AS (
        SELECT min(b.low) AS low, max(b.high) AS high, p.length,
               (zbxhist_internal.clock_range(p.length, zbxhist_internal.current_clock() - 3650 * 86400)).from_clock AS floor,
               (zbxhist_internal.clock_range(p.length, zbxhist_internal.current_clock() + 86400)).to_clock AS ceiling
          FROM block b,
               (SELECT zbxhist_internal.coarse_interval(c.partition_interval) AS length
                  FROM zbxhist.parent_config c WHERE c.parent = plan_import.parent) p
         GROUP BY p.length),
    slice AS (
        SELECT r.from_clock, r.to_clock, w.length, least(w.high, w.ceiling - 1) AS last
          FROM whole w, zbxhist_internal.clock_range(w.length, greatest(w.low, w.floor)) r
         WHERE w.high >= w.floor AND w.low < w.ceiling
        UNION ALL
        SELECT r.from_clock, r.to_clock, s.length, s.last
          FROM slice s, zbxhist_internal.clock_range(s.length, s.to_clock) r
         WHERE s.to_clock <= s.last),
    every AS (
        SELECT s.from_clock, s.to_clock FROM slice s
         UNION ALL
        SELECT w.low, least(w.high + 1, w.floor) FROM whole w WHERE w.low < w.floor
         UNION ALL
        SELECT greatest(w.low, w.ceiling), w.high + 1 FROM whole w WHERE w.high >= w.ceiling)
    SELECT plan_import.parent, plan_import.source, s.from_clock, s.to_clock,
           array_agg(b.first_block ORDER BY b.first_block) FILTER (WHERE b.end_block IS NOT NULL),
           array_agg(b.end_block ORDER BY b.first_block) FILTER (WHERE b.end_block IS NOT NULL),
           NULL::bigint, NULL::bigint, NULL::bigint, NULL::timestamptz, NULL::timestamptz, NULL::integer, NULL::timestamptz
      FROM every s
      JOIN block b ON b.low < s.to_clock AND b.high >= s.from_clock
     GROUP BY s.from_clock, s.to_clock
     ORDER BY s.from_clock
$$;

COMMENT ON FUNCTION zbxhist_internal.plan_import(regclass, regclass) IS
'The slices in which a table is imported: days, or months, that it may have rows of (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.plan_import(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.plan_import(regclass, regclass) TO pg_database_owner;
