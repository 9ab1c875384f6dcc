-- sql/maintenance/step_trigger.sql

CREATE FUNCTION zbxhist_internal.step_trigger(parent regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    missing CONSTANT name[] := ARRAY(SELECT zbxhist_internal.missing_route_triggers(parent));
    waited  interval;
BEGIN
    PERFORM zbxhist_internal.require_parent(parent);
    IF missing = '{}' THEN
        RETURN 'done';
    END IF;
    waited := zbxhist_internal.attach_triggers(ARRAY[parent]);
    IF EXISTS (SELECT FROM zbxhist_internal.missing_route_triggers(parent)) THEN
        RAISE EXCEPTION 'table % has triggers of its own named as those of zbxhist: %', parent,
                        array_to_string(ARRAY(SELECT zbxhist_internal.missing_route_triggers(parent)), ', ')
            USING ERRCODE = 'duplicate_object';
    END IF;
    PERFORM zbxhist_internal.log_action(parent, 'trigger', NULL, NULL, NULL, started, waited, NULL,
                                        array_to_string(missing, ', '));
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist_internal.step_trigger(regclass) IS
'Maintenance: gives a managed table the routing triggers that it lacks (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.step_trigger(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.step_trigger(regclass) TO pg_database_owner;
