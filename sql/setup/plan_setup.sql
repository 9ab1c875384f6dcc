-- sql/setup/plan_setup.sql

CREATE FUNCTION zbxhist_internal.plan_setup(
    given zbxhist.managed_schema,
    never_pack boolean,
    overridden boolean)
RETURNS TABLE (table_schema name, action text, policy zbxhist.parent_config,
               former zbxhist.parent_config, detail text)
LANGUAGE plpgsql VOLATILE PARALLEL SAFE ROWS 9
SET search_path = pg_catalog, pg_temp
AS $$
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
            PERFORM zbxhist_internal.verify_ingest(policy);
        END IF;
        IF action = 'alter_parent' THEN
            PERFORM zbxhist_internal.require_owner(found_table.parent);
        END IF;
        detail := zbxhist_internal.describe_planned_policy(policy, overridden);
        IF action = 'alter_parent' THEN
            detail := format('%s; before: %s', detail, zbxhist_internal.describe_policy(former));
        END IF;
        IF action = 'create_parent' AND NOT policy.move_existing AND zbxhist_internal.own_pages(found_table.parent) > 0 THEN
            detail := format('%s; rows stay where they are, but maintenance moves those of today''s partitions', detail);
        END IF;
        IF given.ingest = 'runs' AND policy.ingest = 'heap' AND NOT found_table.is_trends THEN
            detail := format('%s; not as runs: %s', detail, zbxhist_internal.why_no_runs(found_table.parent));
        END IF;
        RETURN NEXT;
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.plan_setup(zbxhist.managed_schema, boolean, boolean) IS
'What setup does with each table that it finds (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.plan_setup(zbxhist.managed_schema, boolean, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.plan_setup(zbxhist.managed_schema, boolean, boolean) TO PUBLIC;
