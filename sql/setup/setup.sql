-- sql/setup/setup.sql

-- Returns what setup does with each table that it finds.
CREATE FUNCTION zbxhist_internal.plan_setup(given zbxhist.managed_schema, never_pack boolean, overridden boolean)
RETURNS TABLE (table_schema name, action text, policy zbxhist.parent_config, former zbxhist.parent_config, detail text)
LANGUAGE plpgsql VOLATILE PARALLEL SAFE ROWS 9 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found_table record;
BEGIN
    FOR found_table IN SELECT * FROM zbxhist_internal.find_tables(given.schema_name) LOOP
        table_schema := found_table.table_schema;
        SELECT * INTO former FROM zbxhist.parent_config c
         WHERE c.parent = found_table.parent AND c.routing;
        IF former.parent IS NULL THEN
            action := 'create_parent';
            policy := zbxhist_internal.new_policy(found_table.parent, found_table.is_trends,
                zbxhist_internal.merged_options(table_schema, given, never_pack));
            PERFORM zbxhist_internal.verify_table(found_table.parent);
        ELSE
            policy := zbxhist_internal.changed_policy(former, found_table.is_trends, given, never_pack);
            action := CASE WHEN policy = former THEN 'unchanged' ELSE 'alter_parent' END;
        END IF;
        detail := zbxhist_internal.describe_policy(policy, overridden);
        IF action = 'alter_parent' THEN
            PERFORM zbxhist_internal.require_owner(found_table.parent);
            detail := format('%s; before: %s', detail, zbxhist_internal.describe_policy(former));
        END IF;
        IF action = 'create_parent' AND NOT policy.move_existing AND zbxhist_internal.own_pages(found_table.parent) > 0 THEN
            detail := format('%s; rows stay where they are, but maintenance moves those of today''s partitions', detail);
        END IF;
        RETURN NEXT;
    END LOOP;
END
$$;

-- Manages all Zabbix history and trends tables, in place, changes the policy of those that are
-- managed already to the given arguments, and says what it did; with dry_run, what it would do.
--
-- NULL means unchanged or, for new tables, the default.  Partitions are created first, under locks that
-- stop nobody.  The lock that stops INSERTs, for the triggers, is taken last, on all tables in the order
-- in which Zabbix locks them, and the COMMIT releases it.
CREATE FUNCTION zbxhist.setup(
    schema_name name DEFAULT NULL, history_retention interval DEFAULT NULL, trends_retention interval DEFAULT NULL,
    premake integer DEFAULT NULL, pack_after interval DEFAULT NULL, move_existing boolean DEFAULT NULL,
    configure_zabbix boolean DEFAULT false, dry_run boolean DEFAULT false, accept_deletion boolean DEFAULT false,
    never_pack boolean DEFAULT false, history_interval interval DEFAULT NULL,
    max_age interval DEFAULT NULL, max_ahead interval DEFAULT NULL)
