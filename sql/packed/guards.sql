-- sql/packed/guards.sql

-- Loads the library.
-- The library refuses commands that would drop packed days, make them unreadable, or copy a table without
-- them (src/maintenance/drop_guard.c).  So a session must load it before it drops or alters a table, or
-- creates a trigger.
CREATE FUNCTION zbxhist_internal.load_guards() RETURNS void
LANGUAGE c VOLATILE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'zbxhist_load_guards';

-- Event trigger: loads the library before something is dropped or altered, or a trigger is created.
-- It fires for every user, so it must not fail where PUBLIC has no privileges on the schemas of zbxhist,
-- or where the library is missing.
CREATE FUNCTION zbxhist_internal.before_change() RETURNS event_trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    BEGIN
        PERFORM zbxhist_internal.load_guards();
    EXCEPTION WHEN insufficient_privilege THEN
        -- this function loads the library, too, by calling the handler of the packed table, and needs no
        -- privilege
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
                      -- DROP OWNED can name each role of which the user is a member
                      AND (tg_tag = 'DROP EXTENSION' OR pg_has_role(k.relowner, 'USAGE')
                           OR EXISTS (SELECT FROM pg_extension e
                                       WHERE e.extname = 'zbxhist' AND pg_has_role(e.extowner, 'USAGE')))) THEN
        RAISE EXCEPTION 'cannot run % because the library of zbxhist is missing and there are packed days', tg_tag
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'Without it the server cannot tell whether their values would be lost. '
                           'To run it nevertheless, run SET zbxhist.allow_packed_drop = on and repeat it.',
                  HINT = 'Install the files of zbxhist again.';
    END IF;
END
$$;

CREATE EVENT TRIGGER zbxhist_before_change ON ddl_command_start
    WHEN TAG IN ('ALTER FOREIGN TABLE', 'ALTER TABLE', 'CREATE TRIGGER', 'DROP EXTENSION', 'DROP FOREIGN DATA WRAPPER',
                 'DROP FOREIGN TABLE', 'DROP OWNED', 'DROP SCHEMA', 'DROP SERVER', 'DROP TABLE')
    EXECUTE FUNCTION zbxhist_internal.before_change();

COMMENT ON EVENT TRIGGER zbxhist_before_change IS 'Loads the library, which refuses to drop packed days, make them unreadable or copy a table without them';

-- Event trigger: notes the value of a new column in packed rows.  Refuses row triggers and foreign keys on
-- managed tables, which would not apply to rows in partitions, and makes sure that packed days are neither
-- followed by logical decoding nor unlogged.  Columns by which packed rows are found may be renamed, but
-- another one that gets such a name would be taken for it.
-- It fires for every user.  ALTER TABLE ... ADD COLUMN holds the lock on the foreign table already, and
-- only the owner gets that far.
CREATE FUNCTION zbxhist_internal.after_change() RETURNS event_trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    commands text;
BEGIN
    BEGIN
        SELECT string_agg(zbxhist_internal.missing_options(p.parent, zbxhist_internal.packed_table(p.parent)), '; ')
          INTO commands
          FROM (SELECT DISTINCT d.parent
                  FROM pg_event_trigger_ddl_commands() c
                  JOIN zbxhist.packed_day d ON d.parent = c.objid
                 WHERE c.classid = 'pg_class'::regclass) p;
        PERFORM zbxhist_internal.refuse('0A000', format('table %s is managed by zbxhist: its %s', p.parent, o.problem),
                    hint => format('Use a statement trigger, or a CHECK constraint.  To have a plain table again, CALL zbxhist.undo(%L);', p.parent))
           FROM pg_event_trigger_ddl_commands() c
           LEFT JOIN pg_trigger t ON c.classid = 'pg_trigger'::regclass AND t.oid = c.objid
           JOIN zbxhist.parent_config p ON p.parent = coalesce(t.tgrelid, c.objid)
          CROSS JOIN zbxhist_internal.unfollowed_objects(p.parent) o;
        PERFORM zbxhist_internal.refuse('0A000', format('table %s cannot have another column "%s": rows of packed days are found by it', c.objid::regclass, a.attname),
                    hint => format('Choose another name.  To have a plain table again, CALL zbxhist.undo(%L);', c.objid::regclass))
           FROM pg_event_trigger_ddl_commands() c
           JOIN pg_attribute a ON c.classid = 'pg_class'::regclass AND a.attrelid = zbxhist_internal.packed_table(c.objid) AND a.attname IN ('itemid', 'clock', 'ns')
          WHERE ('packed=' || a.attname = ANY (a.attfdwoptions)) IS NOT TRUE AND EXISTS (SELECT FROM zbxhist_internal.packed_columns(a.attrelid));
        PERFORM zbxhist_internal.refuse('0A000', format('cannot change the replica identity or the persistence of %s, because it is the table of a packed day', d.day),
                    detail => 'Packed values are written past logical decoding: a tool that copies the table and follows its changes would lose them.')
           FROM pg_event_trigger_ddl_commands() c
           JOIN zbxhist.packed_day d ON c.classid = 'pg_class'::regclass AND d.day = c.objid
           JOIN pg_class p ON p.oid = d.parent
           JOIN pg_class k ON k.oid = c.objid AND (k.relreplident <> 'n' OR k.relpersistence > p.relpersistence);
    EXCEPTION WHEN insufficient_privilege THEN
        -- PUBLIC has no privileges on the schemas of zbxhist: the next maintenance notes it
        RETURN;
    END;
    EXECUTE coalesce(commands, '');
END
$$;

CREATE EVENT TRIGGER zbxhist_after_change ON ddl_command_end
    WHEN TAG IN ('ALTER TABLE', 'CREATE TRIGGER')
    EXECUTE FUNCTION zbxhist_internal.after_change();

COMMENT ON EVENT TRIGGER zbxhist_after_change IS 'Notes the value of a new column in packed rows, and refuses row triggers, foreign keys and other columns named itemid, clock or ns';

-- Event trigger: notes the value of a new column in packed rows before the table is rewritten.
-- One ALTER TABLE may add a column and rewrite the table; only between the two is the value in the
-- catalog.  It fires for every user.  Where PUBLIC has no privileges on the schemas of zbxhist, it refuses
-- to rewrite tables with packed days, and lets others be rewritten.
CREATE FUNCTION zbxhist_internal.before_rewrite() RETURNS event_trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
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

CREATE EVENT TRIGGER zbxhist_before_rewrite ON table_rewrite
    EXECUTE FUNCTION zbxhist_internal.before_rewrite();

COMMENT ON EVENT TRIGGER zbxhist_before_rewrite IS
'Notes the value of a new column in packed rows before the table is rewritten';
