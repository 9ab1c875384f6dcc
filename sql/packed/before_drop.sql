-- sql/packed/before_drop.sql
--
-- An event trigger for whoever drops something, whatever he may do otherwise.

CREATE FUNCTION zbxhist_internal.before_drop()
RETURNS event_trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    BEGIN
        PERFORM zbxhist_internal.guard_drops();
    EXCEPTION WHEN undefined_file OR undefined_function THEN
        IF tg_tag IN ('DROP EXTENSION', 'DROP OWNED')
           AND current_setting('zbxhist.allow_packed_drop', true) IS DISTINCT FROM 'on'
           AND EXISTS (SELECT FROM zbxhist.packed_day d WHERE NOT d.unpacked) THEN
            RAISE EXCEPTION 'cannot run % because the library of zbxhist is missing and there are packed days', tg_tag
                USING ERRCODE = 'object_not_in_prerequisite_state',
                      DETAIL = 'Without it nobody can tell whether their values would be lost. '
                               'To run it nevertheless, run SET zbxhist.allow_packed_drop = on and repeat it.',
                      HINT = 'Install the files of zbxhist again.';
        END IF;
    END;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.before_drop() IS
'Event trigger: has the library loaded before something is dropped (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.before_drop() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.before_drop() TO pg_database_owner;

CREATE EVENT TRIGGER zbxhist_before_drop ON ddl_command_start
    WHEN TAG IN ('DROP EXTENSION', 'DROP FOREIGN DATA WRAPPER', 'DROP FOREIGN TABLE',
                 'DROP OWNED', 'DROP SCHEMA', 'DROP SERVER', 'DROP TABLE')
    EXECUTE FUNCTION zbxhist_internal.before_drop();

COMMENT ON EVENT TRIGGER zbxhist_before_drop IS
'Keeps packed days from being dropped unawares';
