-- sql/maintenance/undo.sql

CREATE PROCEDURE zbxhist.undo(parent regclass)
LANGUAGE plpgsql
AS $$
DECLARE
    partition pg_catalog.regclass;
    days      pg_catalog.regclass[];
    answer    pg_catalog.text;
BEGIN
    CALL zbxhist_internal.next_transaction();
    PERFORM zbxhist_internal.require_parent(parent);
    CALL zbxhist_internal.repeat_step(parent, 'owner', NULL::regclass, answer);
    CALL zbxhist_internal.repeat_step(parent, 'undo_begin', NULL::regclass, answer);
    -- hours of runs
    FOREACH partition IN ARRAY zbxhist_internal.work_list(parent, 'pack') LOOP
        EXIT WHEN answer NOT IN ('done', 'more', 'wait');
        CALL zbxhist_internal.repeat_step(parent, 'pack', partition, answer);
    END LOOP;
    -- no more of them are in both forms at once than 48, two days of hours
    days := zbxhist_internal.work_list(parent, 'unpack');
    FOR place IN 1 .. cardinality(days) BY 48 LOOP
        EXIT WHEN answer NOT IN ('done', 'more', 'wait');
        CALL zbxhist_internal.unpack_together(parent, days[place:place + 47], false, answer);
    END LOOP;
    -- a second round for rows of transactions that began before the first
    FOR round IN 1 .. 3 LOOP
        EXIT WHEN answer = 'failed' OR cardinality(zbxhist_internal.work_list(parent, 'undo')) = 0;
        FOREACH partition IN ARRAY zbxhist_internal.work_list(parent, 'undo') LOOP
            CALL zbxhist_internal.repeat_step(parent, 'undo_move', partition, answer);
        END LOOP;
        CALL zbxhist_internal.repeat_step(parent, 'undo_settle', NULL::regclass, answer);
        FOREACH partition IN ARRAY zbxhist_internal.work_list(parent, 'undo') LOOP
            CALL zbxhist_internal.repeat_step(parent, 'undo_drop', partition, answer);
        END LOOP;
    END LOOP;
    CALL zbxhist_internal.repeat_step(parent, 'undo_end', NULL::regclass, answer);
    IF answer <> 'done' THEN
        RAISE NOTICE 'table % is not a plain table yet: % partitions and % packed days are left', parent,
                     cardinality(zbxhist_internal.work_list(parent, 'undo')),
                     cardinality(zbxhist_internal.work_list(parent, 'unpack'))
                       + cardinality(zbxhist_internal.work_list(parent, 'pack'))
            USING DETAIL = 'Older transactions may still need them, or a lock could not be had: see zbxhist.maintenance_log.  All rows can be read at any time.',
                  HINT = format('CALL zbxhist.undo(%L);', parent);
    END IF;
    -- the session's own search_path again, for the caller's next statement
    COMMIT;
END
$$;

COMMENT ON PROCEDURE zbxhist.undo(regclass) IS
'Turns a managed table back into a plain one with every row, in batches; can be broken off and repeated';

REVOKE ALL ON PROCEDURE zbxhist.undo(regclass) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist.undo(regclass) TO pg_database_owner;
