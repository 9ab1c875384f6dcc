-- sql/setup/new_retention.sql
--
-- Who gives a period says so.  Where it comes from Zabbix, and nothing has acted
-- on it so far, he may not know of it.

CREATE FUNCTION zbxhist_internal.new_retention(
    policy zbxhist.parent_config,
    former zbxhist.parent_config,
    overridden boolean,
    OUT retention interval,
    OUT source text,
    OUT wants_consent boolean)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    keeps CONSTANT record :=
        zbxhist_internal.planned_retention(policy.parent, policy.retention, overridden);
    relation record;
BEGIN
    IF former.parent IS NOT NULL
       AND (zbxhist_internal.effective_retention(former.parent, former.retention)).retention <= keeps.retention THEN
        RETURN;
    END IF;
    retention := keeps.retention;
    source := keeps.source;
    SELECT n.nspname, CASE WHEN k.relname LIKE 'trends%' THEN 'hk_trends' ELSE 'hk_history' END AS option
      INTO relation
      FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace
     WHERE k.oid = policy.parent;
    wants_consent := policy.retention IS NULL
        AND NOT (former.parent IS NULL
                 AND coalesce((zbxhist_internal.zabbix_setting(relation.nspname, relation.option || '_mode')).value, '') = '1'
                 AND coalesce((zbxhist_internal.zabbix_setting(relation.nspname, relation.option || '_global')).value, '') = '1');
END
$$;

COMMENT ON FUNCTION zbxhist_internal.new_retention(zbxhist.parent_config, zbxhist.parent_config, boolean) IS
'The retention that setup brings to a table where there was none or a longer one, and whether somebody has to agree to that; NULL if it brings none (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.new_retention(zbxhist.parent_config, zbxhist.parent_config, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.new_retention(zbxhist.parent_config, zbxhist.parent_config, boolean) TO PUBLIC;
