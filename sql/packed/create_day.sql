-- sql/packed/create_day.sql

CREATE FUNCTION zbxhist_internal.create_day(parent regclass, partition regclass)
RETURNS regclass
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT zbxhist_internal.create_day_of_range(parent, k.relname, b.from_clock, b.to_clock, k.relpersistence)
      FROM pg_class k, zbxhist.partition_bounds(partition) b
     WHERE k.oid = partition
$$;

COMMENT ON FUNCTION zbxhist_internal.create_day(regclass, regclass) IS
'Creates the empty table of a packed day (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.create_day(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.create_day(regclass, regclass) TO pg_database_owner;
