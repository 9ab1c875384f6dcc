-- sql/partitions/create_partition.sql

CREATE FUNCTION zbxhist.create_partition(parent regclass, day date)
RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    policy  CONSTANT zbxhist.parent_config := zbxhist_internal.require_parent(parent);
    moment  CONSTANT bigint := zbxhist_internal.day_clock(day);
    covered record;
    gap     record;
BEGIN
    -- one creator at a time, and what the one before us made is seen
    PERFORM pg_advisory_xact_lock(zbxhist_internal.lock_class(), parent::oid::integer);
    covered := zbxhist_internal.clock_range(zbxhist_internal.coarse_interval(policy.partition_interval), moment);
    FOR gap IN
        SELECT * FROM zbxhist_internal.missing_ranges(parent, covered.from_clock, covered.to_clock)
    LOOP
        PERFORM zbxhist_internal.create_range(parent, gap.gap_from, gap.gap_to);
    END LOOP;
    RETURN (SELECT r.relation FROM zbxhist_internal.list_ranges(parent) r
             WHERE moment >= r.from_clock AND moment < r.to_clock
             ORDER BY r.is_packed LIMIT 1);
END
$$;

COMMENT ON FUNCTION zbxhist.create_partition(regclass, date) IS
'Creates a partition of a managed table for a UTC day, or what is missing of one, and returns that in which the day begins, or its table if it is packed';

REVOKE ALL ON FUNCTION zbxhist.create_partition(regclass, date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.create_partition(regclass, date) TO pg_database_owner;
