-- sql/procedures/pack.sql

CREATE PROCEDURE zbxhist.pack(parent regclass, day date)
LANGUAGE plpgsql
AS $$
DECLARE
    partition regclass;
    answer    text;
    tries     integer := 0;
BEGIN
    CALL zbxhist.next_transaction();
    partition := zbxhist.partition_to_pack(parent, day);
    LOOP
        answer := zbxhist.run_by_hand(parent, 'pack', partition);
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

COMMENT ON PROCEDURE zbxhist.pack(regclass, date) IS
'Packs the partition of a managed table in which a UTC day begins';

REVOKE ALL ON PROCEDURE zbxhist.pack(regclass, date) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist.pack(regclass, date) TO pg_database_owner;
