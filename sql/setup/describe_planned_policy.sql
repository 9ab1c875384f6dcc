-- sql/setup/describe_planned_policy.sql

CREATE FUNCTION zbxhist_internal.describe_planned_policy(policy zbxhist.parent_config, overridden boolean)
RETURNS text
LANGUAGE sql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET intervalstyle = postgres
AS $$
    SELECT format('partitions of %s, %s%s ahead; %s%s%s%s; retention %s%s',
                  policy.partition_interval, policy.premake,
                  CASE WHEN zbxhist_internal.span_seconds(policy.partition_interval) IS NOT NULL 
                       THEN CASE policy.premake WHEN 1 THEN ' day' ELSE ' days' END ELSE '' END,
                  coalesce('packed after ' || policy.pack_after, 'never packed'),
                  CASE WHEN policy.move_existing THEN '; existing rows moved to partitions' ELSE '' END,
                  CASE WHEN policy.deleted_items = 'drop' THEN '; values of deleted items left out' ELSE '' END,
                  CASE WHEN policy.ingest = 'runs' THEN '; new hours as runs' ELSE '' END,
                  coalesce(r.retention || ' (' || r.source || ')', 'none (' || r.problem || ')'),
                  CASE WHEN policy.retention_action = 'detach'
                       THEN ', then detached' || coalesce(format(' into schema %I', policy.retention_schema), '') ELSE '' END)
      FROM zbxhist_internal.planned_retention(policy.parent, policy.retention, overridden) r
$$;

COMMENT ON FUNCTION zbxhist_internal.describe_planned_policy(zbxhist.parent_config, boolean) IS
'A policy in words, as it is or as it would be if Zabbix overrode the storage periods of its items (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.describe_planned_policy(zbxhist.parent_config, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.describe_planned_policy(zbxhist.parent_config, boolean) TO PUBLIC;
