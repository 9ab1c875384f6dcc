-- sql/maintenance/step_premake.sql

CREATE FUNCTION zbxhist_internal.step_premake(parent regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    policy  CONSTANT zbxhist.parent_config := zbxhist_internal.require_parent(parent);
    started CONSTANT timestamptz := clock_timestamp();
    gap     record;
    made    regclass;
BEGIN
    SELECT * INTO gap FROM zbxhist_internal.wanted_ranges(policy) w ORDER BY w.from_clock LIMIT 1;
    IF NOT FOUND THEN
        RETURN 'done';
    END IF;
    made := zbxhist_internal.create_place(parent, gap.from_clock, gap.to_clock);
    PERFORM zbxhist_internal.log_action(parent, 'premake', made::text, NULL, NULL, started);
    RETURN 'more';
END
$$;

COMMENT ON FUNCTION zbxhist_internal.step_premake(regclass) IS
'Maintenance: creates the next partition that the policy wants (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.step_premake(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.step_premake(regclass) TO pg_database_owner;
