-- sql/parent_rows/merge_waiting.sql

CREATE PROCEDURE zbxhist_internal.merge_waiting(parent regclass)
LANGUAGE plpgsql
AS $$
DECLARE
    day    pg_catalog.regclass;
    answer pg_catalog.text;
    failed boolean := false;
BEGIN
    CALL zbxhist_internal.next_transaction();
    FOREACH day IN ARRAY zbxhist_internal.work_list(parent, 'merge') LOOP
        CALL zbxhist_internal.repeat_step(parent, 'merge', day, answer);
        failed := failed OR answer <> 'done';
    END LOOP;
    IF NOT failed THEN
        UPDATE zbxhist.parent_state s SET merged_at = clock_timestamp()
         WHERE s.parent = merge_waiting.parent
           AND (s.merged_at IS NULL OR s.merged_at < clock_timestamp() - interval '1 hour');
    END IF;
END
$$;

COMMENT ON PROCEDURE zbxhist_internal.merge_waiting(regclass) IS
'Merges the rows that wait in a parent into their packed days (internal)';

REVOKE ALL ON PROCEDURE zbxhist_internal.merge_waiting(regclass) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist_internal.merge_waiting(regclass) TO pg_database_owner;
