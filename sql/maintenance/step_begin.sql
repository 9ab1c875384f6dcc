-- sql/maintenance/step_begin.sql

CREATE FUNCTION zbxhist_internal.step_begin(parent regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    policy CONSTANT zbxhist.parent_config := zbxhist_internal.require_parent(parent);
    unfit  record;
BEGIN
    INSERT INTO zbxhist.parent_state (parent) VALUES (parent)
    ON CONFLICT ON CONSTRAINT parent_state_pkey DO UPDATE SET failed = false, extended_to = NULL;
    PERFORM zbxhist_internal.set_action(parent, NULL, NULL);
    PERFORM zbxhist_internal.note_dropped_days(parent);
    unfit := zbxhist_internal.why_unfit(parent);
    IF policy.routing AND unfit.problem IS NOT NULL THEN
        RAISE WARNING 'zbxhist: table % is left alone: %', parent, unfit.problem
            USING HINT = unfit.remedy;
        RETURN 'unfit';
    END IF;
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist_internal.step_begin(regclass) IS
'Maintenance: begins a run for one parent (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.step_begin(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.step_begin(regclass) TO pg_database_owner;
