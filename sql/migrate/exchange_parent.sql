-- sql/migrate/exchange_parent.sql
--
-- In one transaction: whoever waits for the table finds the new one under its
-- name, with all partitions, and nothing is written anew.

CREATE FUNCTION zbxhist_internal.exchange_parent(native regclass)
RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    locked  timestamptz;
    is_partmans CONSTANT boolean := (zbxhist_internal.partman_entry(native)).config IS NOT NULL;
    policy  zbxhist.parent_config;
    taken   regclass[];
    item    record;
    result  regclass;
    waited  interval;
BEGIN
    PERFORM pg_advisory_xact_lock(zbxhist_internal.lock_class(), native::oid::integer);
    PERFORM zbxhist_internal.verify_native(native);
    policy := zbxhist_internal.adoption_policy(native);
    PERFORM zbxhist_internal.leave_partman(native);
    waited := zbxhist_internal.lock_native(native);
    locked := clock_timestamp();
    PERFORM zbxhist_internal.verify_native(native);
    -- those that were made meanwhile
    PERFORM zbxhist_internal.add_bounds(p.partition)
       FROM zbxhist_internal.native_partitions(native) p WHERE NOT p.is_bounded AND NOT p.is_default;
    taken := ARRAY(SELECT p.partition FROM zbxhist_internal.native_partitions(native) p
                    WHERE NOT p.is_default ORDER BY p.from_clock);
    -- the default one first: each that is detached before changes its bounds
    SELECT zbxhist_internal.release_default(native, p.partition) INTO result
      FROM zbxhist_internal.native_partitions(native) p WHERE p.is_default;
    result := coalesce(result, zbxhist_internal.new_plain_table(native));
    PERFORM zbxhist_internal.clone_columns(native, result);
    PERFORM zbxhist_internal.clone_grants(native, result);
    FOR item IN
        SELECT t.partition, coalesce(string_agg(', DROP CONSTRAINT ' || quote_ident(c.conname), ''), '') AS needless
          FROM unnest(taken) WITH ORDINALITY t (partition, place)
          JOIN pg_class k ON k.oid = t.partition
          -- what pg_partman adds to say the bounds in its words: each INSERT would evaluate it
          LEFT JOIN pg_constraint c ON c.conrelid = k.oid AND c.contype = 'c' AND c.conislocal AND is_partmans
                                   AND c.conname = left(k.relname, 47) || '_partition_check'
         GROUP BY t.partition, t.place
         ORDER BY t.place
    LOOP
        PERFORM zbxhist_internal.execute_as_owner(
            native, format('ALTER TABLE %s DETACH PARTITION %s', native, item.partition));
        PERFORM zbxhist_internal.execute_as_owner(
            native, format('ALTER TABLE %s INHERIT %s%s', item.partition, result, item.needless));
    END LOOP;
    IF EXISTS (SELECT FROM zbxhist_internal.missing_indexes(native, result)) THEN
        RAISE EXCEPTION 'default partition % has not all indexes of table %', result, native
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    PERFORM zbxhist_internal.take_place(native, result);
    PERFORM zbxhist_internal.verify_table(result);
    IF taken <> ARRAY(SELECT p.partition FROM zbxhist.list_partitions(result) p ORDER BY p.from_clock) THEN
        RAISE EXCEPTION 'the bounds of the partitions of table % cannot be read', result
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    policy.parent := result;
    PERFORM zbxhist_internal.write_new_policy(policy);
    PERFORM zbxhist_internal.create_triggers(result);
    PERFORM zbxhist_internal.invalidate(result);
    PERFORM zbxhist_internal.step_begin(result);
    PERFORM zbxhist_internal.log_action(result, 'adopt', NULL, NULL, NULL, started, waited, NULL,
                                        format('%s partitions, locked for %s ms', cardinality(taken),
                                               ceil(extract(epoch FROM clock_timestamp() - locked) * 1000)));
    RETURN result;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.exchange_parent(regclass) IS
'Puts a plain managed table in the place of a natively partitioned one, whose partitions it takes over, and returns it (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.exchange_parent(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.exchange_parent(regclass) TO pg_database_owner;
