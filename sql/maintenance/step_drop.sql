-- sql/maintenance/step_drop.sql

CREATE FUNCTION zbxhist_internal.step_drop(parent regclass, relation regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    policy CONSTANT zbxhist.parent_config := zbxhist_internal.require_parent(parent);
BEGIN
    -- another run may have dropped it, or the policy has been changed
    IF EXISTS (SELECT FROM zbxhist_internal.expired_partitions(parent) e WHERE e = relation
                UNION ALL
               SELECT FROM zbxhist_internal.expired_days(parent) e
                WHERE e = relation AND policy.retention_action = 'drop') THEN
        PERFORM zbxhist_internal.take_off(parent, relation, policy.retention_action, policy.retention_schema);
    END IF;
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist_internal.step_drop(regclass, regclass) IS
'Maintenance: drops a partition or a packed day that is past retention, or detaches a partition (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.step_drop(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.step_drop(regclass, regclass) TO pg_database_owner;
