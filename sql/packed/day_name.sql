-- sql/packed/day_name.sql

CREATE FUNCTION zbxhist_internal.day_name(partition regclass)
RETURNS name
LANGUAGE sql VOLATILE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT zbxhist_internal.free_name('zbxhist_packed'::regnamespace, k.relname) FROM pg_class k WHERE k.oid = partition
$$;

COMMENT ON FUNCTION zbxhist_internal.day_name(regclass) IS
'A free name in schema zbxhist_packed for the table of a partition that is packed (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.day_name(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.day_name(regclass) TO PUBLIC;
