-- sql/maintenance/partition_steps.sql

-- Step of maintenance: creates the next partition ahead.
CREATE FUNCTION zbxhist_internal.step_premake(parent regclass) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    gap     record;
    made    regclass;
BEGIN
    SELECT * INTO gap FROM zbxhist_internal.wanted_ranges(zbxhist_internal.require_parent(parent)) w ORDER BY w.from_clock LIMIT 1;
    IF NOT FOUND THEN
        RETURN 'done';
    END IF;
    made := zbxhist_internal.create_range(parent, gap.from_clock, gap.to_clock);
    PERFORM zbxhist_internal.log_action(parent, 'premake', made::text);
    RETURN 'more';
END
$$;

-- Step of maintenance, for move_existing: creates the partition of the newest rows in the parent that have
-- none.
CREATE FUNCTION zbxhist_internal.step_extend(parent regclass) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    policy  CONSTANT zbxhist.parent_config := zbxhist_internal.require_parent(parent);
    gap     CONSTANT record := zbxhist_internal.next_existing_range(policy);
    made    regclass;
BEGIN
    IF gap.from_clock IS NULL
       OR (SELECT count(*) FROM zbxhist.list_partitions(parent)) >= zbxhist_internal.most_partitions() THEN
        RETURN 'done';
    END IF;
    made := zbxhist_internal.create_range(parent, gap.from_clock, gap.to_clock);
    PERFORM zbxhist_internal.log_action(parent, 'extend', made::text);
    UPDATE zbxhist.parent_state s SET extended_to = gap.from_clock
     WHERE s.parent = step_extend.parent;
    PERFORM zbxhist_internal.set_action(parent, 'move', made::text);
    RETURN 'more';
END
$$;

-- Step of maintenance: replaces an empty future partition of a day by shorter ones, or by none.  It creates those
-- before it requests the lock, so that it holds ACCESS EXCLUSIVE only for the DROP.  If a session stores a
-- row in the old partition meanwhile, that partition stays.  Other new rows of that time go to the parent.
CREATE FUNCTION zbxhist_internal.step_split(parent regclass, partition regclass) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    label   CONSTANT text := partition::text;
    covered record;
    piece   record;
    made    regclass[] := '{}';
    waited  interval;
BEGIN
    -- another session may have done it, or its time has begun
    IF partition NOT IN (SELECT zbxhist_internal.partitions_to_split(parent)) THEN
        RETURN 'done';
    END IF;
    SELECT * INTO STRICT covered FROM zbxhist.list_partitions(parent) p WHERE p.partition = step_split.partition;
    PERFORM zbxhist_internal.wait_for_readers(partition);
    FOR piece IN
        SELECT p.piece_from, p.piece_to
          FROM zbxhist.parent_config c,
               LATERAL (SELECT least(zbxhist_internal.fine_until(c.partition_interval), covered.to_clock) AS middle) m,
               LATERAL (SELECT * FROM zbxhist_internal.cut_range(covered.from_clock, m.middle,
                                                        extract(epoch FROM c.partition_interval)::bigint)
                         UNION ALL
                        -- the rest is not due yet
                        SELECT m.middle, covered.to_clock WHERE m.middle < covered.to_clock) p
         WHERE c.parent = step_split.parent AND covered.from_clock < zbxhist_internal.fine_until(c.partition_interval)
         ORDER BY p.piece_from
    LOOP
        made := made || zbxhist_internal.create_range(parent, piece.piece_from, piece.piece_to);
    END LOOP;
    waited := zbxhist_internal.lock_all_or_none(ARRAY[partition]);
    PERFORM zbxhist_internal.refuse('55006', format('rows have just been stored in partition %s: it stays as it is', partition))
      WHERE zbxhist_internal.own_pages(partition) > 0;
    PERFORM zbxhist_internal.execute_as_owner(parent, format('DROP TABLE %s', partition));
    PERFORM zbxhist_internal.invalidate(parent);
    PERFORM zbxhist_internal.log_action(parent, 'split', label, lock_wait => waited,
        message => format('%s partitions in its place', cardinality(made)));
    RETURN 'done';
END
$$;

-- Step of maintenance: makes packed days depend on the packed table, notes the values of new columns in
-- packed rows, and subtracts deleted values from nrows.
-- A dump does not contain the dependencies.  The event trigger that notes the values of new columns may be
-- disabled.  Sessions that delete packed rows write their number to packed_change.
CREATE FUNCTION zbxhist_internal.step_attach(parent regclass) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    packed  regclass := zbxhist_internal.packed_table(parent);
    options text;
