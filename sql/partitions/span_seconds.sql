-- sql/partitions/span_seconds.sql
--
-- Of partitions shorter than a day those of a whole day are made together, or
-- of that part of it that has at most 24.

CREATE FUNCTION zbxhist_internal.span_seconds(partition_interval interval)
RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT max(n * s.seconds)
      FROM (SELECT extract(epoch FROM partition_interval)::bigint AS seconds) s,
           generate_series(1, 24) n
     WHERE s.seconds < 86400 AND 86400 % (n * s.seconds) = 0
$$;

COMMENT ON FUNCTION zbxhist_internal.span_seconds(interval) IS
'Length of the time for which partitions that divide a day are made together; null for others (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.span_seconds(interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.span_seconds(interval) TO PUBLIC;
