-- sql/setup/verify_policy.sql

CREATE FUNCTION zbxhist_internal.verify_policy(policy zbxhist.parent_config)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM zbxhist_internal.verify_interval(policy.partition_interval);
    PERFORM zbxhist_internal.verify_retention(policy.retention, 'retention');
    IF policy.pack_after <= interval '0' THEN
        RAISE EXCEPTION 'pack_after must be greater than zero'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF policy.pack_after > interval '200 years' THEN
        RAISE EXCEPTION 'pack_after must not be longer than 200 years'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF policy.premake IS NULL OR policy.premake NOT BETWEEN 0 AND 1000 THEN
        RAISE EXCEPTION 'premake must be between 0 and 1000'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF policy.move_existing IS NULL THEN
        RAISE EXCEPTION 'move_existing must not be null'
            USING ERRCODE = 'null_value_not_allowed';
    END IF;
    PERFORM zbxhist_internal.verify_ingest(policy);
    PERFORM zbxhist_internal.verify_retention_action(policy.parent, policy.retention_action, policy.retention_schema);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.verify_policy(zbxhist.parent_config) IS
'Raises an error unless the values of a policy make sense (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.verify_policy(zbxhist.parent_config) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.verify_policy(zbxhist.parent_config) TO PUBLIC;
