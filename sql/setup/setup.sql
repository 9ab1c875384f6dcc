-- sql/setup/setup.sql
--
-- The partitions come first, under locks that stop nobody; the one lock that
-- does stop INSERTs, for the triggers, comes last, for all tables at once and
-- in the order of Zabbix, and is let go by the COMMIT that follows.

CREATE FUNCTION zbxhist.setup(
    schema_name name DEFAULT NULL,
    history_retention interval DEFAULT NULL,
    trends_retention interval DEFAULT NULL,
    premake integer DEFAULT 3,
    pack_after interval DEFAULT '1 day',
    move_existing boolean DEFAULT false,
    configure_zabbix boolean DEFAULT false,
    dry_run boolean DEFAULT false)
RETURNS TABLE (parent regclass, action text, detail text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    options CONSTANT zbxhist.managed_schema := ROW(schema_name, history_retention,
        trends_retention, premake, pack_after, move_existing, '{}')::zbxhist.managed_schema;
    policy  zbxhist.parent_config;
    found_table  record;
    found_schema name;
    schemas name[] := '{}';
    fresh   regclass[] := '{}';
BEGIN
    FOR found_table IN SELECT * FROM zbxhist_internal.find_tables(schema_name) LOOP
        IF found_table.table_schema <> ALL (schemas) THEN
            schemas := schemas || found_table.table_schema;
        END IF;
        parent := found_table.parent;
        SELECT * INTO policy FROM zbxhist.parent_config c WHERE c.parent = found_table.parent;
        IF FOUND AND policy.routing THEN
            action := 'unchanged';
        ELSE
            action := 'create_parent';
            policy := zbxhist_internal.new_policy(parent, found_table.is_trends, options);
            PERFORM zbxhist_internal.verify_table(parent);
            fresh := fresh || parent;
        END IF;
        detail := zbxhist_internal.describe_policy(policy);
        RETURN NEXT;
    END LOOP;
    PERFORM zbxhist_internal.require_schemas(schema_name, schemas);
    FOREACH found_schema IN ARRAY schemas LOOP
        IF configure_zabbix THEN
            parent := NULL;
            action := 'configure_zabbix';
            detail := zbxhist_internal.configure_zabbix(found_schema, dry_run);
            RETURN NEXT;
        END IF;
        IF NOT dry_run THEN
            PERFORM zbxhist_internal.remember_schema(found_schema, options);
        END IF;
    END LOOP;
    IF NOT dry_run THEN
        PERFORM zbxhist_internal.adopt(zbxhist_internal.new_policy(f.parent, f.is_trends, options))
           FROM zbxhist_internal.find_tables(schema_name) f
          WHERE f.parent = ANY (fresh);
    END IF;
    parent := NULL;
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
        PERFORM zbxhist_internal.attach_triggers(fresh);
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist.setup(name, interval, interval, integer, interval, boolean, boolean, boolean) IS
'Finds the Zabbix history and trends tables, takes those into care that are not yet, in place, and says what it did; with dry_run, what it would do';

REVOKE ALL ON FUNCTION zbxhist.setup(name, interval, interval, integer, interval, boolean, boolean, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.setup(name, interval, interval, integer, interval, boolean, boolean, boolean) TO pg_database_owner;
