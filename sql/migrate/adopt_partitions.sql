-- sql/migrate/adopt_partitions.sql
--
-- Until the exchange the table is what it was, but for a constraint of each
-- partition that says what its bounds say: the call may be broken off there,
-- and repeated.

CREATE PROCEDURE zbxhist.adopt_partitions(
    parent regclass,
    dry_run boolean DEFAULT false,
    accept_deletion boolean DEFAULT false)
LANGUAGE plpgsql
AS $$
DECLARE
    partition pg_catalog.regclass;
    line      pg_catalog.text;
    answer    pg_catalog.text;
    found     pg_catalog.text[];
    lost      pg_catalog.text[];
    result    pg_catalog.regclass;
BEGIN
    CALL zbxhist_internal.next_transaction();
    IF dry_run IS NULL OR accept_deletion IS NULL THEN
        RAISE EXCEPTION 'dry_run and accept_deletion must not be null'
            USING ERRCODE = 'null_value_not_allowed';
    END IF;
    PERFORM zbxhist_internal.verify_native(parent);
    SELECT array_agg(l.line), array_agg(l.line) FILTER (WHERE l.is_lost) INTO found, lost
      FROM zbxhist_internal.adoption_losses(parent) l;
    IF dry_run THEN
        FOR line IN SELECT zbxhist_internal.describe_adoption(parent) LOOP
            RAISE NOTICE '%', line;
        END LOOP;
    ELSIF lost IS NOT NULL AND NOT accept_deletion THEN
        PERFORM zbxhist_internal.ask_consent(lost, false,
            format('CALL zbxhist.adopt_partitions(%L, accept_deletion => true);', parent));
    END IF;
    FOREACH line IN ARRAY coalesce(found, '{}') LOOP
        RAISE NOTICE '%', line;
    END LOOP;
    IF dry_run AND lost IS NOT NULL THEN
        RAISE NOTICE 'nothing is deleted unless the call says accept_deletion => true';
    END IF;
    IF NOT dry_run THEN
        FOREACH partition IN ARRAY ARRAY(SELECT p.partition FROM zbxhist_internal.native_partitions(parent) p
                                          WHERE NOT p.is_bounded AND NOT p.is_default)
        LOOP
            CALL zbxhist_internal.next_transaction();
            PERFORM zbxhist_internal.bound_partition(parent, partition);
        END LOOP;
        CALL zbxhist_internal.next_transaction();
        result := zbxhist_internal.exchange_parent(parent);
        CALL zbxhist_internal.next_transaction();
        CALL zbxhist_internal.repeat_step(result, 'premake', NULL::regclass, answer);
        RAISE NOTICE 'table % is managed by zbxhist now, with its % partitions', result,
                     (SELECT count(*) FROM zbxhist.list_partitions(result));
    END IF;
    -- the session's own search_path again, for the caller's next statement
    COMMIT;
END
$$;

COMMENT ON PROCEDURE zbxhist.adopt_partitions(regclass, boolean, boolean) IS
'Takes a natively partitioned table into care, also out of that of pg_partman: its partitions stay as they are, and a plain table takes the place of their parent; with dry_run only says what it would do';

REVOKE ALL ON PROCEDURE zbxhist.adopt_partitions(regclass, boolean, boolean) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist.adopt_partitions(regclass, boolean, boolean) TO pg_database_owner;
