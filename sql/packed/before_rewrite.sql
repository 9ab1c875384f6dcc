-- sql/packed/before_rewrite.sql
--
-- An event trigger for whoever alters a table.  One ALTER TABLE may add a column
-- and rewrite the table; then what the column contains in older rows is known
-- from the one until the other.  Where PUBLIC has lost its privileges on these
-- schemas, tables that have packed days are not rewritten, but all others.

CREATE FUNCTION zbxhist_internal.before_rewrite()
RETURNS event_trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    table_id CONSTANT regclass := pg_event_trigger_table_rewrite_oid();
    command  text;
BEGIN
    IF EXISTS (SELECT FROM zbxhist.packed_day d WHERE d.parent = table_id) THEN
        command := zbxhist_internal.missing_options(table_id, zbxhist_internal.packed_table(table_id));
    END IF;
    IF command IS NOT NULL THEN
        EXECUTE command;
    END IF;
EXCEPTION WHEN insufficient_privilege THEN
    IF EXISTS (SELECT FROM pg_inherits i
                 JOIN pg_foreign_table t ON t.ftrelid = i.inhrelid
                 JOIN pg_foreign_server s ON s.oid = t.ftserver
                 JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw AND w.fdwname = 'zbxhist'
                WHERE i.inhparent = table_id) THEN
        RAISE;
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.before_rewrite() IS
'Event trigger: notes what a new column contains in packed rows before the table is rewritten (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.before_rewrite() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.before_rewrite() TO pg_database_owner;

CREATE EVENT TRIGGER zbxhist_before_rewrite ON table_rewrite
    EXECUTE FUNCTION zbxhist_internal.before_rewrite();

COMMENT ON EVENT TRIGGER zbxhist_before_rewrite IS
'Notes what a new column contains in packed rows before the table is rewritten';
