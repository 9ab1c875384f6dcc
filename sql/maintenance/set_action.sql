-- sql/maintenance/set_action.sql

CREATE FUNCTION zbxhist_internal.set_action(parent regclass, action text, relation text)
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    UPDATE zbxhist.parent_state s
       SET action = set_action.action, relation = set_action.relation,
           action_pid = pg_backend_pid(), action_started = clock_timestamp(),
           first_itemid = NULL, final_itemid = NULL, position_itemid = NULL,
           action_rows = 0, action_percent = 0
     WHERE s.parent = set_action.parent
$$;

COMMENT ON FUNCTION zbxhist_internal.set_action(regclass, text, text) IS
'Notes the batched action that begins, for the view progress (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.set_action(regclass, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.set_action(regclass, text, text) TO pg_database_owner;
