-- sql/migrate/exchange.sql

-- Adds the constraint zbxhist_clock to a partition of a natively partitioned table, if it lacks it.  Takes
-- ACCESS EXCLUSIVE on it for a moment.
CREATE FUNCTION zbxhist_internal.bound_partition(parent regclass, partition regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET lock_timeout = 0 AS $$
BEGIN
    PERFORM zbxhist_internal.require_owner(parent);
    PERFORM zbxhist_internal.lock_all_or_none(ARRAY[partition]);
    -- pg_partman may have dropped it, or another session has added the constraint
    IF EXISTS (SELECT FROM pg_inherits i, zbxhist.partition_bounds(i.inhrelid) b
                WHERE i.inhparent = parent AND i.inhrelid = partition AND b.from_clock IS NULL) THEN
        PERFORM zbxhist_internal.add_bounds(partition);
    END IF;
END
$$;

-- Begins to manage a table that has taken the place of another one.  The caller holds ACCESS EXCLUSIVE.
CREATE FUNCTION zbxhist_internal.begin_adopted(
    result regclass, policy zbxhist.parent_config, relation text, waited interval, message text) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM zbxhist_internal.verify_table(result);
    policy.parent := result;
    PERFORM zbxhist_internal.write_new_policy(policy);
    -- the user was told which rows are past retention, and has agreed
    PERFORM zbxhist_internal.agree_to_retention(policy);
    PERFORM zbxhist_internal.create_triggers(result);
    PERFORM zbxhist_internal.invalidate(result);
    INSERT INTO zbxhist.parent_state (parent) VALUES (result) ON CONFLICT DO NOTHING;
    PERFORM zbxhist_internal.log_action(result, 'adopt', relation, lock_wait => waited, message => message);
END
$$;

-- Replaces a natively partitioned table by a plain managed one, which inherits all partitions, and returns
-- it.  No row is rewritten.
-- Takes ACCESS EXCLUSIVE on the table and its partitions; all is done in one transaction, so a session that
-- waits for the table then finds the new one under its name.
CREATE FUNCTION zbxhist_internal.exchange_parent(native regclass) RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    schema  CONSTANT regnamespace := (SELECT k.relnamespace FROM pg_class k WHERE k.oid = native);
    policy  zbxhist.parent_config;
    taken   regclass[];
    item    record;
    result  regclass;
    waited  interval;
    locked  timestamptz;
BEGIN
    PERFORM pg_advisory_xact_lock(zbxhist_internal.lock_class(), native::oid::integer);
    PERFORM zbxhist_internal.verify_native(native);
    policy := zbxhist_internal.adoption_policy(native);
    -- the parent before its partitions, in the order in which all sessions lock them
    taken := ARRAY(SELECT p.partition FROM zbxhist_internal.native_partitions(native) p);
    waited := zbxhist_internal.lock_all_or_none(native || taken);
    locked := clock_timestamp();
    PERFORM zbxhist_internal.verify_native(native);
    -- partitions created meanwhile
    PERFORM zbxhist_internal.add_bounds(p.partition)
       FROM zbxhist_internal.native_partitions(native) p WHERE NOT p.is_bounded AND NOT p.is_default;
    -- it is empty; it must go first, because each DETACH of another partition changes its bounds
    PERFORM zbxhist_internal.execute_as_owner(native, format('DROP TABLE %s', p.partition))
       FROM zbxhist_internal.native_partitions(native) p WHERE p.is_default;
    taken := ARRAY(SELECT p.partition FROM zbxhist_internal.native_partitions(native) p ORDER BY p.from_clock);
    result := zbxhist_internal.create_like(native, schema, zbxhist_internal.free_name(schema, 'zbxhist_adopted'));
    FOR item IN
        SELECT t.partition, coalesce(', DROP CONSTRAINT ' || quote_ident(c.conname), '') AS needless
          FROM unnest(taken) WITH ORDINALITY t (partition, place)
          JOIN pg_class k ON k.oid = t.partition
          -- pg_partman's own constraint with the bounds: each INSERT would evaluate it
          LEFT JOIN pg_constraint c ON c.conrelid = k.oid AND c.contype = 'c' AND c.conislocal
                                   AND c.conname = left(k.relname, 47) || '_partition_check'
         ORDER BY t.place
    LOOP
        PERFORM zbxhist_internal.execute_as_owner(
            native, format('ALTER TABLE %s DETACH PARTITION %s', native, item.partition));
        PERFORM zbxhist_internal.execute_as_owner(
            native, format('ALTER TABLE %s INHERIT %s%s', item.partition, result, item.needless));
    END LOOP;
    PERFORM zbxhist_internal.take_place(native, result);
    PERFORM zbxhist_internal.refuse('55000', format('the bounds of the partitions of table %s cannot be read', result))
      WHERE taken <> ARRAY(SELECT p.partition FROM zbxhist.list_partitions(result) p ORDER BY p.from_clock);
    PERFORM zbxhist_internal.begin_adopted(result, policy, NULL, waited,
        format('%s partitions, locked for %s ms', cardinality(taken), ceil(extract(epoch FROM clock_timestamp() - locked) * 1000)));
    RETURN result;
END
$$;
