-- sql/migrate/add_checksums.sql
--
-- As in src/packed/jobs/query_rows.c, without an overflow.

CREATE FUNCTION zbxhist_internal.add_checksums(one bigint, other bigint)
RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT (coalesce(one, 0) + coalesce(other, 0)) & ((1::bigint << 62) - 1)
$$;

COMMENT ON FUNCTION zbxhist_internal.add_checksums(bigint, bigint) IS
'The checksum of two sets of rows together (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.add_checksums(bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.add_checksums(bigint, bigint) TO PUBLIC;
