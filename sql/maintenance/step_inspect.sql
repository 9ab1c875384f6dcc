-- sql/maintenance/step_inspect.sql

CREATE FUNCTION zbxhist_internal.step_inspect(parent regclass, day regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    started  CONSTANT timestamptz := clock_timestamp();
    problems bigint;
    first    text;
BEGIN
    PERFORM zbxhist_internal.require_parent(parent);
    -- it may have been dropped, or made one with others
    IF NOT EXISTS (SELECT FROM zbxhist.packed_day d
                     JOIN pg_class k ON k.oid = d.day
                    WHERE d.parent = step_inspect.parent AND d.day = step_inspect.day) THEN
        RETURN 'done';
    END IF;
    SELECT count(*), min(v.problem) INTO problems, first FROM zbxhist_internal.verify_day(day) v;
    PERFORM zbxhist_internal.note_verified(parent, day, first);
    IF problems > 0 THEN
        RAISE WARNING 'zbxhist: packed day % is damaged: %', day, first;
        PERFORM zbxhist_internal.log_action(parent, 'inspect', day::text, problems, NULL, started, NULL, 'XX001', first);
        RETURN 'failed';
    END IF;
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist_internal.step_inspect(regclass, regclass) IS
'Maintenance: looks through a packed day and remembers what is damaged (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.step_inspect(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.step_inspect(regclass, regclass) TO pg_database_owner;
