-- sql/packed/wasteful_days.sql
--
-- What a day needs is judged, without a look into it, by what its values took
-- when it was written last.  Of one that was written by an older version, or
-- has twice the values by now, that says nothing: it is judged by other days.
-- A guess that is wrong costs one repack, after which it is right.

CREATE FUNCTION zbxhist_internal.wasteful_days(parent regclass)
RETURNS TABLE (day regclass, bytes bigint, wasted bigint)
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
    WITH days AS (
        SELECT d.day, d.nrows, d.repacked_at, zbxhist_internal.day_bytes(d.day) AS bytes,
               d.packed_bytes::float8 / nullif(d.packed_rows, 0) AS row_bytes,
               d.packed_rows >= d.nrows / 2 AS is_known
          FROM zbxhist.packed_day d
         WHERE d.parent = wasteful_days.parent AND d.partition IS NULL AND NOT d.runs),
    usual AS (
        SELECT percentile_disc(0.25) WITHIN GROUP (ORDER BY d.bytes::float8 / d.nrows) AS row_bytes
          FROM days d WHERE d.nrows > 0)
    SELECT d.day, d.bytes, d.bytes - n.needed
      FROM days d
     CROSS JOIN usual u
     CROSS JOIN LATERAL (
           SELECT CASE WHEN d.nrows = 0 THEN 0
                       ELSE (d.nrows * CASE WHEN d.is_known THEN d.row_bytes
                                            ELSE least(d.row_bytes, u.row_bytes) END)::bigint
                  END AS needed) n
     WHERE d.bytes - n.needed >= greatest(d.bytes / 4, 131072)
       AND (d.repacked_at IS NULL OR d.repacked_at < clock_timestamp() - interval '6 hours')
     ORDER BY d.bytes - n.needed DESC
$$;

COMMENT ON FUNCTION zbxhist_internal.wasteful_days(regclass) IS
'The packed days that take a third more than they need, with their bytes and those wasted, worst first (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.wasteful_days(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.wasteful_days(regclass) TO PUBLIC;
