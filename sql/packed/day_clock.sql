-- sql/packed/day_clock.sql

CREATE FUNCTION zbxhist_internal.day_clock(day date)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    moment numeric;
BEGIN
    IF day IS NULL THEN
        RAISE EXCEPTION 'day must not be null'
            USING ERRCODE = 'null_value_not_allowed';
    END IF;
    moment := extract(epoch FROM day::timestamp);
    IF moment NOT BETWEEN -2147483648 AND 2147483647 THEN
        RAISE EXCEPTION 'date is out of the range of a clock: %', day
            USING ERRCODE = 'datetime_field_overflow';
    END IF;
    RETURN moment;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.day_clock(date) IS
'The clock at which a UTC day begins; raises an error if there is none (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.day_clock(date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.day_clock(date) TO PUBLIC;
