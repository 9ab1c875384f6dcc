-- sql/setup/adopt.sql

CREATE FUNCTION zbxhist_internal.adopt(policy zbxhist.parent_config)
RETURNS integer
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    today CONSTANT bigint := zbxhist_internal.current_clock() / 86400 * 86400;
    made  integer := 0;
    gap   record;
BEGIN
    PERFORM zbxhist_internal.verify_policy(policy);
    PERFORM zbxhist_internal.verify_table(policy.parent);
    PERFORM pg_advisory_xact_lock(zbxhist_internal.lock_class(), policy.parent::oid::integer);
    PERFORM zbxhist_internal.write_new_policy(policy);
    -- each is some entries in the server's table of locks until this transaction
    -- ends, in setup those of all tables; maintenance creates the others one by one
    FOR gap IN
        -- of hours, the first has no other before it: late values of today come, too
        SELECT m.gap_from AS from_clock, m.gap_to AS to_clock, 2 AS rank
          FROM zbxhist_internal.clock_range(policy.partition_interval, zbxhist_internal.current_clock()) c,
               zbxhist_internal.missing_ranges(policy.parent, today, c.from_clock) m
         UNION ALL
        SELECT w.from_clock, w.to_clock, CASE WHEN w.from_clock <= zbxhist_internal.current_clock() THEN 1 ELSE 3 END
          FROM zbxhist_internal.wanted_ranges(policy) w
         ORDER BY rank, from_clock LIMIT least(25, zbxhist_internal.most_partitions() / 12)
    LOOP
        PERFORM zbxhist_internal.create_place(policy.parent, gap.from_clock, gap.to_clock);
        made := made + 1;
    END LOOP;
    RETURN made;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.adopt(zbxhist.parent_config) IS
'Writes the policy of a new managed table and creates its first partitions; the triggers are left to attach_triggers (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.adopt(zbxhist.parent_config) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.adopt(zbxhist.parent_config) TO pg_database_owner;
