-- sql/parent_rows/waiting_partitions.sql

CREATE FUNCTION zbxhist_internal.waiting_partitions(parent regclass)
RETURNS SETOF regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    bounds record;
    oldest bigint;
    newest bigint;
BEGIN
    IF zbxhist_internal.own_pages(parent) = 0 THEN
        RETURN;
    END IF;
    SELECT min(p.from_clock) AS from_clock, max(p.to_clock) AS to_clock INTO bounds
      FROM zbxhist.list_partitions(parent) p;
    newest := zbxhist_internal.waiting_clock(parent, bounds.from_clock, bounds.to_clock, true);
    IF newest IS NULL THEN
        RETURN;
    END IF;
    oldest := zbxhist_internal.waiting_clock(parent, bounds.from_clock, newest + 1, false);
    RETURN QUERY
        SELECT p.partition
          FROM zbxhist.list_partitions(parent) p
         WHERE p.to_clock > oldest AND p.from_clock <= newest
           AND NOT EXISTS (SELECT FROM zbxhist.packed_day d
                            WHERE d.partition = p.partition AND NOT d.unpacked)
           AND zbxhist_internal.own_column(parent, p.partition) IS NULL
         ORDER BY p.from_clock DESC;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.waiting_partitions(regclass) IS
'The partitions whose rows may wait in the parent, newest first (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.waiting_partitions(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.waiting_partitions(regclass) TO PUBLIC;
