-- sql/operate/take_off_by_hand.sql

CREATE PROCEDURE zbxhist_internal.take_off_by_hand(parent regclass, relations regclass[], action text, schema_name name)
LANGUAGE plpgsql
AS $$
DECLARE
    place pg_catalog.regclass;
BEGIN
    CALL zbxhist_internal.next_transaction();
    FOREACH place IN ARRAY relations LOOP
        PERFORM zbxhist_internal.lock_for_hand(parent);
        -- maintenance may have packed or dropped it meanwhile
        IF NOT EXISTS (SELECT FROM zbxhist_internal.list_ranges(parent) r WHERE r.relation = place) THEN
            RAISE EXCEPTION 'partition % has been packed or dropped meanwhile', place
                USING ERRCODE = 'object_not_in_prerequisite_state',
                      HINT = 'Repeat the call.';
        END IF;
        PERFORM zbxhist_internal.take_off(parent, place, action, schema_name, 'by hand');
        CALL zbxhist_internal.next_transaction();
    END LOOP;
END
$$;

COMMENT ON PROCEDURE zbxhist_internal.take_off_by_hand(regclass, regclass[], text, name) IS
'Drops or detaches partitions for somebody who is told what goes wrong, each in a transaction of its own (internal)';

REVOKE ALL ON PROCEDURE zbxhist_internal.take_off_by_hand(regclass, regclass[], text, name) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist_internal.take_off_by_hand(regclass, regclass[], text, name) TO pg_database_owner;
