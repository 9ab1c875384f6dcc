-- sql/setup/alter_parent.sql

CREATE FUNCTION zbxhist.alter_parent(
    parent regclass,
    partition_interval interval DEFAULT NULL,
    retention interval DEFAULT NULL,
    premake integer DEFAULT NULL,
    pack_after interval DEFAULT NULL,
    move_existing boolean DEFAULT NULL,
    follow_zabbix boolean DEFAULT false,
    never_pack boolean DEFAULT false,
    deleted_items text DEFAULT NULL,
    ingest text DEFAULT NULL,
    retention_action text DEFAULT NULL,
    retention_schema name DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    policy zbxhist.parent_config;
BEGIN
    -- somebody who is changing it is waited for, else his change would be undone
    PERFORM FROM zbxhist.parent_config c WHERE c.parent = alter_parent.parent FOR UPDATE;
    policy := zbxhist_internal.require_parent(parent);
    IF follow_zabbix AND retention IS NOT NULL THEN
        RAISE EXCEPTION 'retention and follow_zabbix cannot be given together'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'follow_zabbix sets the retention back to the storage period set in Zabbix.';
    END IF;
    IF never_pack AND pack_after IS NOT NULL THEN
        RAISE EXCEPTION 'pack_after and never_pack cannot be given together'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'never_pack leaves partitions as they are from now on.';
    END IF;
    policy.partition_interval := coalesce(partition_interval, policy.partition_interval);
    policy.premake := coalesce(premake, policy.premake);
    policy.pack_after := CASE WHEN never_pack THEN NULL
                              ELSE coalesce(pack_after, policy.pack_after) END;
    policy.move_existing := coalesce(move_existing, policy.move_existing);
    policy.retention := CASE WHEN follow_zabbix THEN NULL
                             ELSE coalesce(retention, policy.retention) END;
    PERFORM zbxhist_internal.verify_deleted_items(parent, deleted_items);
    policy.deleted_items := coalesce(deleted_items, policy.deleted_items);
    policy.ingest := coalesce(ingest, policy.ingest);
    policy.retention_action := coalesce(retention_action, policy.retention_action);
    -- what is dropped needs none
    policy.retention_schema := CASE WHEN retention_action = 'drop' THEN retention_schema
                                    ELSE coalesce(retention_schema, policy.retention_schema) END;
    PERFORM zbxhist_internal.write_policy(policy);
    PERFORM zbxhist_internal.announce_deletion(policy);
END
$$;

COMMENT ON FUNCTION zbxhist.alter_parent(regclass, interval, interval, integer, interval, boolean, boolean, boolean, text, text, text, name) IS
'Changes the policy of a managed table, only what is given; the next maintenance acts on it.  follow_zabbix takes the retention from Zabbix again, never_pack sets pack_after to NULL; deleted_items ''drop'' leaves out values of items that Zabbix has deleted when days are packed; ingest ''runs'' has new hours stored as runs; retention_action ''detach'' makes tables of their own, in retention_schema, of what is past retention';

REVOKE ALL ON FUNCTION zbxhist.alter_parent(regclass, interval, interval, integer, interval, boolean, boolean, boolean, text, text, text, name) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.alter_parent(regclass, interval, interval, integer, interval, boolean, boolean, boolean, text, text, text, name) TO pg_database_owner;
