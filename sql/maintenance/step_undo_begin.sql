-- sql/maintenance/step_undo_begin.sql

CREATE FUNCTION zbxhist_internal.step_undo_begin(parent regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    UPDATE zbxhist.parent_config c SET routing = false WHERE c.parent = step_undo_begin.parent;
    PERFORM zbxhist_internal.step_begin(parent);
    UPDATE zbxhist.managed_schema m
       SET excluded = m.excluded || k.relname
      FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace
     WHERE k.oid = step_undo_begin.parent AND m.schema_name = n.nspname
       AND k.relname <> ALL (m.excluded);
    PERFORM zbxhist_internal.invalidate(parent);
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist_internal.step_undo_begin(regclass) IS
'Undo: from now on every new row stays in the parent (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.step_undo_begin(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.step_undo_begin(regclass) TO pg_database_owner;
