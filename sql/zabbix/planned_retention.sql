-- sql/zabbix/planned_retention.sql

CREATE FUNCTION zbxhist_internal.planned_retention(
    parent regclass,
    policy_retention interval,
    overridden boolean,
    OUT retention interval,
    OUT source text,
    OUT problem text)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    relation record;
    period   record;
BEGIN
    SELECT e.retention, e.source, e.problem INTO retention, source, problem
      FROM zbxhist_internal.effective_retention(parent, policy_retention) e;
    SELECT n.nspname, substring(k.relname FROM '^(history|trends)') AS kind INTO relation
      FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace
     WHERE k.oid = parent;
    IF retention IS NOT NULL OR NOT overridden OR relation.kind IS NULL THEN
        RETURN;
    END IF;
    period := zbxhist_internal.zabbix_setting(relation.nspname, 'hk_' || relation.kind);
    IF zbxhist_internal.parse_period(period.value) > interval '0'
       AND (zbxhist_internal.zabbix_setting(relation.nspname, 'hk_' || relation.kind || '_global')).value <> '1' THEN
        retention := justify_hours(zbxhist_internal.parse_period(period.value));
        source := 'zabbix: ' || period.source;
        problem := NULL;
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.planned_retention(regclass, interval, boolean) IS
'The retention that counts for a table, or the one that would if Zabbix overrode the storage periods of its items (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.planned_retention(regclass, interval, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.planned_retention(regclass, interval, boolean) TO PUBLIC;
