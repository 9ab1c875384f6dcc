-- sql/setup/new_policy.sql

CREATE FUNCTION zbxhist_internal.new_policy(
    parent regclass,
    is_trends boolean,
    options zbxhist.managed_schema)
RETURNS zbxhist.parent_config
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    policy zbxhist.parent_config;
BEGIN
    policy.parent := parent;
    policy.move_existing := options.move_existing;
    IF is_trends THEN
        policy.partition_interval := '1 month';
        policy.premake := least(options.premake, 1);
        policy.retention := options.trends_retention;
        policy.pack_after := CASE WHEN options.pack_after < interval '1 day' THEN interval '1 day'
                                  ELSE options.pack_after END;
    ELSE
        policy.partition_interval := options.history_interval;
        policy.premake := options.premake;
        policy.retention := options.history_retention;
        policy.pack_after := options.pack_after;
        policy.ingest := zbxhist_internal.possible_ingest(parent, options.ingest);
    END IF;
    PERFORM zbxhist_internal.verify_policy(policy);
    RETURN policy;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.new_policy(regclass, boolean, zbxhist.managed_schema) IS
'The policy that setup gives a Zabbix table: history by the hour or as given, trends by month (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.new_policy(regclass, boolean, zbxhist.managed_schema) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.new_policy(regclass, boolean, zbxhist.managed_schema) TO PUBLIC;
