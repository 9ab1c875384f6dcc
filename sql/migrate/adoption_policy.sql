-- sql/migrate/adoption_policy.sql

CREATE FUNCTION zbxhist_internal.adoption_policy(native regclass)
RETURNS zbxhist.parent_config
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    nothing CONSTANT zbxhist.managed_schema := NULL;
    source  record;
    partman record;
    policy  zbxhist.parent_config;
BEGIN
    SELECT n.nspname, z.is_trends INTO source
      FROM pg_class k
      JOIN pg_namespace n ON n.oid = k.relnamespace
      LEFT JOIN zbxhist_internal.zabbix_tables() z ON z.table_name = k.relname
     WHERE k.oid = native;
    IF source.is_trends IS NULL THEN
        policy.parent := native;
        policy.partition_interval := '1 day';
        policy.premake := 3;
        policy.move_existing := false;
    ELSE
        policy := zbxhist_internal.new_policy(native, source.is_trends,
            zbxhist_internal.merged_options(source.nspname, nothing, false));
    END IF;
    partman := zbxhist_internal.partman_entry(native);
    IF (zbxhist_internal.effective_retention(native, policy.retention)).retention IS NULL THEN
        policy.retention := partman.retention;
    END IF;
    policy.retention_action := partman.action;
    policy.retention_schema := partman.schema_name;
    PERFORM zbxhist_internal.verify_policy(policy);
    RETURN policy;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.adoption_policy(regclass) IS
'The policy of a natively partitioned table once it is taken over: that of setup, or of create_parent, with the retention of pg_partman if Zabbix has none, and with what that does with partitions past retention (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.adoption_policy(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.adoption_policy(regclass) TO PUBLIC;
