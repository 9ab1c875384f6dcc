-- sql/functions/step_drop_day.sql

CREATE FUNCTION zbxhist.step_drop_day(parent regclass, day regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    label   CONSTANT text := day::text;
    rows    bigint;
    bytes   bigint;
    waited  interval;
BEGIN
    PERFORM zbxhist.require_parent(parent);
    -- another run may have dropped it, or the retention has been changed
    IF NOT EXISTS (SELECT FROM zbxhist.expired_days(parent) e WHERE e = day) THEN
        RETURN 'done';
    END IF;
    SELECT d.nrows INTO rows FROM zbxhist.packed_day d WHERE d.day = step_drop_day.day;
    bytes := pg_total_relation_size(day);
    waited := zbxhist.drop_day(parent, day);
    PERFORM zbxhist.log_action(parent, 'drop', label, rows, bytes, started, waited);
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist.step_drop_day(regclass, regclass) IS
'Maintenance: drops a packed day that is past retention (internal)';

REVOKE ALL ON FUNCTION zbxhist.step_drop_day(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.step_drop_day(regclass, regclass) TO pg_database_owner;
