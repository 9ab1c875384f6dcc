-- sql/operate/take_off.sql

-- Returns the partitions and packed days of a UTC day, their range of clocks, whether that is wider than the
-- day, and a description of their contents.  Raises an error if the day is not over, or has no rows.
CREATE FUNCTION zbxhist_internal.days_to_take_off(
    parent regclass, day date, OUT relations regclass[], OUT from_clock bigint, OUT to_clock bigint,
    OUT is_wider boolean, OUT detail text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    midnight CONSTANT bigint := zbxhist_internal.day_clock(day);
    found    record;
    own      bigint;
BEGIN
    PERFORM zbxhist_internal.require_routed(parent);
    SELECT coalesce(array_agg(r.relation ORDER BY r.from_clock, r.is_packed), '{}') AS relations,
           least(min(r.from_clock), midnight) AS from_clock, greatest(max(r.to_clock), midnight + 86400) AS to_clock,
           count(*) FILTER (WHERE NOT r.is_packed) AS partitions, count(*) FILTER (WHERE r.is_packed) AS packed,
           coalesce(sum(CASE WHEN d.unpacked THEN 0
                             ELSE coalesce(d.nrows, zbxhist_internal.probable_rows(r.relation)) END), 0)::bigint AS rows,
           coalesce(sum(pg_total_relation_size(r.relation)), 0) AS bytes
      INTO found
      FROM zbxhist_internal.ranges_of_day(parent, day) r
      LEFT JOIN zbxhist.packed_day d ON d.day = r.relation
      JOIN pg_class k ON k.oid = r.relation;
    PERFORM zbxhist_internal.refuse('55000', format('%s of table %s is not over yet', to_char(day, 'YYYY-MM-DD'), parent),
        detail => format('Values up to %s are stored in its partitions.',
                         zbxhist_internal.format_time(to_timestamp(found.to_clock))))
      WHERE found.to_clock > zbxhist_internal.current_clock();
    own := zbxhist_internal.count_waiting(parent, found.from_clock, found.to_clock);
    PERFORM zbxhist_internal.refuse('42P01', format('table %s has nothing of %s', parent, to_char(day, 'YYYY-MM-DD')),
        hint => format('SELECT * FROM zbxhist.partitions WHERE parent = %L::regclass;', parent))
      WHERE found.relations = '{}' AND own = 0;
    relations := found.relations;
    from_clock := found.from_clock;
    to_clock := found.to_clock;
    is_wider := from_clock < midnight OR to_clock > midnight + 86400;
    detail := format('from %s to %s: %s and %s with about %s, %s; %s in the table itself',
                     zbxhist_internal.format_time(to_timestamp(from_clock)), zbxhist_internal.format_time(to_timestamp(to_clock)),
                     zbxhist_internal.count_of(found.partitions, 'partition'), zbxhist_internal.count_of(found.packed, 'packed day'),
                     zbxhist_internal.count_of(found.rows, 'row'), pg_size_pretty(found.bytes),
                     coalesce(zbxhist_internal.count_of(own, 'row'), 'an unknown number of rows'));
END
$$;

-- Drops or detaches partitions for a user, each in its own transaction; a problem is raised as an error.
CREATE PROCEDURE zbxhist_internal.take_off_by_hand(parent regclass, relations regclass[], action text, schema_name name)
LANGUAGE plpgsql AS $$
DECLARE
    place pg_catalog.regclass;
BEGIN
    CALL zbxhist_internal.next_transaction();
    FOREACH place IN ARRAY relations LOOP
        PERFORM zbxhist_internal.lock_for_hand(parent);
        -- maintenance may have packed or dropped it meanwhile
        PERFORM zbxhist_internal.refuse('55000', format('partition %s has been packed or dropped meanwhile', place),
            hint => 'Repeat the call.')
          WHERE NOT EXISTS (SELECT FROM zbxhist_internal.list_ranges(parent) r WHERE r.relation = place);
        PERFORM zbxhist_internal.take_off(parent, place, action, schema_name, 'by hand');
        CALL zbxhist_internal.next_transaction();
    END LOOP;
END
$$;

-- Drops all rows of a managed table of a past UTC day, packed or not, and says what they are; partitions
-- that also have values of other days are dropped only with accept_deletion.
CREATE PROCEDURE zbxhist.drop_day(parent regclass, day date, accept_deletion boolean DEFAULT false)
LANGUAGE plpgsql AS $$
DECLARE
    place   pg_catalog.record;
    removed pg_catalog.int8 := 0;
    batch   pg_catalog.int8;
BEGIN
    CALL zbxhist_internal.next_transaction();
    place := zbxhist_internal.days_to_take_off(parent, day);
    PERFORM zbxhist_internal.refuse('55000', 'values of other days would be deleted, too',
        detail => format('Table %s would lose its values %s.', parent, place.detail),
        hint => format('CALL zbxhist.drop_day(%L, %L, accept_deletion => true);', parent, to_char(day, 'YYYY-MM-DD')))
      WHERE place.is_wider AND accept_deletion IS NOT TRUE;
    RAISE NOTICE 'dropping values of table % %', parent, place.detail;
    CALL zbxhist_internal.take_off_by_hand(parent, place.relations, 'drop', NULL);
    LOOP
        PERFORM zbxhist_internal.lock_for_hand(parent);
        batch := zbxhist_internal.execute_as_owner(parent, format(
            'DELETE FROM ONLY %1$s WHERE ctid = ANY (ARRAY(SELECT p.ctid FROM ONLY %1$s p'
            ' WHERE p.clock >= %2$s AND p.clock < %3$s LIMIT 10000))', parent, place.from_clock, place.to_clock));
        removed := removed + batch;
        CALL zbxhist_internal.next_transaction();
        EXIT WHEN batch < 10000;
    END LOOP;
    IF removed > 0 THEN
        PERFORM zbxhist_internal.log_action(parent, 'drop', NULL, rows => removed,
            message => format('by hand, rows of %s in the table itself', to_char(day, 'YYYY-MM-DD')),
            started_at => clock_timestamp());
    END IF;
    -- ends the transaction's search_path: the caller's next statement has the session's
    COMMIT;
END
$$;

-- Detaches all partitions and packed days of a managed table of a past UTC day: they become ordinary
-- tables, in another schema if one is given; can be interrupted and repeated.
CREATE PROCEDURE zbxhist.detach_day(parent regclass, day date, schema_name name DEFAULT NULL)
LANGUAGE plpgsql AS $$
DECLARE
    place     pg_catalog.record;
    partition pg_catalog.regclass;
    days      pg_catalog.regclass[];
    answer    pg_catalog.text;
BEGIN
    CALL zbxhist_internal.next_transaction();
    place := zbxhist_internal.days_to_take_off(parent, day);
    PERFORM zbxhist_internal.verify_retention_action(parent, 'detach', schema_name);
    PERFORM zbxhist_internal.refuse('42P01', format('table %s has no partition for %s', parent, to_char(day, 'YYYY-MM-DD')),
        detail => 'Its rows of that day are in the table itself.',
        hint => format('SELECT zbxhist.create_partition(%L, %L);', parent, to_char(day, 'YYYY-MM-DD')))
      WHERE place.relations = '{}';
    RAISE NOTICE 'detaching values of table % %', parent, place.detail;
    days := ARRAY(SELECT r.relation FROM zbxhist_internal.ranges_of_day(parent, day) r WHERE r.is_packed);
    CALL zbxhist_internal.repeat_step(parent, 'unpack', days, true, answer);
    CALL zbxhist_internal.next_transaction();
    days := ARRAY(SELECT r.relation FROM zbxhist_internal.ranges_of_day(parent, day) r WHERE NOT r.is_packed);
    FOREACH partition IN ARRAY days LOOP
        CALL zbxhist_internal.repeat_step(parent, 'move', ARRAY[partition], false, answer);
        PERFORM zbxhist_internal.refuse('55006', format('rows of %s that wait in table %s could not be moved there', partition, parent),
            detail => 'Nothing is lost.  Repeat the call.',
            hint => 'SELECT * FROM zbxhist.maintenance_log ORDER BY id DESC LIMIT 10;')
          WHERE answer <> 'done';
    END LOOP;
    CALL zbxhist_internal.take_off_by_hand(parent, days, 'detach', schema_name);
    RAISE NOTICE 'now tables of their own: %', zbxhist_internal.object_list(days::text[]);
    -- ends the transaction's search_path: the caller's next statement has the session's
    COMMIT;
END
$$;
