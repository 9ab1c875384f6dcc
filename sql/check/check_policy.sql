-- sql/check/check_policy.sql

CREATE FUNCTION zbxhist_internal.check_policy(parent regclass)
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
SET intervalstyle = postgres
AS $$
DECLARE
    policy zbxhist.parent_config;
    keeps  record;
    zabbix name;
    option text;
    mode   record;
    period record;
BEGIN
    SELECT * INTO policy FROM zbxhist.parent_config c WHERE c.parent = check_policy.parent;
    SELECT n.nspname, CASE WHEN k.relname LIKE 'trends%' THEN 'hk_trends' ELSE 'hk_history' END
      INTO zabbix, option
      FROM pg_class k
      JOIN pg_namespace n ON n.oid = k.relnamespace
      JOIN zbxhist_internal.zabbix_tables() z ON z.table_name = k.relname
     WHERE k.oid = check_policy.parent;
    keeps := zbxhist_internal.effective_retention(parent, policy.retention);
    -- who may not read the settings cannot tell
    IF keeps.retention IS NULL
       AND (keeps.problem NOT LIKE 'cannot read%'
            OR pg_has_role((SELECT k.relowner FROM pg_class k WHERE k.oid = check_policy.parent), 'USAGE')) THEN
        RETURN QUERY SELECT 'warning', 'no_retention', parent::text,
            format('nothing is ever dropped: %s', keeps.problem),
            format('SELECT zbxhist.alter_parent(%L, retention => ''90 days'');%s', parent,
                   CASE WHEN zabbix IS NOT NULL
                        THEN format(' or SELECT * FROM zbxhist.setup(%L, configure_zabbix => true);', zabbix)
                        ELSE '' END);
    END IF;
    IF NOT policy.routing THEN
        RETURN QUERY SELECT 'warning', 'undo_unfinished', parent::text,
            'an undo has begun and has not come to its end',
            format('CALL zbxhist.undo(%L); or, to stay with zbxhist, SELECT zbxhist.create_parent(%1$L, ...);', parent);
    END IF;
    IF zabbix IS NULL THEN
        RETURN;
    END IF;
    mode := zbxhist_internal.zabbix_setting(zabbix, option || '_mode');
    IF mode.value = '1' THEN
        RETURN QUERY SELECT 'warning', 'housekeeper_on', parent::text,
            format('%s is 1: the Zabbix housekeeper deletes row by row what zbxhist drops by partition', mode.source),
            format('SELECT * FROM zbxhist.setup(%L, configure_zabbix => true);', zabbix);
    END IF;
    period := zbxhist_internal.zabbix_setting(zabbix, option);
    IF policy.retention > zbxhist_internal.parse_period(period.value)
       AND (zbxhist_internal.zabbix_setting(zabbix, option || '_global')).value = '1' THEN
        RETURN QUERY SELECT 'warning', 'zabbix_hides_rows', parent::text,
            format('rows are kept for %s, but Zabbix shows only those of %s (%s)',
                   policy.retention, period.value, period.source),
            'Set the storage period in Administration, Housekeeping to the same.';
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.check_policy(regclass) IS
'The part of check that is about policy and the settings of Zabbix (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.check_policy(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.check_policy(regclass) TO PUBLIC;
