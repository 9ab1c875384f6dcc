-- sql/operate/drop_day.sql

CREATE PROCEDURE zbxhist.drop_day(parent regclass, day date, accept_deletion boolean DEFAULT false)
LANGUAGE plpgsql
AS $$
DECLARE
    place   pg_catalog.record;
    removed pg_catalog.int8 := 0;
    batch   pg_catalog.int8;
BEGIN
    CALL zbxhist_internal.next_transaction();
    place := zbxhist_internal.days_to_take_off(parent, day);
    IF place.is_wider AND accept_deletion IS NOT TRUE THEN
        RAISE EXCEPTION 'values of other days would be deleted, too'
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = format('Table %s would lose its values %s.', parent, place.detail),
                  HINT = format('CALL zbxhist.drop_day(%L, %L, accept_deletion => true);', parent, to_char(day, 'YYYY-MM-DD'));
    END IF;
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
        PERFORM zbxhist_internal.log_action(parent, 'drop', NULL, removed, NULL, clock_timestamp(), NULL, NULL,
                                            format('by hand, rows of %s in the table itself', to_char(day, 'YYYY-MM-DD')));
    END IF;
    -- the session's own search_path again, for the caller's next statement
    COMMIT;
END
$$;

COMMENT ON PROCEDURE zbxhist.drop_day(regclass, date, boolean) IS
'Drops all that a managed table has of a UTC day that is over, packed or not, and says what that is; partitions with values of other days, too, only with accept_deletion';

REVOKE ALL ON PROCEDURE zbxhist.drop_day(regclass, date, boolean) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist.drop_day(regclass, date, boolean) TO pg_database_owner;
