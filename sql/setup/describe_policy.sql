-- sql/setup/describe_policy.sql

CREATE FUNCTION zbxhist_internal.describe_policy(policy zbxhist.parent_config)
RETURNS text
LANGUAGE sql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET intervalstyle = postgres
AS $$
    SELECT format('partitions of %s, %s ahead; %s; retention %s',
                  policy.partition_interval, policy.premake,
                  coalesce('packed after ' || policy.pack_after, 'never packed'),
                  coalesce(r.retention || ' (' || r.source || ')', 'none (' || r.problem || ')'))
      FROM zbxhist_internal.effective_retention(policy.parent, policy.retention) r
$$;

COMMENT ON FUNCTION zbxhist_internal.describe_policy(zbxhist.parent_config) IS
'A policy in words (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.describe_policy(zbxhist.parent_config) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.describe_policy(zbxhist.parent_config) TO PUBLIC;
