-- sql/setup/set_up.sql

CREATE FUNCTION zbxhist_internal.set_up(
    given zbxhist.managed_schema,
    never_pack boolean,
    configure_zabbix boolean,
    dry_run boolean,
    schemas name[],
    fresh zbxhist.parent_config[],
    altered regclass[])
RETURNS TABLE (parent regclass, action text, detail text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    zabbix name;
    target regclass;
    policy zbxhist.parent_config;
BEGIN
    FOREACH zabbix IN ARRAY schemas LOOP
        IF configure_zabbix THEN
            action := 'configure_zabbix';
            detail := zbxhist_internal.configure_zabbix(zabbix, dry_run);
            RETURN NEXT;
        END IF;
    END LOOP;
    IF NOT dry_run THEN
        PERFORM zbxhist_internal.adopt(f) FROM unnest(fresh) f;
        FOREACH target IN ARRAY altered LOOP
            -- somebody who is changing it is waited for, else his change would be undone
            SELECT * INTO STRICT policy FROM zbxhist.parent_config c WHERE c.parent = target FOR UPDATE;
            PERFORM zbxhist_internal.write_policy(
                zbxhist_internal.changed_policy(policy, z.is_trends, given, never_pack))
               FROM pg_class k
               JOIN zbxhist_internal.zabbix_tables() z ON z.table_name = k.relname
              WHERE k.oid = target;
        END LOOP;
        -- only now: what was remembered before counts for the tables above
        PERFORM zbxhist_internal.remember_schema(s, zbxhist_internal.merged_options(s, given, never_pack))
           FROM unnest(schemas) s;
    END IF;
    action := 'preload';
    detail := zbxhist_internal.preload_library(dry_run);
    IF detail IS NOT NULL THEN
        RETURN NEXT;
    END IF;
    FOR detail IN SELECT 'left to a superuser: ' || r.command FROM zbxhist_internal.overriding_roles() r LOOP
        RETURN NEXT;
    END LOOP;
    -- last: its lock stops writers until the end of the transaction
    IF NOT dry_run THEN
        PERFORM zbxhist_internal.attach_triggers(ARRAY(SELECT f.parent FROM unnest(fresh) f));
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.set_up(zbxhist.managed_schema, boolean, boolean, boolean, name[], zbxhist.parent_config[], regclass[]) IS
'The part of setup that changes something (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.set_up(zbxhist.managed_schema, boolean, boolean, boolean, name[], zbxhist.parent_config[], regclass[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.set_up(zbxhist.managed_schema, boolean, boolean, boolean, name[], zbxhist.parent_config[], regclass[]) TO pg_database_owner;
