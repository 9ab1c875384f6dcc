-- sql/packed/before_change.sql
--
-- An event trigger for whoever drops or alters something, whatever he may do
-- otherwise: also where PUBLIC has lost its privileges on these schemas, or the
-- library is missing.

CREATE FUNCTION zbxhist_internal.before_change()
RETURNS event_trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    BEGIN
        PERFORM zbxhist_internal.load_guards();
    EXCEPTION WHEN insufficient_privilege THEN
        -- asks for the handler of the foreign tables that stand for packed days,
        -- and for no privilege
        PERFORM pg_relation_is_updatable(t.ftrelid, false)
           FROM pg_foreign_table t
           JOIN pg_foreign_server s ON s.oid = t.ftserver
           JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw AND w.fdwname = 'zbxhist'
          LIMIT 1;
    END;
EXCEPTION WHEN undefined_file OR undefined_function THEN
    IF tg_tag IN ('DROP EXTENSION', 'DROP OWNED')
       AND current_setting('zbxhist.allow_packed_drop', true) IS DISTINCT FROM 'on'
       AND EXISTS (SELECT FROM pg_class k
                     JOIN pg_namespace n ON n.oid = k.relnamespace AND n.nspname = 'zbxhist_packed'
                    WHERE k.relkind = 'r'
                      -- DROP OWNED takes what is of a role that one is a member of
                      AND (tg_tag = 'DROP EXTENSION' OR pg_has_role(k.relowner, 'USAGE')
                           OR EXISTS (SELECT FROM pg_extension e
                                       WHERE e.extname = 'zbxhist' AND pg_has_role(e.extowner, 'USAGE')))) THEN
        RAISE EXCEPTION 'cannot run % because the library of zbxhist is missing and there are packed days', tg_tag
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'Without it nobody can tell whether their values would be lost. '
                           'To run it nevertheless, run SET zbxhist.allow_packed_drop = on and repeat it.',
                  HINT = 'Install the files of zbxhist again.';
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.before_change() IS
'Event trigger: has the library loaded before something is dropped or altered (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.before_change() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.before_change() TO pg_database_owner;

CREATE EVENT TRIGGER zbxhist_before_change ON ddl_command_start
    WHEN TAG IN ('ALTER FOREIGN TABLE', 'ALTER TABLE', 'DROP EXTENSION', 'DROP FOREIGN DATA WRAPPER',
                 'DROP FOREIGN TABLE', 'DROP OWNED', 'DROP SCHEMA', 'DROP SERVER', 'DROP TABLE')
    EXECUTE FUNCTION zbxhist_internal.before_change();

COMMENT ON EVENT TRIGGER zbxhist_before_change IS
'Keeps packed days from being dropped unawares or made unreadable';
