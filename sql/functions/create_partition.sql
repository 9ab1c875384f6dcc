-- sql/functions/create_partition.sql

CREATE FUNCTION zbxhist.create_partition(parent regclass, day date)
RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    policy  CONSTANT zbxhist.parent_config := zbxhist.require_parent(parent);
    moment  CONSTANT numeric := extract(epoch FROM day::timestamp);
    covered record;
    gap     record;
BEGIN
    IF moment NOT BETWEEN -2147483648 AND 2147483647 THEN
        RAISE EXCEPTION 'date is out of the range of a clock: %', day
            USING ERRCODE = 'datetime_field_overflow';
    END IF;
    -- one creator at a time, and what the one before us made is seen
    PERFORM pg_advisory_xact_lock(zbxhist.lock_class(), parent::oid::integer);
    covered := zbxhist.clock_range(policy.partition_interval, moment::bigint);
    FOR gap IN
        SELECT * FROM zbxhist.missing_ranges(parent, covered.from_clock, covered.to_clock)
    LOOP
        PERFORM zbxhist.create_range(parent, gap.gap_from, gap.gap_to);
    END LOOP;
    RETURN (SELECT p.partition FROM zbxhist.list_partitions(parent) p
             WHERE moment >= p.from_clock AND moment < p.to_clock
             LIMIT 1);
END
$$;

COMMENT ON FUNCTION zbxhist.create_partition(regclass, date) IS
'Creates the partition of a managed table in which a UTC day begins, if it is not there yet, and returns it';

REVOKE ALL ON FUNCTION zbxhist.create_partition(regclass, date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.create_partition(regclass, date) TO pg_database_owner;
