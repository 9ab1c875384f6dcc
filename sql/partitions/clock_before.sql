-- sql/partitions/clock_before.sql
CREATE FUNCTION zbxhist_internal.clock_before(age interval)
RETURNS bigint
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN floor(extract(epoch FROM to_timestamp(zbxhist_internal.current_clock()) AT TIME ZONE 'UTC' - age))::bigint;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.clock_before(interval) IS
'The clock of some time ago, by the calendar of UTC (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.clock_before(interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.clock_before(interval) TO PUBLIC;
