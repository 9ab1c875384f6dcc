-- sql/parent_rows/move_waiting.sql

CREATE PROCEDURE zbxhist_internal.move_waiting(parent regclass)
LANGUAGE plpgsql
AS $$
DECLARE
    partition pg_catalog.regclass;
    answer    pg_catalog.text;
BEGIN
    CALL zbxhist_internal.next_transaction();
    UPDATE zbxhist.parent_state s SET duplicates = 0
     WHERE s.parent = move_waiting.parent AND s.duplicates <> 0;
    FOREACH partition IN ARRAY zbxhist_internal.work_list(parent, 'move') LOOP
        CALL zbxhist_internal.repeat_step(parent, 'move', partition, answer);
    END LOOP;
    -- what is packed before the next run makes room for more
    FOR made IN 1 .. 100 LOOP
        CALL zbxhist_internal.next_transaction();
        answer := zbxhist_internal.run_step(parent, 'extend');
        EXIT WHEN answer <> 'more';
        CALL zbxhist_internal.next_transaction();
        SELECT to_regclass(s.relation) INTO partition
          FROM zbxhist.parent_state s WHERE s.parent = move_waiting.parent;
        EXIT WHEN partition IS NULL;
        CALL zbxhist_internal.repeat_step(parent, 'move', partition, answer);
    END LOOP;
END
$$;

COMMENT ON PROCEDURE zbxhist_internal.move_waiting(regclass) IS
'Moves the rows that wait in a parent to their partitions and, with move_existing, creates the partitions of older ones (internal)';

REVOKE ALL ON PROCEDURE zbxhist_internal.move_waiting(regclass) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist_internal.move_waiting(regclass) TO pg_database_owner;
