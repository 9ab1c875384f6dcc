-- sql/migrate/bound_partition.sql

CREATE FUNCTION zbxhist_internal.bound_partition(parent regclass, partition regclass)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $$
BEGIN
    PERFORM zbxhist_internal.require_owner(parent);
    PERFORM zbxhist_internal.lock_with_patience(partition);
    -- pg_partman may have dropped it, or somebody else has done this
    IF EXISTS (SELECT FROM pg_inherits i, zbxhist.partition_bounds(i.inhrelid) b
                WHERE i.inhparent = parent AND i.inhrelid = partition AND b.from_clock IS NULL) THEN
        PERFORM zbxhist_internal.add_bounds(partition);
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.bound_partition(regclass, regclass) IS
'Gives a partition of a natively partitioned table the constraint zbxhist_clock, under a short lock, if it has not got it (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.bound_partition(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.bound_partition(regclass, regclass) TO pg_database_owner;
