-- sql/partitions/clock_range.sql
--
-- Ranges of days, hours and minutes are multiples of the interval counted
-- from 1970-01-01 00:00 UTC; ranges of months are counted from January 1970.
-- No time zone is looked at: timestamps here are without one, in UTC.

CREATE FUNCTION zbxhist_internal.clock_range(
    partition_interval interval,
    clock bigint,
    OUT from_clock bigint,
    OUT to_clock bigint)
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    epoch  CONSTANT timestamp := '1970-01-01';
    months CONSTANT integer := extract(year FROM partition_interval) * 12
                               + extract(month FROM partition_interval);
    seconds bigint;
    moment  timestamp;
    ordinal integer;
BEGIN
    IF months > 0 THEN
        moment := epoch + make_interval(secs => clock);
        ordinal := (extract(year FROM moment) - 1970) * 12 + extract(month FROM moment) - 1;
        ordinal := floor(ordinal::numeric / months) * months;
        from_clock := extract(epoch FROM epoch + make_interval(months => ordinal));
        to_clock := extract(epoch FROM epoch + make_interval(months => ordinal + months));
    ELSE
        seconds := extract(epoch FROM partition_interval);
        from_clock := floor(clock::numeric / seconds) * seconds;
        to_clock := from_clock + seconds;
    END IF;
    -- beyond the range of an integer the bound is open
    from_clock := greatest(from_clock, -2147483648);
    to_clock := least(to_clock, 2147483648);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.clock_range(interval, bigint) IS
'The partition range, from included, to excluded, in which a clock lies (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.clock_range(interval, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.clock_range(interval, bigint) TO PUBLIC;
