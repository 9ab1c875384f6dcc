-- sql/packed/repack_limit.sql

CREATE FUNCTION zbxhist_internal.repack_limit()
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- the setting exists once the library is loaded
    PERFORM zbxhist.version();
    RETURN coalesce((SELECT setting::bigint * 1048576 FROM pg_settings
                      WHERE name = 'zbxhist.maintenance_repack_limit'), 0);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.repack_limit() IS
'Bytes of packed days of one table that maintenance writes anew in an hour, at most (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.repack_limit() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.repack_limit() TO PUBLIC;
