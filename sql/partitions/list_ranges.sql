-- sql/partitions/list_ranges.sql

CREATE FUNCTION zbxhist_internal.list_ranges(parent regclass)
RETURNS TABLE (relation regclass, from_clock bigint, to_clock bigint, is_packed boolean)
LANGUAGE sql STABLE STRICT PARALLEL SAFE ROWS 30
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT p.partition, p.from_clock, p.to_clock, false
      FROM zbxhist.list_partitions(parent) p
     UNION ALL
    SELECT d.day, d.from_clock, d.to_clock, true
      FROM zbxhist.packed_day d
     WHERE d.parent = list_ranges.parent
$$;

COMMENT ON FUNCTION zbxhist_internal.list_ranges(regclass) IS
'The clock ranges of a managed table''s partitions and packed days (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.list_ranges(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.list_ranges(regclass) TO PUBLIC;
