-- sql/maintenance/repeat_each_by_hand.sql

CREATE PROCEDURE zbxhist_internal.repeat_each_by_hand(parent regclass, step text, relations regclass[])
LANGUAGE plpgsql
AS $$
DECLARE
    relation pg_catalog.regclass;
BEGIN
    CALL zbxhist_internal.next_transaction();
    FOREACH relation IN ARRAY relations LOOP
        CALL zbxhist_internal.repeat_by_hand(parent, step, relation);
    END LOOP;
    -- the session's own search_path again, for the caller's next statement
    COMMIT;
END
$$;

COMMENT ON PROCEDURE zbxhist_internal.repeat_each_by_hand(regclass, text, regclass[]) IS
'Runs a step of packing or unpacking for one relation after the other, each until it is done (internal)';

REVOKE ALL ON PROCEDURE zbxhist_internal.repeat_each_by_hand(regclass, text, regclass[]) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist_internal.repeat_each_by_hand(regclass, text, regclass[]) TO pg_database_owner;
