-- sql/check/format_day.sql

CREATE FUNCTION zbxhist_internal.format_day(clock bigint)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT to_char(to_timestamp(clock) AT TIME ZONE 'UTC', 'YYYY-MM-DD')
$$;

COMMENT ON FUNCTION zbxhist_internal.format_day(bigint) IS
'The UTC day of a clock, as pack and unpack want it (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.format_day(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.format_day(bigint) TO PUBLIC;
