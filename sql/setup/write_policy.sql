-- sql/setup/write_policy.sql

CREATE FUNCTION zbxhist_internal.write_policy(policy zbxhist.parent_config)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM zbxhist_internal.verify_policy(policy);
    UPDATE zbxhist.parent_config c
       SET partition_interval = policy.partition_interval, retention = policy.retention,
           premake = policy.premake, pack_after = policy.pack_after,
           move_existing = policy.move_existing,
           deleted_items = coalesce(policy.deleted_items, c.deleted_items),
           ingest = coalesce(policy.ingest, c.ingest),
           retention_action = coalesce(policy.retention_action, c.retention_action),
           retention_schema = policy.retention_schema
     WHERE c.parent = policy.parent;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.write_policy(zbxhist.parent_config) IS
'Changes the policy of a managed table to this one (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.write_policy(zbxhist.parent_config) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.write_policy(zbxhist.parent_config) TO pg_database_owner;
