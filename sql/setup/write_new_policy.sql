-- sql/setup/write_new_policy.sql

CREATE FUNCTION zbxhist_internal.write_new_policy(policy zbxhist.parent_config)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO zbxhist.parent_config AS c
        (parent, partition_interval, retention, premake, pack_after, move_existing, ingest,
         retention_action, retention_schema)
    VALUES (policy.parent, policy.partition_interval, policy.retention, policy.premake,
            policy.pack_after, policy.move_existing, coalesce(policy.ingest, 'heap'),
            coalesce(policy.retention_action, 'drop'), policy.retention_schema)
    ON CONFLICT (parent) DO UPDATE
       SET partition_interval = excluded.partition_interval, retention = excluded.retention,
           premake = excluded.premake, pack_after = excluded.pack_after,
           move_existing = excluded.move_existing, ingest = excluded.ingest,
           retention_action = coalesce(policy.retention_action, c.retention_action),
           retention_schema = CASE WHEN policy.retention_action IS NULL THEN c.retention_schema
                                   ELSE policy.retention_schema END,
           routing = true
     WHERE NOT c.routing;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'table % is already managed by zbxhist', policy.parent
            USING ERRCODE = 'duplicate_object',
                  HINT = 'To change its policy, call zbxhist.alter_parent.';
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.write_new_policy(zbxhist.parent_config) IS
'Writes the policy of a table that is not managed, or whose undo is under way (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.write_new_policy(zbxhist.parent_config) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.write_new_policy(zbxhist.parent_config) TO pg_database_owner;
