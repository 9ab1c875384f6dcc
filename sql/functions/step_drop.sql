-- sql/functions/step_drop.sql

CREATE FUNCTION zbxhist.step_drop(parent regclass, relation regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    label   CONSTANT text := relation::text;
    rows    bigint;
    bytes   bigint;
    waited  interval;
BEGIN
    PERFORM zbxhist.require_parent(parent);
    -- another run may have dropped it, or the retention has been changed
    IF EXISTS (SELECT FROM zbxhist.expired_days(parent) e WHERE e = relation) THEN
        SELECT d.nrows INTO rows FROM zbxhist.packed_day d WHERE d.day = relation;
        bytes := pg_total_relation_size(relation);
        waited := zbxhist.drop_day(parent, relation);
    ELSIF EXISTS (SELECT FROM zbxhist.expired_partitions(parent) e WHERE e = relation) THEN
        waited := zbxhist.lock_exclusively(relation, zbxhist.short_lock_timeout());
        rows := zbxhist.estimated_rows(relation);
        bytes := pg_total_relation_size(relation);
        EXECUTE format('DROP TABLE %s', relation);
        PERFORM zbxhist.invalidate(parent);
    ELSE
        RETURN 'done';
    END IF;
    PERFORM zbxhist.log_action(parent, 'drop', label, rows, bytes, started, waited);
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist.step_drop(regclass, regclass) IS
'Maintenance: drops a partition or a packed day that is past retention (internal)';

REVOKE ALL ON FUNCTION zbxhist.step_drop(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.step_drop(regclass, regclass) TO pg_database_owner;
