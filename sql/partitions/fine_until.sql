-- sql/partitions/fine_until.sql
--
-- Half a day ahead at least, if that is not more than a span.

CREATE FUNCTION zbxhist_internal.fine_until(partition_interval interval)
RETURNS bigint
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ((zbxhist_internal.current_clock() + least(s, 43200)) / s + 1) * s
      FROM zbxhist_internal.span_seconds(partition_interval) s
     WHERE s IS NOT NULL
$$;

COMMENT ON FUNCTION zbxhist_internal.fine_until(interval) IS
'Until when partitions shorter than a day are made in advance, and whole days after that; null for longer ones (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.fine_until(interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.fine_until(interval) TO PUBLIC;
