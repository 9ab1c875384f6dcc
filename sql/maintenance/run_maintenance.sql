-- sql/maintenance/run_maintenance.sql

CREATE PROCEDURE zbxhist.run_maintenance(parent regclass DEFAULT NULL)
LANGUAGE plpgsql
AS $$
DECLARE
    target pg_catalog.regclass;
    answer pg_catalog.text;
BEGIN
    CALL zbxhist_internal.next_transaction();
    -- a standby gets all this from its primary
    IF pg_is_in_recovery() THEN
        RETURN;
    END IF;
    IF parent IS NOT NULL THEN
        PERFORM zbxhist_internal.require_parent(parent);
        CALL zbxhist_internal.maintain_parent(parent);
    ELSE
        PERFORM zbxhist_internal.forget_dropped();
        FOREACH target IN ARRAY ARRAY(SELECT zbxhist_internal.new_tables()) LOOP
            CALL zbxhist_internal.repeat_step(target, 'take_up', NULL::regclass, answer);
        END LOOP;
        FOREACH target IN ARRAY zbxhist_internal.parent_list() LOOP
            CALL zbxhist_internal.maintain_parent(target);
        END LOOP;
        CALL zbxhist_internal.next_transaction();
        PERFORM zbxhist_internal.summarize_check();
    END IF;
    -- the session's own search_path again, for the caller's next statement
    COMMIT;
END
$$;

COMMENT ON PROCEDURE zbxhist.run_maintenance(regclass) IS
'Does everything that time brings, for one managed table or all: premake, move rows out of the parent, drop, pack, merge late rows, repack; each step in a transaction of its own.  Call it every quarter of an hour';

REVOKE ALL ON PROCEDURE zbxhist.run_maintenance(regclass) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist.run_maintenance(regclass) TO pg_database_owner;
