-- sql/migrate/leave_partman.sql
--
-- Its row is locked before the table is, as by pg_partman's own maintenance.  A
-- template is dropped with it only if it is one that pg_partman has made for
-- this table.

CREATE FUNCTION zbxhist_internal.leave_partman(parent regclass)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    entry   CONSTANT record := zbxhist_internal.partman_entry(parent);
    command CONSTANT text := format('DELETE FROM %s WHERE parent_table = $1', entry.config);
BEGIN
    IF entry.config IS NULL THEN
        RETURN;
    END IF;
    PERFORM set_config('lock_timeout', zbxhist_internal.patient_lock_timeout()::text, true);
    -- what triggers there are is its owner's code
    IF pg_has_role((SELECT k.relowner FROM pg_class k WHERE k.oid = entry.config), 'USAGE') THEN
        PERFORM zbxhist_internal.execute_as_owner(entry.config, command, entry.key);
    ELSE
        EXECUTE command USING entry.key;
    END IF;
    IF zbxhist_internal.is_partman_template(entry.config, entry.template, entry.key) THEN
        PERFORM zbxhist_internal.execute_as_owner(entry.template, format('DROP TABLE %s', entry.template));
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.leave_partman(regclass) IS
'Takes a table out of the care of pg_partman (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.leave_partman(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.leave_partman(regclass) TO pg_database_owner;
