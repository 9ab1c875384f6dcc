-- sql/migrate/adopt_hypertable.sql

CREATE PROCEDURE zbxhist.adopt_hypertable(hypertable regclass, dry_run boolean DEFAULT false)
LANGUAGE plpgsql
AS $$
DECLARE
    line   pg_catalog.text;
    answer pg_catalog.text;
    result pg_catalog.regclass;
BEGIN
    CALL zbxhist_internal.next_transaction();
    IF dry_run IS NULL THEN
        RAISE EXCEPTION 'dry_run must not be null'
            USING ERRCODE = 'null_value_not_allowed';
    END IF;
    PERFORM zbxhist_internal.verify_hypertable(hypertable);
    PERFORM zbxhist_internal.verify_columns(hypertable);
    IF dry_run THEN
        FOR line IN SELECT zbxhist_internal.describe_hypertable(hypertable) LOOP
            RAISE NOTICE '%', line;
        END LOOP;
    ELSE
        result := zbxhist_internal.exchange_hypertable(hypertable);
        CALL zbxhist_internal.next_transaction();
        CALL zbxhist_internal.repeat_step(result, 'premake', NULL::regclass, answer);
        RAISE NOTICE 'table % is managed by zbxhist now; the rows so far are in hypertable %', result, hypertable
            USING HINT = format('CALL zbxhist.import(%L, %L);', hypertable, result);
    END IF;
    -- the session's own search_path again, for the caller's next statement
    COMMIT;
END
$$;

COMMENT ON PROCEDURE zbxhist.adopt_hypertable(regclass, boolean) IS
'Puts a managed table in the place of a TimescaleDB hypertable, which gets the ending _old and is to be imported; with dry_run only says what it would do';

REVOKE ALL ON PROCEDURE zbxhist.adopt_hypertable(regclass, boolean) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist.adopt_hypertable(regclass, boolean) TO pg_database_owner;
