-- sql/maintenance/step_pack.sql

CREATE FUNCTION zbxhist_internal.step_pack(parent regclass, partition regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    problem text;
BEGIN
    PERFORM zbxhist_internal.require_parent(parent);
    -- another run may have packed it, or the policy has been changed
    IF NOT EXISTS (SELECT FROM zbxhist_internal.packable_partitions(parent, partition)) THEN
        RETURN 'done';
    END IF;
    BEGIN
        RETURN zbxhist_internal.pack_partition(parent, partition);
    EXCEPTION WHEN program_limit_exceeded OR feature_not_supported THEN
        -- it would be so each time
        GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT;
    END;
    INSERT INTO zbxhist.partition_state AS s (partition, parent, settling, not_packable)
    VALUES (partition, parent, zbxhist_internal.running_transactions(), problem)
    ON CONFLICT ON CONSTRAINT partition_state_pkey DO UPDATE SET not_packable = excluded.not_packable;
    PERFORM zbxhist_internal.set_action(parent, NULL, NULL);
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist_internal.step_pack(regclass, regclass) IS
'Maintenance: packs a partition that the policy wants packed (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.step_pack(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.step_pack(regclass, regclass) TO pg_database_owner;
