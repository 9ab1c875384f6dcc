-- sql/zabbix/parse_period.sql
--
-- Two hundred years are the limit of verify_policy, too: what is longer may be
-- more than an interval, or a timestamp less that, can be.

CREATE FUNCTION zbxhist_internal.parse_period(period text)
RETURNS interval
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    parts   CONSTANT text[] := regexp_match(btrim(period), '^0*([0-9]{1,12})([smhdw]?)$');
    seconds CONSTANT bigint := parts[1]::bigint
                               * CASE parts[2] WHEN 'm' THEN 60 WHEN 'h' THEN 3600 WHEN 'd' THEN 86400
                                               WHEN 'w' THEN 604800 ELSE 1 END;
BEGIN
    RETURN CASE WHEN seconds <= 200 * 366 * 86400::bigint THEN make_interval(secs => seconds) END;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.parse_period(text) IS
'A period as Zabbix writes it (90, 3600s, 12h, 31d, 1w) as an interval; NULL if it is not one (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.parse_period(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.parse_period(text) TO PUBLIC;
