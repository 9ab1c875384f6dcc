-- sql/maintenance/step_undo_end.sql

CREATE FUNCTION zbxhist_internal.step_undo_end(parent regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    packed  CONSTANT regclass := zbxhist_internal.packed_table(parent);
    waited  interval;
    item    record;
BEGIN
    IF EXISTS (SELECT FROM zbxhist_internal.list_ranges(parent))
       OR EXISTS (SELECT FROM zbxhist_internal.own_children(parent)) THEN
        RETURN 'again';
    END IF;
    IF packed IS NOT NULL THEN
        PERFORM zbxhist_internal.lock_patiently(parent);
        waited := zbxhist_internal.lock_exclusively(packed, zbxhist_internal.short_lock_timeout());
        PERFORM zbxhist_internal.execute_as_owner(parent, format('DROP FOREIGN TABLE %s', packed));
    END IF;
    waited := zbxhist_internal.lock_exclusively(parent, zbxhist_internal.short_lock_timeout());
    FOR item IN
        SELECT t.tgname FROM pg_trigger t
         WHERE t.tgrelid = parent AND t.tgfoid = 'zbxhist.route()'::regprocedure
    LOOP
        PERFORM zbxhist_internal.execute_as_owner(
            parent, format('DROP TRIGGER %I ON %s', item.tgname, parent));
    END LOOP;
    PERFORM zbxhist_internal.log_action(parent, 'undo', NULL, NULL, NULL, started, waited);
    DELETE FROM zbxhist.step_problem p WHERE p.parent = step_undo_end.parent;
    DELETE FROM zbxhist.parent_state s WHERE s.parent = step_undo_end.parent;
    DELETE FROM zbxhist.parent_config c WHERE c.parent = step_undo_end.parent;
    PERFORM zbxhist_internal.invalidate(parent);
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist_internal.step_undo_end(regclass) IS
'Undo: takes the triggers off the parent and forgets it (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.step_undo_end(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.step_undo_end(regclass) TO pg_database_owner;
