-- sql/migrate/begin_import.sql
--
-- A table that has got rows since it was planned, or lost some, is gone through
-- again: rows that are there are left out.

CREATE FUNCTION zbxhist_internal.begin_import(source regclass, parent regclass)
RETURNS bigint[]
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
DECLARE
    line text;
BEGIN
    PERFORM zbxhist_internal.lock_for_hand(parent);
    FOR line IN SELECT zbxhist_internal.describe_import_triggers(parent) LOOP
        RAISE NOTICE '%', line;
    END LOOP;
    IF cardinality(zbxhist_internal.open_slices(source, parent)) = 0 THEN
        DELETE FROM zbxhist.import_slice s
         WHERE s.parent = begin_import.parent AND s.source = begin_import.source;
        INSERT INTO zbxhist.import_slice SELECT * FROM zbxhist_internal.plan_import(source, parent);
    END IF;
    UPDATE zbxhist.import_slice s SET pid = pg_backend_pid(), begun_at = clock_timestamp()
     WHERE s.parent = begin_import.parent AND s.source = begin_import.source;
    RETURN zbxhist_internal.open_slices(source, parent);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.begin_import(regclass, regclass) IS
'Plans an import, or goes on with one; returns where the slices begin that are not done and compared (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.begin_import(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.begin_import(regclass, regclass) TO pg_database_owner;
