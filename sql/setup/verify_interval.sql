-- sql/setup/verify_interval.sql

CREATE FUNCTION zbxhist_internal.verify_interval(partition_interval interval)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    months  numeric := extract(year FROM partition_interval) * 12
                       + extract(month FROM partition_interval);
    seconds numeric := extract(epoch FROM partition_interval
                       - make_interval(months => months::integer));
BEGIN
    IF partition_interval IS NULL OR months < 0 OR seconds < 0
       OR (months = 0 AND seconds = 0) THEN
        RAISE EXCEPTION 'partition interval must be greater than zero'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF months > 0 AND seconds > 0 THEN
        RAISE EXCEPTION 'partition interval cannot mix months with days or hours'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Use for example ''1 day'' or ''1 month''.';
    END IF;
    IF seconds % 60 <> 0 THEN
        RAISE EXCEPTION 'partition interval must be a whole number of minutes'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF seconds > 0 AND (86400 % seconds <> 0 AND seconds % 86400 <> 0) THEN
        RAISE EXCEPTION 'partition interval must divide a day, or be a number of days'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Use for example ''1 hour'', ''6 hours'', ''1 day'' or ''1 month''.';
    END IF;
    IF months > 1200 OR seconds > 86400::bigint * 36525 THEN
        RAISE EXCEPTION 'partition interval is too long'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.verify_interval(interval) IS
'Raises an error unless the interval can be that of a partition (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.verify_interval(interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.verify_interval(interval) TO PUBLIC;
