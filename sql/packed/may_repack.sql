-- sql/packed/may_repack.sql
--
-- Each day that is repacked moves the time when the next one may be, so that
-- in the long run it is no more than the setting allows, even if a single day
-- is.  What was not used lately, up to an hour's, may be used at once.

CREATE FUNCTION zbxhist_internal.may_repack(parent regclass)
RETURNS boolean
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN zbxhist_internal.repack_limit() > 0
       AND NOT EXISTS (SELECT FROM zbxhist.parent_state s
                        WHERE s.parent = may_repack.parent AND s.repack_after > clock_timestamp());
END
$$;

COMMENT ON FUNCTION zbxhist_internal.may_repack(regclass) IS
'Whether a day of a managed table may be repacked now by zbxhist.maintenance_repack_limit (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.may_repack(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.may_repack(regclass) TO PUBLIC;
