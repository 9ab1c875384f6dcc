-- sql/setup/describe_policy.sql

CREATE FUNCTION zbxhist_internal.describe_policy(policy zbxhist.parent_config)
RETURNS text
LANGUAGE sql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT zbxhist_internal.describe_planned_policy(policy, false)
$$;

COMMENT ON FUNCTION zbxhist_internal.describe_policy(zbxhist.parent_config) IS
'A policy in words (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.describe_policy(zbxhist.parent_config) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.describe_policy(zbxhist.parent_config) TO PUBLIC;
