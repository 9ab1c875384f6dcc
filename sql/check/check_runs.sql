-- sql/check/check_runs.sql

CREATE FUNCTION zbxhist_internal.check_runs(parent regclass)
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    policy  CONSTANT zbxhist.parent_config := (
        SELECT c FROM zbxhist.parent_config c WHERE c.parent = check_runs.parent);
    problem text;
BEGIN
    IF policy.ingest = 'runs' THEN
        problem := zbxhist_internal.why_no_runs(parent);
        RETURN QUERY
            SELECT 'warning', 'no_runs', parent::text,
                   format('its new values are stored in ordinary partitions, for they cannot be stored as runs: %s.  If that is to stay, the command says so in its policy, too', problem),
                   format('SELECT zbxhist.alter_parent(%L, ingest => ''heap'');', parent)
             WHERE problem IS NOT NULL;
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.check_runs(regclass) IS
'The part of check that is about hours whose values are stored as runs (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.check_runs(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.check_runs(regclass) TO PUBLIC;
