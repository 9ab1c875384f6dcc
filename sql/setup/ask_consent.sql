-- sql/setup/ask_consent.sql

CREATE FUNCTION zbxhist_internal.ask_consent(losses text[], dry_run boolean, command text)
RETURNS TABLE (parent regclass, action text, detail text)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF cardinality(losses) = 0 THEN
        RETURN;
    END IF;
    IF NOT dry_run THEN
        RAISE EXCEPTION 'values that are kept now would be deleted'
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = array_to_string(losses || 'To keep more, set longer periods in Zabbix first:'
                                                     ' Administration, Housekeeping.  Nothing has been changed.'::text, E'\n'),
                  HINT = command;
    END IF;
    action := 'accept_deletion';
    detail := command;
    RETURN NEXT;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.ask_consent(text[], boolean, text) IS
'Raises an error if setup would have something deleted, with the call that agrees to that; with dry_run, only says so (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.ask_consent(text[], boolean, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.ask_consent(text[], boolean, text) TO PUBLIC;
