-- sql/packed/after_change.sql
--
-- An event trigger for whoever alters a table.  ALTER TABLE ... ADD COLUMN has
-- the foreign table locked already, and only its owner gets that far.

CREATE FUNCTION zbxhist_internal.after_change()
RETURNS event_trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    commands text[];
    command  text;
BEGIN
    BEGIN
        SELECT array_agg(zbxhist_internal.missing_options(p.parent, zbxhist_internal.packed_table(p.parent)))
          INTO commands
          FROM (SELECT DISTINCT d.parent
                  FROM pg_event_trigger_ddl_commands() c
                  JOIN zbxhist.packed_day d ON d.parent = c.objid
                 WHERE c.classid = 'pg_class'::regclass) p;
    EXCEPTION WHEN insufficient_privilege THEN
        -- PUBLIC has lost its privileges on these schemas: the next maintenance notes it
        RETURN;
    END;
    FOREACH command IN ARRAY coalesce(array_remove(commands, NULL), '{}') LOOP
        EXECUTE command;
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.after_change() IS
'Event trigger: notes what a new column contains in packed rows (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.after_change() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.after_change() TO pg_database_owner;

CREATE EVENT TRIGGER zbxhist_after_change ON ddl_command_end
    WHEN TAG IN ('ALTER TABLE')
    EXECUTE FUNCTION zbxhist_internal.after_change();

COMMENT ON EVENT TRIGGER zbxhist_after_change IS
'Notes what a new column contains in packed rows';
