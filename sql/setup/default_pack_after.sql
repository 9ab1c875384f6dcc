-- sql/setup/default_pack_after.sql
CREATE FUNCTION zbxhist_internal.default_pack_after(partition_interval interval)
RETURNS interval
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN partition_interval < interval '1 day' THEN interval '1 hour' ELSE interval '1 day' END
$$;

COMMENT ON FUNCTION zbxhist_internal.default_pack_after(interval) IS
'How long after its end setup has a partition of some length packed, if nobody says otherwise (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.default_pack_after(interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.default_pack_after(interval) TO PUBLIC;
