-- sql/packed/verify_interval.sql

CREATE FUNCTION zbxhist_internal.verify_interval()
RETURNS interval
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- the setting exists once the library is loaded
    PERFORM zbxhist.version();
    RETURN coalesce(current_setting('zbxhist.verify_interval', true), '30d')::interval;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.verify_interval() IS
'In what time maintenance looks through all packed days; zero: never (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.verify_interval() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.verify_interval() TO PUBLIC;
