-- sql/operate/absorb.sql

-- Moves the rows in some blocks of a child of a managed table to where they belong; those whose key
-- is there with other values stay.
CREATE FUNCTION zbxhist_internal.absorb_batch(parent regclass, child regclass, first_block bigint, end_block bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    columns CONSTANT text := zbxhist_internal.import_columns(parent, false);
    alike   CONSTANT text := (SELECT string_agg(format('p.%1$I = c.%1$I', k), ' AND ')
                                FROM unnest(zbxhist_internal.key_columns(parent)) k);
    -- the next maintenance would delete what is past retention
    blocks  CONSTANT text := format('c.ctid >= ''(%s,0)'' AND c.ctid < ''(%s,0)'' AND c.clock >= %s', first_block, end_block,
                                    coalesce(zbxhist_internal.deletion_clock(parent), -2147483648));
    move    CONSTANT text := format('WITH gone AS (DELETE FROM ONLY %1$s c WHERE %2$s%%s RETURNING %3$s)'
                                    ' INSERT INTO %4$s (%3$s) SELECT %3$s FROM gone', child, blocks,
                                    columns, parent);
    clocks  text;
    twin    text;
    earlier text;
BEGIN
    PERFORM zbxhist_internal.lock_for_hand(parent);
    BEGIN
        PERFORM zbxhist_internal.execute_as_owner(parent, format(move, ''));
        RETURN;
    EXCEPTION WHEN unique_violation THEN
        -- what is there twice, and the same, goes; what differs stays
        NULL;
    END;
    clocks := zbxhist_internal.execute_as_owner(parent, format(
        'SELECT format(''p.clock BETWEEN %%s AND %%s'', min(c.clock), max(c.clock)) FROM ONLY %s c WHERE %s', child, blocks));
    twin := format('SELECT FROM %s p WHERE p.tableoid <> %s AND %s AND %s', parent, child::oid, clocks, alike);
    -- of a key that the child has twice, one row
    earlier := format('SELECT FROM ONLY %s p WHERE p.ctid < c.ctid AND %s AND %s', child, replace(blocks, 'c.', 'p.'), alike);
    PERFORM zbxhist_internal.execute_as_owner(parent, format(
        move, format(' AND NOT EXISTS (%s) AND NOT EXISTS (%s)', twin, earlier)));
    PERFORM zbxhist_internal.execute_as_owner(parent, format(
        'DELETE FROM ONLY %s c WHERE %s AND EXISTS (%s AND %s)', child, blocks, twin,
        (SELECT string_agg(format('p.%1$I::text IS NOT DISTINCT FROM c.%1$I::text', a.attname), ' AND ')
           FROM pg_attribute a WHERE a.attrelid = parent AND a.attnum > 0 AND NOT a.attisdropped)));
END
$$;

-- Moves the rows of a table that inherits from a managed one, and is no partition of it or in the
-- way of others, to where they belong, and makes it a table of its own; can be broken off and
-- repeated.
CREATE PROCEDURE zbxhist.absorb(parent regclass, child regclass)
LANGUAGE plpgsql AS $$
DECLARE
    started  pg_catalog.timestamptz;
    blocks   pg_catalog.int8;
    since    pg_catalog.xid8;
    settling pg_catalog.text[];
    tries    pg_catalog.int4 := 0;
    waited   pg_catalog.interval;
    rest     pg_catalog.int8;
    other_column pg_catalog.name;
    grandchild   pg_catalog.regclass;
BEGIN
    CALL zbxhist_internal.next_transaction();
    started := clock_timestamp();
    PERFORM zbxhist_internal.lock_for_hand(parent);
    PERFORM zbxhist_internal.refuse('42809', format('table %s does not inherit from table %s', child, parent),
        hint => format('SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = %L::regclass;', parent))
      WHERE NOT EXISTS (SELECT FROM pg_inherits i
                          JOIN pg_class k ON k.oid = i.inhrelid AND k.relkind = 'r'
                         WHERE i.inhparent = parent AND i.inhrelid = child);
    -- neither would be moved
    SELECT a.attname INTO other_column FROM pg_attribute a
     WHERE a.attrelid = child AND a.attnum > 0 AND NOT a.attisdropped
       AND NOT EXISTS (SELECT FROM pg_attribute p WHERE p.attrelid = parent AND p.attname = a.attname AND NOT p.attisdropped)
     ORDER BY a.attnum LIMIT 1;
    IF FOUND THEN
        PERFORM zbxhist_internal.refuse('42809', format('table %s has column "%s", which table %s does not have', child, other_column, parent),
            detail => 'Its values would be lost.',
            hint => format('ALTER TABLE %s DROP COLUMN %I;', child, other_column));
    END IF;
    SELECT i.inhrelid INTO grandchild FROM pg_inherits i WHERE i.inhparent = child ORDER BY i.inhrelid LIMIT 1;
    IF FOUND THEN
        PERFORM zbxhist_internal.refuse('42809', format('table %s inherits from table %s', grandchild, child),
            detail => format('Its rows would not be read in table %s any more.', parent),
            hint => format('ALTER TABLE %1$s NO INHERIT %2$s, INHERIT %3$s;', grandchild, child, parent));
    END IF;
    IF EXISTS (SELECT FROM zbxhist.list_partitions(parent) p WHERE p.partition = child) THEN
        PERFORM zbxhist_internal.refuse('55000', format('table %s is a partition of table %s, and no other is for its time', child, parent),
            hint => format('SELECT * FROM zbxhist.partitions WHERE parent = %L::regclass;', parent))
          WHERE NOT EXISTS (SELECT FROM zbxhist_internal.list_ranges(parent) b
                              JOIN zbxhist_internal.list_ranges(parent) o
                                ON o.relation <> b.relation AND o.from_clock < b.to_clock AND o.to_clock > b.from_clock
                             WHERE b.relation = child);
        PERFORM zbxhist_internal.lock_exclusively(child);
        PERFORM zbxhist_internal.execute_as_owner(parent, format('ALTER TABLE %s DROP CONSTRAINT zbxhist_clock', child));
        DELETE FROM zbxhist.partition_state s WHERE s.partition = child;
        PERFORM zbxhist_internal.invalidate(parent);
    END IF;
    CALL zbxhist_internal.next_transaction();
    blocks := pg_relation_size(child) / current_setting('block_size')::pg_catalog.int8;
    FOR block IN 0 .. blocks - 1 BY 256 LOOP
        PERFORM zbxhist_internal.absorb_batch(parent, child, block, block + 256);
        since := pg_current_xact_id();
        CALL zbxhist_internal.next_transaction();
    END LOOP;
    -- who began before finds the rows here
    since := coalesce(since, pg_current_xact_id());
    CALL zbxhist_internal.next_transaction();
    settling := zbxhist_internal.running_transactions();
    WHILE NOT zbxhist_internal.is_settled(settling, since) LOOP
        tries := tries + 1;
        PERFORM zbxhist_internal.refuse_to_wait(parent, tries);
        PERFORM pg_sleep(0.25);
        CALL zbxhist_internal.next_transaction();
    END LOOP;
    PERFORM zbxhist_internal.lock_for_hand(parent);
    waited := zbxhist_internal.lock_exclusively(child);
    PERFORM zbxhist_internal.end_older_snapshots(child, since);
    PERFORM zbxhist_internal.execute_as_owner(parent, format('ALTER TABLE %s NO INHERIT %s', child, parent));
    PERFORM zbxhist_internal.invalidate(parent);
    rest := zbxhist_internal.execute_as_owner(parent, format('SELECT count(*) FROM ONLY %s', child));
    PERFORM zbxhist_internal.log_action(parent, 'absorb', child::text, lock_wait => waited, started_at => started,
        message => CASE WHEN rest > 0 THEN format('%s rows are left in it', rest) END);
    IF rest > 0 THEN
        RAISE WARNING '% rows of table % are left in it', rest, child
            USING DETAIL = format('They are past retention, or table %s has their key with other values.  They are not read there any more.  '
                                  'To have one back, delete the row with its key and insert it.', parent),
                  HINT = format('SELECT * FROM %s;', child);
    ELSE
        RAISE NOTICE 'all rows of table % are where they belong in table %; it is empty, and a table of its own', child, parent
            USING HINT = format('DROP TABLE %s;', child);
    END IF;
    -- the session's own search_path again, for the caller's next statement
    COMMIT;
END
$$;
