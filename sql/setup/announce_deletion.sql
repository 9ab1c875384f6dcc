-- sql/setup/announce_deletion.sql

CREATE FUNCTION zbxhist_internal.announce_deletion(policy zbxhist.parent_config)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET intervalstyle = postgres
AS $$
DECLARE
    keeps CONSTANT record := zbxhist_internal.effective_retention(policy.parent, policy.retention);
    lost  CONSTANT text := zbxhist_internal.describe_deletion(policy.parent, keeps.retention);
BEGIN
    IF policy.partition_interval > 2 * keeps.retention THEN
        RAISE WARNING 'table % keeps values for up to %, though its retention is %', policy.parent,
                      policy.partition_interval + keeps.retention, keeps.retention
            USING DETAIL = format('A partition is dropped when all of its %s are past retention.', policy.partition_interval),
                  HINT = format('SELECT zbxhist.alter_parent(%L, partition_interval => %L);', policy.parent,
                                CASE WHEN keeps.retention >= interval '2 days' THEN '1 day' ELSE '1 hour' END);
    END IF;
    IF lost IS NOT NULL THEN
        RAISE NOTICE 'the next maintenance deletes what is older than % in table %: %',
                     keeps.retention, policy.parent, lost;
    ELSIF policy.retention_action = 'detach' AND EXISTS (
            SELECT FROM zbxhist_internal.list_ranges(policy.parent) r
             WHERE r.to_clock <= zbxhist_internal.clock_before(keeps.retention)) THEN
        RAISE NOTICE 'the next maintenance detaches what is older than % from table %: % partitions and packed days',
                     keeps.retention, policy.parent,
                     (SELECT count(*) FROM zbxhist_internal.list_ranges(policy.parent) r
                       WHERE r.to_clock <= zbxhist_internal.clock_before(keeps.retention));
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.announce_deletion(zbxhist.parent_config) IS
'Says how much the next maintenance will delete by a policy just set, and warns if partitions are long for its retention (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.announce_deletion(zbxhist.parent_config) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.announce_deletion(zbxhist.parent_config) TO pg_database_owner;