RETURNS TABLE (parent regclass, action text, detail text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    given CONSTANT zbxhist.managed_schema := ROW(schema_name, history_retention,
        trends_retention, premake, pack_after, move_existing, '{}', history_interval, max_age, max_ahead)::zbxhist.managed_schema;
    step     record;
    schemas  name[] := '{}';
    policies zbxhist.parent_config[] := '{}';
    formers  zbxhist.parent_config[] := '{}';
    fresh    zbxhist.parent_config[] := '{}';
    altered  regclass[] := '{}';
    losers   regclass[] := '{}';
    losses   text[] := '{}';
    zabbix   name;
    target   regclass;
    policy   zbxhist.parent_config;
BEGIN
    PERFORM zbxhist_internal.refuse('22004', 'configure_zabbix, dry_run, accept_deletion and never_pack must not be null')
      WHERE configure_zabbix IS NULL OR dry_run IS NULL OR accept_deletion IS NULL OR never_pack IS NULL;
    -- all options are verified, also those that concern no table now: they are kept for tables that an
    -- upgrade of Zabbix creates later
    PERFORM zbxhist_internal.refuse('22023', 'pack_after and never_pack cannot be given together',
        hint => 'never_pack leaves partitions as they are from now on.')
      WHERE never_pack AND pack_after IS NOT NULL;
    PERFORM zbxhist_internal.verify_age(history_retention, 'history_retention');
    PERFORM zbxhist_internal.verify_age(trends_retention, 'trends_retention');
    policy.max_age := max_age;
    policy.max_ahead := max_ahead;
    PERFORM zbxhist_internal.verify_options(NULL, policy, false, false);
    PERFORM zbxhist_internal.new_policy(NULL, is_trends, zbxhist_internal.merged_options(NULL, given, never_pack))
       FROM unnest('{false,true}'::boolean[]) AS is_trends;
    FOR step IN SELECT * FROM zbxhist_internal.plan_setup(given, never_pack, configure_zabbix) LOOP
        SELECT (step.policy).parent, step.action, step.detail INTO parent, action, detail;
        RETURN NEXT;
        policies := policies || step.policy;
        formers := formers || step.former;
        IF action = 'create_parent' THEN
            fresh := fresh || step.policy;
        ELSIF action = 'alter_parent' THEN
            altered := altered || parent;
        END IF;
        IF step.table_schema <> ALL (schemas) THEN
            schemas := schemas || step.table_schema;
        END IF;
    END LOOP;
    PERFORM zbxhist_internal.refuse('3F000', format('schema "%s" does not exist', schema_name))
      WHERE NOT EXISTS (SELECT FROM pg_namespace n WHERE n.nspname = coalesce(schema_name, 'pg_catalog'));
    PERFORM zbxhist_internal.refuse('42P01', format('found no Zabbix history table in %s',
                                                    coalesce('schema "' || schema_name || '"', 'this database')),
        hint => CASE WHEN schema_name IS NULL
                     THEN 'Connect to the database of Zabbix, or give setup the name of its schema.' END)
      WHERE schemas = '{}';
    FOR step IN SELECT * FROM zbxhist_internal.setup_losses(policies, formers, configure_zabbix) LOOP
        SELECT step.parent, step.action, step.detail INTO parent, action, detail;
        RETURN NEXT;
        losers := losers || parent;
        IF step.wants_consent THEN
            losses := losses || (coalesce(parent || ': ', '') || detail);
        END IF;
    END LOOP;
    PERFORM zbxhist_internal.refuse('55000', 'values that are kept now would be deleted',
        detail => array_to_string(losses || 'To keep more, set longer periods in Zabbix first:'
                                            ' Administration, Housekeeping.  Nothing has been changed.'::text, E'\n'),
        hint => 'To have them deleted, repeat the call with accept_deletion => true.')
      WHERE losses <> '{}' AND NOT accept_deletion AND NOT dry_run;
    parent := NULL;
    FOREACH zabbix IN ARRAY CASE WHEN configure_zabbix THEN schemas ELSE '{}' END LOOP
        action := 'configure_zabbix';
        detail := zbxhist_internal.configure_zabbix(zabbix, dry_run);
        RETURN NEXT;
    END LOOP;
    IF NOT dry_run THEN
        PERFORM zbxhist_internal.adopt(f) FROM unnest(fresh) f;
        FOREACH target IN ARRAY altered LOOP
            -- locks the row: else a change that another session makes now would be overwritten
            SELECT * INTO STRICT policy FROM zbxhist.parent_config c WHERE c.parent = target FOR UPDATE;
            PERFORM zbxhist_internal.write_policy(
                zbxhist_internal.changed_policy(policy, z.is_trends, given, never_pack))
               FROM pg_class k
               JOIN zbxhist_internal.zabbix_tables() z ON z.table_name = k.relname
              WHERE k.oid = target;
        END LOOP;
        PERFORM zbxhist_internal.agree_to_retention(c) FROM zbxhist.parent_config c WHERE c.parent = ANY (losers);
        -- only now: the tables above got the options remembered before
        INSERT INTO zbxhist.managed_schema
        SELECT o.* FROM unnest(schemas) s, zbxhist_internal.merged_options(s, given, never_pack) o
        ON CONFLICT ON CONSTRAINT managed_schema_pkey DO UPDATE
           SET (schema_name, history_retention, trends_retention, premake, pack_after, move_existing, excluded,
                history_interval, max_age, max_ahead) = ROW(excluded.*);
    END IF;
    action := 'preload';
    detail := zbxhist_internal.preload_library(dry_run);
    IF detail IS NOT NULL THEN
        RETURN NEXT;
    END IF;
    -- last: its lock stops writers until the end of the transaction
    IF NOT dry_run THEN
        PERFORM zbxhist_internal.attach_triggers(ARRAY(SELECT f.parent FROM unnest(fresh) f));
    END IF;
END
$$;
