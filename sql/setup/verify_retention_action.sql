-- sql/setup/verify_retention_action.sql

CREATE FUNCTION zbxhist_internal.verify_retention_action(parent regclass, action text, schema_name name)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found_problem CONSTANT record := zbxhist_internal.schema_problem(parent, schema_name);
BEGIN
    IF action NOT IN ('drop', 'detach') THEN
        RAISE EXCEPTION 'unrecognized value for argument "retention_action": "%"', action
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Valid values are "drop", "detach".';
    END IF;
    IF schema_name IS NOT NULL AND action IS DISTINCT FROM 'detach' THEN
        RAISE EXCEPTION 'retention_schema is only for retention_action "detach"'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = format('SELECT zbxhist.alter_parent(%L, retention_action => ''detach'', retention_schema => %L);',
                                parent, schema_name);
    END IF;
    IF found_problem.problem IS NOT NULL THEN
        RAISE EXCEPTION '%', found_problem.problem
            USING ERRCODE = found_problem.sqlstate, HINT = found_problem.remedy;
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.verify_retention_action(regclass, text, name) IS
'Raises an error unless retention can do that with the partitions of a table (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.verify_retention_action(regclass, text, name) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.verify_retention_action(regclass, text, name) TO PUBLIC;
