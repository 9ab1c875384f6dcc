-- sql/maintenance/step_take_up.sql

CREATE FUNCTION zbxhist_internal.step_take_up(parent regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    policy  zbxhist.parent_config;
    waited  interval;
BEGIN
    IF NOT EXISTS (SELECT FROM zbxhist_internal.new_tables() n WHERE n = parent) THEN
        RETURN 'done';
    END IF;
    SELECT (zbxhist_internal.new_policy(f.parent, f.is_trends, m)).* INTO STRICT policy
      FROM zbxhist.managed_schema m,
           zbxhist_internal.find_tables(m.schema_name) f
     WHERE f.parent = step_take_up.parent;
    PERFORM zbxhist_internal.adopt(policy);
    waited := zbxhist_internal.attach_triggers(ARRAY[parent]);
    PERFORM zbxhist_internal.log_action(parent, 'take_up', NULL, NULL, NULL, started, waited, NULL,
                               zbxhist_internal.describe_policy(policy));
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist_internal.step_take_up(regclass) IS
'Maintenance: makes a new Zabbix table a managed one (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.step_take_up(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.step_take_up(regclass) TO pg_database_owner;
