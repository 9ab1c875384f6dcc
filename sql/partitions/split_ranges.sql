-- sql/partitions/split_ranges.sql
CREATE FUNCTION zbxhist_internal.split_ranges(parent regclass, from_clock bigint, to_clock bigint)
RETURNS TABLE (piece_from bigint, piece_to bigint)
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE ROWS 24
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT p.*
      FROM zbxhist.parent_config c,
           LATERAL (SELECT least(zbxhist_internal.fine_until(c.partition_interval), split_ranges.to_clock) AS middle) m,
           LATERAL (SELECT * FROM zbxhist_internal.cut_range(split_ranges.from_clock, m.middle,
                                                    extract(epoch FROM c.partition_interval)::bigint)
                     UNION ALL
                    SELECT m.middle, split_ranges.to_clock WHERE m.middle < split_ranges.to_clock) p
     WHERE c.parent = split_ranges.parent
     ORDER BY p.piece_from
$$;

COMMENT ON FUNCTION zbxhist_internal.split_ranges(regclass, bigint, bigint) IS
'What a partition of a day to come is replaced by: shorter ones, and one for the rest if that is not due yet (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.split_ranges(regclass, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.split_ranges(regclass, bigint, bigint) TO PUBLIC;
