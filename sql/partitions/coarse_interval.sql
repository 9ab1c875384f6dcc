-- sql/partitions/coarse_interval.sql
--
-- Of a day that is over there is no hot hour: one partition of it is made and
-- packed sooner than 24.

CREATE FUNCTION zbxhist_internal.coarse_interval(partition_interval interval)
RETURNS interval
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN zbxhist_internal.span_seconds(partition_interval) IS NULL
                THEN partition_interval ELSE interval '1 day' END
$$;

COMMENT ON FUNCTION zbxhist_internal.coarse_interval(interval) IS
'How long partitions are that are made for the past, or for days ahead (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.coarse_interval(interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.coarse_interval(interval) TO PUBLIC;
