-- sql/check/check_policy.sql

CREATE FUNCTION zbxhist_internal.check_policy(parent regclass)
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    policy zbxhist.parent_config;
    keeps  record;
    place  record;
    days   bigint;
BEGIN
    SELECT * INTO policy FROM zbxhist.parent_config c WHERE c.parent = check_policy.parent;
    IF NOT policy.routing THEN
        RETURN QUERY
            SELECT 'warning', 'undo_unfinished', check_policy.parent::text,
                   'an undo was begun and has not come to its end: new rows stay in the table itself, and nothing is deleted.  Call it again; or, to stay with zbxhist, call zbxhist.create_parent',
                   format('CALL zbxhist.undo(%L);', check_policy.parent)
             WHERE NOT EXISTS (SELECT FROM zbxhist.progress g WHERE g.parent = check_policy.parent);
        RETURN;
    END IF;
    RETURN QUERY
        SELECT 'error', 'retention_schema', check_policy.parent::text,
               format('its partitions cannot be detached when they are past retention: %s', s.problem), s.remedy
          FROM zbxhist_internal.schema_problem(check_policy.parent, policy.retention_schema) s
         WHERE s.problem IS NOT NULL;
    keeps := zbxhist_internal.effective_retention(parent, policy.retention);
    SELECT n.nspname, k.relname INTO place
      FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace
     WHERE k.oid = check_policy.parent;
    -- what only the override is missing for is told by check_zabbix, as is who cannot know
    IF keeps.retention IS NULL
       AND ((zbxhist_internal.settings_grant(place.nspname)).command IS NULL OR place.relname !~ '^(history|trends)')
       AND ((zbxhist_internal.planned_retention(parent, NULL, true)).retention IS NULL
            OR NOT EXISTS (SELECT FROM zbxhist_internal.zabbix_tables() z WHERE z.table_name = place.relname)) THEN
        days := zbxhist_internal.harmless_days(parent);
        RETURN QUERY SELECT 'warning', 'no_retention', parent::text,
            format('zbxhist deletes nothing of it: %s.  Give it a retention; with one of %s days nothing is deleted now',
                   keeps.problem, days),
            format('SELECT zbxhist.alter_parent(%L, retention => ''%s days'');', parent, days);
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.check_policy(regclass) IS
'The part of check that is about the policy of a table (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.check_policy(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.check_policy(regclass) TO PUBLIC;
