-- sql/procedures/merge_waiting.sql

CREATE PROCEDURE zbxhist.merge_waiting(parent regclass)
LANGUAGE plpgsql
AS $$
DECLARE
    day    regclass;
    answer text;
    failed boolean := false;
BEGIN
    CALL zbxhist.next_transaction();
    FOREACH day IN ARRAY zbxhist.work_list(parent, 'merge') LOOP
        CALL zbxhist.repeat_step(parent, 'merge', day, answer);
        failed := failed OR answer <> 'done';
    END LOOP;
    IF NOT failed THEN
        UPDATE zbxhist.parent_state s SET merged_at = clock_timestamp()
         WHERE s.parent = merge_waiting.parent
           AND (s.merged_at IS NULL OR s.merged_at < clock_timestamp() - interval '1 hour');
    END IF;
END
$$;

COMMENT ON PROCEDURE zbxhist.merge_waiting(regclass) IS
'Merges the rows that wait in a parent into their packed days (internal)';

REVOKE ALL ON PROCEDURE zbxhist.merge_waiting(regclass) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist.merge_waiting(regclass) TO pg_database_owner;
