-- sql/packed/pack.sql

-- Why rows of a table cannot be packed; NULL if they can.
CREATE FUNCTION zbxhist_internal.why_not_packable(relation regclass) RETURNS text
LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zbxhist_why_not_packable';

-- Why a partition cannot be packed; NULL if it can.
CREATE FUNCTION zbxhist_internal.not_packable(parent regclass, partition regclass) RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN coalesce(
        zbxhist_internal.why_not_packable(parent),
        (SELECT format('partition %s has a column "%s" that table %s has not', partition, c, parent)
           FROM zbxhist_internal.own_column(parent, partition) c
          WHERE c IS NOT NULL),
        (SELECT format('packed days have another column under the name of "%s"', u)
           FROM zbxhist_internal.unnoted_columns(zbxhist_internal.packed_table(parent)) u
           JOIN zbxhist_internal.packed_columns(zbxhist_internal.packed_table(parent)) c ON c.packed_name = u
          LIMIT 1),
        zbxhist_internal.dependent_object(partition) || format(' depends on partition %s', partition),
        -- INSERTs look up only these keys in packed days
        (SELECT format('unique index "%s" is not one on itemid, clock%s alone', k.relname,
                       CASE WHEN c.columns = '{clock,itemid}' THEN '' ELSE ' and ns' END)
           FROM pg_index x
           JOIN pg_class k ON k.oid = x.indexrelid
          CROSS JOIN LATERAL (
                SELECT array_agg(a.attname ORDER BY a.attname) AS columns
                  FROM pg_attribute a
                 WHERE a.attrelid = x.indrelid AND a.attname IN ('itemid', 'clock', 'ns')) c
          WHERE x.indrelid = not_packable.parent AND (x.indisunique OR x.indisexclusion)
            AND (x.indpred IS NOT NULL OR x.indexprs IS NOT NULL OR NOT x.indimmediate OR x.indisexclusion
                 OR c.columns IS DISTINCT FROM
                    ARRAY(SELECT a.attname FROM unnest(x.indkey[0:x.indnkeyatts - 1]) i (attnum)
                            JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = i.attnum
                           ORDER BY a.attname))
          LIMIT 1),
        -- noted when packing failed; after a day it is tried again, because the rows may be gone
        (SELECT s.not_packable FROM zbxhist.partition_state s
          WHERE s.partition = not_packable.partition AND coalesce(s.not_packable_at > now() - interval '1 day', true)));
END
$$;

-- The partitions that are due to be packed, oldest first; with "relation", only that one if it is due.
-- A step asks for its own partition only, because looking at all of them in each step would be quadratic.
CREATE FUNCTION zbxhist_internal.packable_partitions(parent regclass, relation regclass DEFAULT NULL)
RETURNS SETOF regclass
LANGUAGE plpgsql VOLATILE PARALLEL SAFE ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
        -- the cheap conditions first
        WITH due AS MATERIALIZED (
            SELECT p.partition, p.from_clock
              FROM zbxhist.parent_config c
             CROSS JOIN LATERAL zbxhist_internal.clock_before(c.pack_after) AS closed
             CROSS JOIN LATERAL zbxhist.list_partitions(c.parent) p
             WHERE c.parent = packable_partitions.parent AND c.routing
               AND (packable_partitions.relation IS NULL OR p.partition = packable_partitions.relation)
               -- a subquery is evaluated once, and only if it is needed
               AND p.to_clock <= closed
               AND p.to_clock > coalesce((SELECT zbxhist_internal.cutoff_clock(packable_partitions.parent)), -2147483648)
               AND NOT EXISTS (SELECT FROM zbxhist.packed_day d WHERE d.partition = p.partition))
        SELECT d.partition FROM due d
         WHERE zbxhist_internal.not_packable(packable_partitions.parent, d.partition) IS NULL
         ORDER BY d.from_clock;
END
$$;

