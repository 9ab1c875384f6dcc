-- sql/partitions/current_clock.sql

CREATE FUNCTION zbxhist_internal.current_clock()
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN floor(extract(epoch FROM clock_timestamp()))::bigint;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.current_clock() IS
'The present moment in the unit of Zabbix: seconds since 1970-01-01 UTC (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.current_clock() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.current_clock() TO PUBLIC;
