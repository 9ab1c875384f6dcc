-- sql/check/format_time.sql

CREATE FUNCTION zbxhist_internal.format_time(moment timestamptz)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') || ' UTC'
$$;

COMMENT ON FUNCTION zbxhist_internal.format_time(timestamptz) IS
'A time in words, the same for every setting of the session (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.format_time(timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.format_time(timestamptz) TO PUBLIC;
