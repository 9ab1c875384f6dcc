-- sql/maintenance/step_undo_settle.sql

CREATE FUNCTION zbxhist_internal.step_undo_settle(parent regclass)
RETURNS text
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN zbxhist_internal.settled(parent) THEN 'done' ELSE 'wait' END
$$;

COMMENT ON FUNCTION zbxhist_internal.step_undo_settle(regclass) IS
'Undo: waits for transactions that may need the moved rows where they were (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.step_undo_settle(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.step_undo_settle(regclass) TO pg_database_owner;
