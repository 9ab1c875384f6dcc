-- sql/zabbix/effective_retention.sql
--
-- The storage period set in Zabbix counts only while it overrides those of the
-- items (hk_*_global); without that nothing says how old is too old, and
-- nothing is dropped.

CREATE FUNCTION zbxhist_internal.effective_retention(
    parent regclass,
    policy_retention interval,
    OUT retention interval,
    OUT source text,
    OUT problem text)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    table_schema name;
    table_name   name;
    option       text;
    overrides    record;
    period       record;
    length       interval;
BEGIN
    IF policy_retention IS NOT NULL THEN
        retention := policy_retention;
        source := 'policy';
        RETURN;
    END IF;
    source := 'none';
    SELECT n.nspname, k.relname INTO table_schema, table_name
      FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace
     WHERE k.oid = parent;
    option := CASE WHEN table_name LIKE 'trends%' THEN 'hk_trends'
                   WHEN table_name LIKE 'history%' THEN 'hk_history' END;
    IF option IS NULL THEN
        problem := 'the policy has no retention and the table is none of Zabbix';
        RETURN;
    END IF;
    overrides := zbxhist_internal.zabbix_setting(table_schema, option || '_global');
    period := zbxhist_internal.zabbix_setting(table_schema, option);
    length := zbxhist_internal.parse_period(period.value);
    IF overrides.source IS NULL THEN
        problem := format('schema %I has no Zabbix settings', table_schema);
    ELSIF overrides.value IS NULL OR period.value IS NULL THEN
        problem := format('cannot read %s', period.source) || coalesce(': ' || period.problem, '');
    ELSIF overrides.value <> '1' THEN
        problem := format('%s is %s: Zabbix does not override the storage periods of the items',
                          overrides.source, overrides.value);
    ELSIF length IS NULL THEN
        problem := format('%s is "%s", which is not a period', period.source, period.value);
    ELSIF length = interval '0' THEN
        problem := format('%s is 0, which says nothing about rows already stored', period.source);
    ELSE
        retention := justify_hours(length);
        source := 'zabbix: ' || period.source;
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.effective_retention(regclass, interval) IS
'The retention that counts for a table, where it comes from, and why if there is none (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.effective_retention(regclass, interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.effective_retention(regclass, interval) TO PUBLIC;
