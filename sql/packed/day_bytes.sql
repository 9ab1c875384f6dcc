-- sql/packed/day_bytes.sql
--
-- Without indexes and maps: what VACUUM adds to a small day is no waste.

CREATE FUNCTION zbxhist_internal.day_bytes(day regclass)
RETURNS bigint
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(pg_relation_size(k.oid), 0)
         + coalesce(pg_relation_size(nullif(k.reltoastrelid, 0)), 0)
      FROM pg_class k WHERE k.oid = day
$$;

COMMENT ON FUNCTION zbxhist_internal.day_bytes(regclass) IS
'Disk space of the values of a packed day (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.day_bytes(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.day_bytes(regclass) TO PUBLIC;
