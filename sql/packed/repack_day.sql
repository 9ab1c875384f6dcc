-- sql/packed/repack_day.sql

CREATE FUNCTION zbxhist_internal.repack_day(parent regclass, day regclass)
RETURNS text
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT zbxhist_internal.rewrite_days(parent, 'repack', ARRAY[day])
$$;

COMMENT ON FUNCTION zbxhist_internal.repack_day(regclass, regclass) IS
'Writes a packed day anew, or does what has to be done before: more, call again; wait, call again later (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.repack_day(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.repack_day(regclass, regclass) TO pg_database_owner;
