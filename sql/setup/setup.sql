-- sql/setup/setup.sql
--
-- NULL: as it is or, of new tables, the default.  The partitions come first,
-- under locks that stop nobody; the one lock that does stop INSERTs, for the
-- triggers, comes last, for all tables at once and in the order of Zabbix, and
-- is let go by the COMMIT that follows.

CREATE FUNCTION zbxhist.setup(
    schema_name name DEFAULT NULL,
    history_retention interval DEFAULT NULL,
    trends_retention interval DEFAULT NULL,
    premake integer DEFAULT NULL,
    pack_after interval DEFAULT NULL,
    move_existing boolean DEFAULT NULL,
    configure_zabbix boolean DEFAULT false,
    dry_run boolean DEFAULT false,
    accept_deletion boolean DEFAULT false,
    never_pack boolean DEFAULT false,
    history_interval interval DEFAULT NULL,
    ingest text DEFAULT NULL)
RETURNS TABLE (parent regclass, action text, detail text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    given CONSTANT zbxhist.managed_schema := ROW(schema_name, history_retention,
        trends_retention, premake, pack_after, move_existing, '{}', history_interval, ingest)::zbxhist.managed_schema;
    step     record;
    schemas  name[] := '{}';
    policies zbxhist.parent_config[] := '{}';
    formers  zbxhist.parent_config[] := '{}';
    fresh    zbxhist.parent_config[] := '{}';
    altered  regclass[] := '{}';
    losses   text[] := '{}';
BEGIN
    IF configure_zabbix IS NULL OR dry_run IS NULL OR accept_deletion IS NULL OR never_pack IS NULL THEN
        RAISE EXCEPTION 'configure_zabbix, dry_run, accept_deletion and never_pack must not be null'
            USING ERRCODE = 'null_value_not_allowed';
    END IF;
    PERFORM zbxhist_internal.verify_options(given, never_pack);
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
    PERFORM zbxhist_internal.require_schemas(schema_name, schemas);
    FOR step IN SELECT * FROM zbxhist_internal.setup_losses(policies, formers, configure_zabbix) LOOP
        SELECT step.parent, step.action, step.detail INTO parent, action, detail;
        RETURN NEXT;
        IF step.wants_consent THEN
            losses := losses || (coalesce(parent || ': ', '') || detail);
        END IF;
    END LOOP;
    IF NOT accept_deletion THEN
        RETURN QUERY SELECT * FROM zbxhist_internal.ask_consent(losses, dry_run,
            zbxhist_internal.setup_command(given, never_pack, configure_zabbix));
    END IF;
    RETURN QUERY SELECT * FROM zbxhist_internal.set_up(
        given, never_pack, configure_zabbix, dry_run, schemas, fresh, altered);
END
$$;

COMMENT ON FUNCTION zbxhist.setup(name, interval, interval, integer, interval, boolean, boolean, boolean, boolean, boolean, interval, text) IS
'Finds the Zabbix history and trends tables, takes those into care that are not yet, in place, changes the policy of the others to what is given, and says what it did; with dry_run, what it would do';

REVOKE ALL ON FUNCTION zbxhist.setup(name, interval, interval, integer, interval, boolean, boolean, boolean, boolean, boolean, interval, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.setup(name, interval, interval, integer, interval, boolean, boolean, boolean, boolean, boolean, interval, text) TO pg_database_owner;
