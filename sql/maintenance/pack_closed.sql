-- sql/maintenance/pack_closed.sql
--
-- What keeps one partition from it may leave the next one alone: a transaction
-- that is idle may have read those of some hours, and no others.  Each such
-- transaction is waited for once, at most three in a run, and in no later run;
-- else only partitions that are free are tried.  A snapshot that is too old for
-- three, say a dump's, is so for all that come after.

CREATE PROCEDURE zbxhist_internal.pack_closed(parent regclass)
LANGUAGE plpgsql
AS $$
DECLARE
    partition pg_catalog.regclass;
    answer    pg_catalog.text;
    tried     pg_catalog.int4 := 0;
    locked    pg_catalog.int4 := 0;
    unsettled pg_catalog.int4 := 0;
BEGIN
    CALL zbxhist_internal.next_transaction();
    FOREACH partition IN ARRAY zbxhist_internal.work_list(parent, 'pack') LOOP
        CONTINUE WHEN zbxhist_internal.skip_in_use(parent, partition, locked < 3);
        CALL zbxhist_internal.repeat_step(parent, 'pack', partition, answer);
        tried := tried + 1;
        IF answer = 'locked' THEN
            locked := locked + 1;
            PERFORM zbxhist_internal.note_holders(parent, partition);
        END IF;
        unsettled := CASE WHEN answer = 'wait' THEN unsettled + 1 ELSE 0 END;
        -- two days of hours: who has more to pack has other tables, too
        EXIT WHEN tried = 48 OR locked = 6 OR unsettled = 3;
    END LOOP;
END
$$;

COMMENT ON PROCEDURE zbxhist_internal.pack_closed(regclass) IS
'Packs the partitions of a managed table whose time it is, as many as one run may, and leaves out those in use (internal)';

REVOKE ALL ON PROCEDURE zbxhist_internal.pack_closed(regclass) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist_internal.pack_closed(regclass) TO pg_database_owner;
