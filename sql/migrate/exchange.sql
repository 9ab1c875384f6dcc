-- sql/migrate/exchange.sql

-- Gives a partition of a natively partitioned table the constraint zbxhist_clock, under a short
-- lock, if it has not got it.
CREATE FUNCTION zbxhist_internal.bound_partition(parent regclass, partition regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET lock_timeout = 0 AS $$
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

-- Creates a plain table with the columns, defaults, constraints and indexes of a natively
-- partitioned one.
-- Created by the owner: what its columns and indexes evaluate is the owner's code.
CREATE FUNCTION zbxhist_internal.new_plain_table(native regclass) RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET default_tablespace = ''
SET client_min_messages = warning AS $$
DECLARE
    source   record;
    new_name CONSTANT name := format('zbxhist_adopted_%s', native::oid);
BEGIN
    SELECT n.nspname, k.relnamespace, k.relpersistence, t.spcname INTO source
      FROM pg_class k
      JOIN pg_namespace n ON n.oid = k.relnamespace
      LEFT JOIN pg_tablespace t ON t.oid = k.reltablespace
     WHERE k.oid = native;
    PERFORM zbxhist_internal.execute_as_owner(native, format(
        'CREATE %sTABLE %I.%I (LIKE %s INCLUDING ALL)%s',
        CASE WHEN source.relpersistence = 'u' THEN 'UNLOGGED ' ELSE '' END,
        source.nspname, new_name, native,
        coalesce(' TABLESPACE ' || quote_ident(source.spcname), '')));
    RETURN (SELECT k.oid::regclass FROM pg_class k
             WHERE k.relnamespace = source.relnamespace AND k.relname = new_name);
END
$$;

-- Drops a partitioned table that has no partitions any more, or renames it, and gives its names to
-- a plain one.
-- Names of indexes, too: those of Zabbix are known to its upgrades.
CREATE FUNCTION zbxhist_internal.take_place(native regclass, new_table regclass, former_name name DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    old_name CONSTANT name := (SELECT k.relname FROM pg_class k WHERE k.oid = native);
    comment  CONSTANT text := obj_description(native, 'pg_class');
    indexes  CONSTANT name[] := ARRAY(SELECT k.relname FROM pg_index x JOIN pg_class k ON k.oid = x.indexrelid
                                       WHERE x.indrelid = native ORDER BY x.indexrelid);
    formers  CONSTANT text[] := ARRAY(SELECT zbxhist_internal.describe_index(x.indexrelid) FROM pg_index x
                                       WHERE x.indrelid = native ORDER BY x.indexrelid);
    copy     regclass;
BEGIN
    IF former_name IS NULL THEN
        PERFORM zbxhist_internal.execute_as_owner(native, format('DROP TABLE %s', native));
    ELSE
        PERFORM zbxhist_internal.execute_as_owner(native, format(
                    'ALTER INDEX %s RENAME TO %I', k.oid::regclass,
                    zbxhist_internal.free_name(k.relnamespace, k.relname, '_old')))
           FROM pg_index x JOIN pg_class k ON k.oid = x.indexrelid WHERE x.indrelid = native;
        PERFORM zbxhist_internal.execute_as_owner(native, format('ALTER TABLE %s RENAME TO %I', native, former_name));
    END IF;
    PERFORM zbxhist_internal.execute_as_owner(
        new_table, format('ALTER TABLE %s RENAME TO %I', new_table, old_name));
    IF comment IS NOT NULL THEN
        PERFORM zbxhist_internal.execute_as_owner(
            new_table, format('COMMENT ON TABLE %s IS %L', new_table, comment));
    END IF;
    FOR i IN 1 .. cardinality(indexes) LOOP
        SELECT x.indexrelid::regclass INTO copy
          FROM pg_index x JOIN pg_class k ON k.oid = x.indexrelid
         WHERE x.indrelid = new_table AND k.relname <> ALL (indexes)
           AND zbxhist_internal.describe_index(x.indexrelid) = formers[i]
         LIMIT 1;
        IF FOUND THEN
            PERFORM zbxhist_internal.execute_as_owner(
                new_table, format('ALTER INDEX %s RENAME TO %I', copy, indexes[i]));
        END IF;
    END LOOP;
END
$$;

-- Has a table managed that has taken the place of another one, which is still locked.
CREATE FUNCTION zbxhist_internal.begin_adopted(
    result regclass, policy zbxhist.parent_config, relation text, waited interval, message text) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM zbxhist_internal.verify_table(result);
    policy.parent := result;
    PERFORM zbxhist_internal.write_new_policy(policy);
    -- what of its rows is past retention has been told, and agreed to
    PERFORM zbxhist_internal.agree_to_retention(policy);
    PERFORM zbxhist_internal.create_triggers(result);
    PERFORM zbxhist_internal.invalidate(result);
    INSERT INTO zbxhist.parent_state (parent) VALUES (result) ON CONFLICT DO NOTHING;
    PERFORM zbxhist_internal.log_action(result, 'adopt', relation, lock_wait => waited, message => message);
END
$$;

-- Puts a plain managed table in the place of a natively partitioned one, whose partitions it takes
-- over, and returns it.
-- In one transaction: a session that waits for the table finds the new one under its
-- name, with all partitions, and nothing is written anew.
CREATE FUNCTION zbxhist_internal.exchange_parent(native regclass) RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
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
    -- the parent before its partitions, as everybody locks them
    taken := ARRAY(SELECT p.partition FROM zbxhist_internal.native_partitions(native) p);
    waited := zbxhist_internal.lock_together(taken || native, native || taken, 'ACCESS EXCLUSIVE',
        'A long transaction is using it.  Repeat the call when that has ended.');
    locked := clock_timestamp();
    PERFORM zbxhist_internal.verify_native(native);
    -- those that were made meanwhile
    PERFORM zbxhist_internal.add_bounds(p.partition)
       FROM zbxhist_internal.native_partitions(native) p WHERE NOT p.is_bounded AND NOT p.is_default;
    taken := ARRAY(SELECT p.partition FROM zbxhist_internal.native_partitions(native) p
                    WHERE NOT p.is_default ORDER BY p.from_clock);
    -- the default one first: each that is detached before changes its bounds
    SELECT p.partition INTO result FROM zbxhist_internal.native_partitions(native) p WHERE p.is_default;
    IF FOUND THEN
        PERFORM zbxhist_internal.execute_as_owner(native, format('ALTER TABLE %s DETACH PARTITION %s', native, result));
        IF NOT zbxhist_internal.has_own_rows(result, NULL) THEN
            PERFORM zbxhist_internal.execute_as_owner(native, format('DROP TABLE %s', result));
            result := NULL;
        END IF;
    END IF;
    -- one that holds rows is a plain table with all that a parent needs: it becomes the parent,
    -- and its rows are that one's own.  It may have other defaults, or its columns in another order
    FOR item IN
        SELECT n.attname, n.atttypid = p.atttypid AS is_same, pg_get_expr(d.adbin, d.adrelid) AS value
          FROM (SELECT a.*, row_number() OVER (ORDER BY a.attnum) AS place FROM pg_attribute a
                 WHERE a.attrelid = native AND result IS NOT NULL AND a.attnum > 0 AND NOT a.attisdropped) n
          LEFT JOIN (SELECT a.*, row_number() OVER (ORDER BY a.attnum) AS place FROM pg_attribute a
                      WHERE a.attrelid = result AND a.attnum > 0 AND NOT a.attisdropped) p
               ON (p.attname, p.place) = (n.attname, n.place)
          LEFT JOIN pg_attrdef d ON d.adrelid = native AND d.adnum = n.attnum AND n.attgenerated = ''
    LOOP
        PERFORM zbxhist_internal.refuse('55000', format('default partition %s has its columns in another order than table %s',
            result, native),
            detail => 'It would become the table itself, because it has rows.  Move them to partitions first.')
          WHERE item.is_same IS NOT TRUE;
        PERFORM zbxhist_internal.execute_as_owner(result, format(
            'ALTER TABLE %s ALTER COLUMN %I %s DEFAULT %s', result, item.attname,
            CASE WHEN item.value IS NULL THEN 'DROP' ELSE 'SET' END, coalesce(item.value, '')));
    END LOOP;
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
    PERFORM zbxhist_internal.refuse('55000', format('default partition %s has not all indexes of table %s', result, native))
      WHERE EXISTS (SELECT FROM zbxhist_internal.missing_indexes(native, result));
    PERFORM zbxhist_internal.take_place(native, result);
    PERFORM zbxhist_internal.refuse('55000', format('the bounds of the partitions of table %s cannot be read', result))
      WHERE taken <> ARRAY(SELECT p.partition FROM zbxhist.list_partitions(result) p ORDER BY p.from_clock);
    PERFORM zbxhist_internal.begin_adopted(result, policy, NULL, waited,
        format('%s partitions, locked for %s ms', cardinality(taken), ceil(extract(epoch FROM clock_timestamp() - locked) * 1000)));
    RETURN result;
END
$$;