-- Describes for the log which values of deleted items were left out, or why they were not; an empty
-- string if there is nothing to say.
CREATE FUNCTION zbxhist_internal.describe_left_out(left_out bigint, problem text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT concat(CASE WHEN left_out > 0 THEN format('; %s values of deleted items left out', left_out) END,
                  '; those of deleted items stay: ' || problem)
$$;

-- Raises an error if the range of a partition overlaps with that of another partition or packed day.
-- Partitions that somebody created by hand may overlap, but INSERTs and reads look for the rows of a clock
-- in one packed day only.
CREATE FUNCTION zbxhist_internal.refuse_overlap(parent regclass, partition regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM zbxhist_internal.refuse('55000', format('partition %s overlaps with %s', partition, r.relation),
                detail => 'A day whose rows may be in two tables is not packed.',
                hint => $hint$SELECT object, message, hint FROM zbxhist.check() WHERE code = 'overlap';$hint$)
       FROM zbxhist.partition_bounds(partition) b
       JOIN zbxhist_internal.list_ranges(parent) r ON r.from_clock < b.to_clock AND b.from_clock < r.to_clock
      WHERE r.relation <> partition
      ORDER BY r.from_clock LIMIT 1;
END
$$;

-- Writes the rows of a partition, only those of kept_items if that is not empty, into the table of a packed
-- day, which was created in the same transaction.  Raises 55006 while not all transactions see the same
-- rows.
CREATE FUNCTION zbxhist_internal.pack_rows(
    partition regclass, day regclass, kept_items bigint[] DEFAULT '{}', OUT rows bigint, OUT bytes bigint,
    OUT left_out bigint)
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_pack_rows';

-- Does the next part of packing a partition; returns "done", "more" (call again) or "wait" (call again
-- later).
-- It locks the partition against writers; INSERTs do not wait for it, but store their rows in the parent.
-- pack_rows makes sure that every snapshot sees the same rows, so a table whose rows are visible to all
-- can replace the partition.  ACCESS EXCLUSIVE is taken only at the end.
CREATE FUNCTION zbxhist_internal.pack_partition(parent regclass, partition regclass) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    label   CONSTANT text := partition::text;
    packed  regclass := zbxhist_internal.packed_table(parent);
    covered record;
    day     regclass;
    kept    record;
    written record;
    before  bigint;
    waited  interval;
BEGIN
    SELECT p.from_clock, p.to_clock INTO covered
      FROM zbxhist.list_partitions(parent) p WHERE p.partition = pack_partition.partition;
    IF NOT FOUND THEN
        RETURN 'done';
    END IF;
    PERFORM zbxhist_internal.refuse_overlap(parent, partition);
    IF packed IS NULL THEN
        packed := zbxhist_internal.create_packed_table(parent);
        PERFORM zbxhist_internal.log_action(parent, 'packed_table', packed::text);
        RETURN 'more';
    END IF;
    IF NOT zbxhist_internal.packed_table_settled(parent, packed) THEN
        RETURN 'wait';
    END IF;
    IF NOT zbxhist_internal.has_begun(parent, 'pack', label) THEN
        PERFORM zbxhist_internal.set_action(parent, 'pack', label);
        RETURN 'more';
    END IF;
    PERFORM zbxhist_internal.wait_for_readers(partition);
    PERFORM zbxhist_internal.wait_for_readers(packed);
    PERFORM zbxhist_internal.lock_patiently(partition);
    PERFORM set_config('lock_timeout', zbxhist_internal.short_lock_timeout()::text, true);
    EXECUTE format('LOCK TABLE ONLY %s IN SHARE MODE', partition);
    PERFORM zbxhist_internal.refuse_overlap(parent, partition);
    -- when these have ended, all transactions see the rows that were written just now
    PERFORM zbxhist_internal.wait_for_transactions();
    BEGIN
        day := zbxhist_internal.create_day(parent, partition, covered.from_clock, covered.to_clock);
        -- after the lock: no value of a newer item can be in the partition
        kept := zbxhist_internal.kept_items(parent);
        written := zbxhist_internal.pack_rows(partition, day, kept.items);
    EXCEPTION WHEN object_in_use THEN
        -- some transactions, maybe an autovacuum, do not see its newest rows yet
        RETURN 'wait';
    END;
    before := pg_total_relation_size(partition);
    INSERT INTO zbxhist.packed_day
        (parent, day, from_clock, to_clock, nrows, heap_bytes, packed_at, packed_rows, packed_bytes)
    VALUES (parent, day, covered.from_clock, covered.to_clock, written.rows, before, clock_timestamp(), written.rows,
            zbxhist_internal.day_bytes(day));
    PERFORM zbxhist_internal.attach_day(day, packed);
    PERFORM zbxhist_internal.set_action(parent, NULL, NULL);
    -- readers of packed days must wait only if there is a new column
    waited := zbxhist_internal.lock_all_or_none(ARRAY(SELECT r FROM unnest(ARRAY[partition, packed]) r ORDER BY r::oid),
                  unchanged => CASE WHEN NOT EXISTS (SELECT FROM zbxhist_internal.unnoted_columns(packed)) THEN packed END);
    PERFORM zbxhist_internal.note_columns(parent, packed, day);
    PERFORM zbxhist_internal.execute_as_owner(parent, format('DROP TABLE %s', partition));
    PERFORM zbxhist_internal.invalidate(parent);
    PERFORM zbxhist_internal.log_action(parent, 'pack', label, rows => written.rows,
        bytes => before - pg_total_relation_size(day), lock_wait => waited,
        message => format('%s before, %s after%s', pg_size_pretty(before), pg_size_pretty(pg_total_relation_size(day)),
                          zbxhist_internal.describe_left_out(written.left_out, kept.problem)));
    RETURN 'done';
END
$$;

-- Packs those partitions of a UTC day of a managed table whose time has passed.
CREATE PROCEDURE zbxhist.pack(parent regclass, day date)
LANGUAGE plpgsql AS $$
DECLARE
    covered pg_catalog.record;
    result  pg_catalog.regclass[];
BEGIN
    CALL zbxhist_internal.next_transaction();
    PERFORM zbxhist_internal.require_routed(parent);
    -- the reason for which maintenance could not pack them may be gone
    UPDATE zbxhist.partition_state s SET not_packable = NULL
      FROM zbxhist_internal.ranges_of_day(pack.parent, pack.day) r
     WHERE s.partition = r.relation AND s.not_packable IS NOT NULL;
    -- some of a day's partitions may be packed already, or not be over yet
    SELECT coalesce(array_agg(r.relation ORDER BY r.from_clock), '{}') INTO result
      FROM zbxhist_internal.ranges_of_day(parent, day) r
     WHERE NOT r.is_packed AND r.to_clock <= zbxhist_internal.current_clock()
       AND NOT EXISTS (SELECT FROM zbxhist.packed_day d
                        WHERE d.parent = pack.parent
                          AND d.day <> r.relation
                          AND d.from_clock < r.to_clock AND d.to_clock > r.from_clock)
       AND zbxhist_internal.not_packable(parent, r.relation) IS NULL;
    IF result = '{}' THEN
        SELECT * INTO covered FROM zbxhist_internal.ranges_of_day(parent, day) r
         ORDER BY r.is_packed DESC, r.from_clock LIMIT 1;
        IF NOT FOUND THEN
            PERFORM zbxhist_internal.refuse('42P01', format('table %s has no partition for %s', parent, to_char(day, 'YYYY-MM-DD')),
                hint => format('SELECT * FROM zbxhist.partitions WHERE parent = %L::regclass;', parent));
        END IF;
        PERFORM zbxhist_internal.refuse('55000', format('%s of table %s is packed already', to_char(day, 'YYYY-MM-DD'), parent),
            detail => format('Its table is %s.', covered.relation))
          WHERE covered.is_packed;
        PERFORM zbxhist_internal.refuse('55000', format('partition %s is not closed yet', covered.relation),
            detail => format('Its time ends at %s.', zbxhist_internal.format_time(to_timestamp(covered.to_clock))),
            hint => 'Only a partition whose time has gone by can be packed.')
          WHERE covered.to_clock > zbxhist_internal.current_clock();
        PERFORM zbxhist_internal.refuse('0A000', format('partition %s cannot be packed', covered.relation),
            detail => zbxhist_internal.not_packable(parent, covered.relation));
    END IF;
    CALL zbxhist_internal.repeat_by_hand(parent, 'pack', result);
END
$$;
