-- sql/functions/step_drop.sql

CREATE FUNCTION zbxhist.step_drop(parent regclass, partition regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    label   CONSTANT text := partition::text;
    rows    bigint;
    bytes   bigint;
    waited  interval;
BEGIN
    PERFORM zbxhist.require_parent(parent);
    -- another run may have dropped it, or the retention has been changed
    IF NOT EXISTS (SELECT FROM zbxhist.expired_partitions(parent) e WHERE e = partition) THEN
        RETURN 'done';
    END IF;
    waited := zbxhist.lock_exclusively(partition, zbxhist.short_lock_timeout());
    rows := zbxhist.estimated_rows(partition);
    bytes := pg_total_relation_size(partition);
    EXECUTE format('DROP TABLE %s', partition);
    PERFORM zbxhist.invalidate(parent);
    PERFORM zbxhist.log_action(parent, 'drop', label, rows, bytes, started, waited);
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist.step_drop(regclass, regclass) IS
'Maintenance: drops a partition that is past retention (internal)';

REVOKE ALL ON FUNCTION zbxhist.step_drop(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.step_drop(regclass, regclass) TO pg_database_owner;
