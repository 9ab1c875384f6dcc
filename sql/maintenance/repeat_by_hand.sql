-- sql/maintenance/repeat_by_hand.sql

CREATE PROCEDURE zbxhist_internal.repeat_by_hand(parent regclass, step text, relation regclass, slice bigint DEFAULT 0)
LANGUAGE plpgsql
AS $$
DECLARE
    answer pg_catalog.text;
    tries  integer := 0;
BEGIN
    LOOP
        CALL zbxhist_internal.next_transaction();
        answer := zbxhist_internal.run_by_hand(parent, step, relation, slice);
        CALL zbxhist_internal.next_transaction();
        EXIT WHEN answer = 'done';
        IF answer = 'wait' THEN
            tries := tries + 1;
            PERFORM zbxhist_internal.refuse_to_wait(parent, tries);
            PERFORM pg_sleep(0.25);
        END IF;
    END LOOP;
    -- the session's own search_path again, for the caller's next statement
    COMMIT;
END
$$;

COMMENT ON PROCEDURE zbxhist_internal.repeat_by_hand(regclass, text, regclass, bigint) IS
'Runs a step of packing, unpacking or an import until it is done, each time in a transaction of its own (internal)';

REVOKE ALL ON PROCEDURE zbxhist_internal.repeat_by_hand(regclass, text, regclass, bigint) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist_internal.repeat_by_hand(regclass, text, regclass, bigint) TO pg_database_owner;
