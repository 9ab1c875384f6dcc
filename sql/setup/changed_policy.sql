-- sql/setup/changed_policy.sql

CREATE FUNCTION zbxhist_internal.changed_policy(
    former zbxhist.parent_config,
    is_trends boolean,
    given zbxhist.managed_schema,
    never_pack boolean)
RETURNS zbxhist.parent_config
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    policy zbxhist.parent_config := former;
BEGIN
    policy.retention := coalesce(CASE WHEN is_trends THEN given.trends_retention
                                      ELSE given.history_retention END, former.retention);
    policy.premake := coalesce(CASE WHEN is_trends THEN least(given.premake, 1)
                                    ELSE given.premake END, former.premake);
    IF NOT is_trends THEN
        policy.partition_interval := coalesce(given.history_interval, former.partition_interval);
        policy.ingest := coalesce(zbxhist_internal.possible_ingest(former.parent, given.ingest), former.ingest);
    END IF;
    policy.pack_after := CASE WHEN never_pack THEN NULL
                              WHEN given.pack_after IS NOT NULL
                              THEN greatest(given.pack_after, CASE WHEN is_trends THEN interval '1 day' END)
                              WHEN former.pack_after = zbxhist_internal.default_pack_after(former.partition_interval)
                              THEN zbxhist_internal.default_pack_after(policy.partition_interval)
                              ELSE former.pack_after END;
    policy.move_existing := coalesce(given.move_existing, former.move_existing);
    RETURN policy;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.changed_policy(zbxhist.parent_config, boolean, zbxhist.managed_schema, boolean) IS
'The policy of a managed table with those options of setup that are given (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.changed_policy(zbxhist.parent_config, boolean, zbxhist.managed_schema, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.changed_policy(zbxhist.parent_config, boolean, zbxhist.managed_schema, boolean) TO PUBLIC;
