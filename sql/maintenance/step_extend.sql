-- sql/maintenance/step_extend.sql
--
-- For move_existing: from the newest to the oldest.

CREATE FUNCTION zbxhist_internal.step_extend(parent regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    policy  CONSTANT zbxhist.parent_config := zbxhist_internal.require_parent(parent);
    started CONSTANT timestamptz := clock_timestamp();
    gap     CONSTANT record := zbxhist_internal.next_existing_range(policy);
    made    regclass;
BEGIN
    IF gap.from_clock IS NULL
       OR (SELECT count(*) FROM zbxhist.list_partitions(parent)) >= zbxhist_internal.most_partitions() THEN
        RETURN 'done';
    END IF;
    made := zbxhist_internal.create_range(parent, gap.from_clock, gap.to_clock);
    PERFORM zbxhist_internal.log_action(parent, 'extend', made::text, NULL, NULL, started);
    UPDATE zbxhist.parent_state s SET extended_to = gap.from_clock
     WHERE s.parent = step_extend.parent;
    PERFORM zbxhist_internal.set_action(parent, 'move', made::text);
    RETURN 'more';
END
$$;

COMMENT ON FUNCTION zbxhist_internal.step_extend(regclass) IS
'Maintenance: creates the partition of the newest rows in the parent that have none (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.step_extend(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.step_extend(regclass) TO pg_database_owner;
