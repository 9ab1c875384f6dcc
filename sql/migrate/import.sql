-- sql/migrate/import.sql
--
-- A slice after the other, each in one transaction: a call that is broken off is
-- repeated, and goes on.  In the end each is read once more.

CREATE PROCEDURE zbxhist.import(
    source regclass,
    parent regclass,
    rows_a_second integer DEFAULT NULL,
    dry_run boolean DEFAULT false)
LANGUAGE plpgsql
AS $$
DECLARE
    slice   pg_catalog.int8;
    line    pg_catalog.text;
    began   pg_catalog.timestamptz;
    changed pg_catalog.int8[] := '{}';
BEGIN
    CALL zbxhist_internal.next_transaction();
    IF dry_run IS NULL THEN
        RAISE EXCEPTION 'dry_run must not be null'
            USING ERRCODE = 'null_value_not_allowed';
    END IF;
    IF rows_a_second <= 0 THEN
        RAISE EXCEPTION 'rows_a_second must be greater than zero'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM zbxhist_internal.require_parent(parent);
    PERFORM zbxhist_internal.verify_source(source, parent);
    IF dry_run THEN
        FOR line IN SELECT zbxhist_internal.describe_import(source, parent) LOOP
            RAISE NOTICE '%', line;
        END LOOP;
        COMMIT;
        RETURN;
    END IF;
    FOREACH slice IN ARRAY zbxhist_internal.begin_import(source, parent) LOOP
        began := clock_timestamp();
        CALL zbxhist_internal.repeat_by_hand(parent, 'import', source, slice);
        CALL zbxhist_internal.keep_pace(source, parent, slice, rows_a_second, began);
    END LOOP;
    FOREACH slice IN ARRAY zbxhist_internal.open_slices(source, parent) LOOP
        began := clock_timestamp();
        IF NOT zbxhist_internal.compare_slice(source, parent, slice) THEN
            changed := changed || slice;
        END IF;
        CALL zbxhist_internal.keep_pace(source, parent, slice, rows_a_second, began);
    END LOOP;
    CALL zbxhist_internal.next_transaction();
    PERFORM zbxhist_internal.end_import(source, parent, changed);
    -- the session's own search_path again, for the caller's next statement
    COMMIT;
END
$$;

COMMENT ON PROCEDURE zbxhist.import(regclass, regclass, integer, boolean) IS
'Stores the rows of another table in a managed one, a day after the other and packed straight away where there is nothing of that day yet; can be broken off and repeated; the other table stays';

REVOKE ALL ON PROCEDURE zbxhist.import(regclass, regclass, integer, boolean) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist.import(regclass, regclass, integer, boolean) TO pg_database_owner;
