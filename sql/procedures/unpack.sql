-- sql/procedures/unpack.sql

CREATE PROCEDURE zbxhist.unpack(parent regclass, day date)
LANGUAGE plpgsql
AS $$
DECLARE
    packed regclass;
    answer text;
    tries  integer := 0;
BEGIN
    CALL zbxhist.next_transaction();
    packed := zbxhist.day_to_unpack(parent, day);
    LOOP
        answer := zbxhist.run_by_hand(parent, 'unpack', packed);
        CALL zbxhist.next_transaction();
        EXIT WHEN answer = 'done';
        IF answer = 'wait' THEN
            tries := tries + 1;
            PERFORM zbxhist.refuse_to_wait(parent, tries);
            PERFORM pg_sleep(0.25);
        END IF;
    END LOOP;
    -- the session's own search_path again, for the caller's next statement
    COMMIT;
END
$$;

COMMENT ON PROCEDURE zbxhist.unpack(regclass, date) IS
'Makes the packed day of a managed table in which a UTC day begins an ordinary partition again; can be broken off and repeated';

REVOKE ALL ON PROCEDURE zbxhist.unpack(regclass, date) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist.unpack(regclass, date) TO pg_database_owner;