BEGIN
    WITH known AS (
        DELETE FROM zbxhist.packed_change c USING zbxhist.packed_day d
         WHERE c.day = d.day AND d.parent = step_attach.parent
        RETURNING c.day, c.removed),
    total AS (
        SELECT k.day, sum(k.removed) AS removed FROM known k GROUP BY k.day)
    UPDATE zbxhist.packed_day d SET nrows = greatest(d.nrows - t.removed, 0)
      FROM total t WHERE d.day = t.day AND t.removed > 0;
    DELETE FROM zbxhist.packed_change c
     WHERE NOT EXISTS (SELECT FROM zbxhist.packed_day d WHERE d.day = c.day);
    IF NOT EXISTS (SELECT FROM zbxhist.packed_day d WHERE d.parent = step_attach.parent) THEN
        RETURN 'done';
    END IF;
    IF packed IS NULL THEN
        packed := zbxhist_internal.create_packed_table(parent);
    END IF;
    PERFORM zbxhist_internal.attach_day(d.day, packed)
       FROM zbxhist.packed_day d
      WHERE d.parent = step_attach.parent
        AND NOT EXISTS (SELECT FROM pg_depend p
                         WHERE p.classid = 'pg_class'::regclass AND p.objid = d.day
                           AND p.refclassid = 'pg_class'::regclass AND p.refobjid = packed);
    options := zbxhist_internal.missing_options(parent, packed);
    IF options IS NOT NULL THEN
        PERFORM zbxhist_internal.lock_exclusively(packed);
        PERFORM zbxhist_internal.execute_as_owner(packed, options);
    END IF;
    RETURN 'done';
END
$$;

-- Step of maintenance: drops an expired partition or packed day, or detaches an expired partition.
CREATE FUNCTION zbxhist_internal.step_drop(parent regclass, relation regclass) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    policy CONSTANT zbxhist.parent_config := zbxhist_internal.require_parent(parent);
BEGIN
    -- another session may have dropped it, or changed the policy
    IF EXISTS (SELECT FROM zbxhist_internal.expired(parent) e
                WHERE e.relation = step_drop.relation AND (NOT e.is_packed OR policy.retention_action = 'drop')) THEN
        PERFORM zbxhist_internal.take_off(parent, relation, policy.retention_action, policy.retention_schema);
    END IF;
    RETURN 'done';
END
$$;

-- Step of maintenance: truncates a parent, without its partitions, if all its rows were moved or are past
-- retention.  Then INSERTs and maintenance find a table without pages.
-- INSERTs wait while this waits for ACCESS EXCLUSIVE and holds it; both together may take
-- maintenance_lock_timeout.  So it first measures how long it will hold the lock, and waits for the rest.
CREATE FUNCTION zbxhist_internal.step_truncate(parent regclass) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    cutoff  CONSTANT bigint := zbxhist_internal.deletion_clock(parent);
    allowed CONSTANT integer := zbxhist_internal.short_lock_timeout();
    left_ms integer;
    started timestamptz;
    took    interval;
    waited  interval;
    rows    bigint;
    bytes   bigint;
BEGIN
    IF zbxhist_internal.own_pages(parent) = 0 OR zbxhist_internal.has_own_rows(parent, cutoff) THEN
        RETURN 'done';
    END IF;
    IF NOT zbxhist_internal.settled(parent) THEN
        RETURN 'wait';
    END IF;
    -- how long will this take once more under the lock?
    started := clock_timestamp();
    IF zbxhist_internal.has_own_rows(parent, cutoff) THEN
        RETURN 'done';
    END IF;
    took := clock_timestamp() - started;
    left_ms := allowed - 1100 * extract(epoch FROM took);
    IF left_ms < greatest(1, allowed / 20) THEN
        PERFORM zbxhist_internal.log_action(parent, 'truncate', NULL, message => format(
            'postponed: making sure that no row is left takes %s; autovacuum, or a longer'
            ' zbxhist.maintenance_lock_timeout for one run, will help', took));
        RETURN 'postponed';
    END IF;
    waited := zbxhist_internal.lock_exclusively(parent, left_ms);
    IF zbxhist_internal.has_own_rows(parent, cutoff) THEN
        RETURN 'done';
    END IF;
    rows := CASE WHEN zbxhist_internal.has_own_rows(parent, NULL)
                 THEN zbxhist_internal.estimated_rows(parent) ELSE 0 END;
    bytes := pg_total_relation_size(parent);
    PERFORM zbxhist_internal.execute_as_owner(parent, format('TRUNCATE ONLY %s', parent));
    UPDATE zbxhist.parent_state s SET settling = NULL WHERE s.parent = step_truncate.parent;
    PERFORM zbxhist_internal.log_action(parent, 'truncate', NULL, rows => rows, bytes => bytes, lock_wait => waited);
    RETURN 'done';
END
$$;
