-- sql/partitions/cut_range.sql
CREATE FUNCTION zbxhist_internal.cut_range(from_clock bigint, to_clock bigint, seconds bigint)
RETURNS TABLE (piece_from bigint, piece_to bigint)
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE ROWS 24
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT greatest(g, cut_range.from_clock), least(g + seconds, cut_range.to_clock)
      FROM generate_series(floor(cut_range.from_clock::numeric / seconds)::bigint * seconds,
                           cut_range.to_clock - 1, seconds) g
$$;

COMMENT ON FUNCTION zbxhist_internal.cut_range(bigint, bigint, bigint) IS
'Cuts a range of clocks at the multiples of a number of seconds (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.cut_range(bigint, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.cut_range(bigint, bigint, bigint) TO PUBLIC;
