-- sql/maintenance/step_drop.sql

CREATE FUNCTION zbxhist_internal.step_drop(parent regclass, relation regclass)
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
    PERFORM zbxhist_internal.require_parent(parent);
    -- another run may have dropped it, or the retention has been changed
    IF EXISTS (SELECT FROM zbxhist_internal.expired_days(parent) e WHERE e = relation) THEN
        SELECT d.nrows INTO rows FROM zbxhist.packed_day d WHERE d.day = relation;
        bytes := pg_total_relation_size(relation);
        waited := zbxhist_internal.drop_day(parent, relation);
    ELSIF EXISTS (SELECT FROM zbxhist_internal.expired_partitions(parent) e WHERE e = relation) THEN
        waited := zbxhist_internal.lock_exclusively(relation, zbxhist_internal.short_lock_timeout());
        rows := zbxhist_internal.estimated_rows(relation);
        bytes := pg_total_relation_size(relation);
        PERFORM zbxhist_internal.execute_as_owner(parent, format('DROP TABLE %s', relation));
        PERFORM zbxhist_internal.invalidate(parent);
    ELSE
        RETURN 'done';
    END IF;
    PERFORM zbxhist_internal.log_action(parent, 'drop', label, rows, bytes, started, waited);
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist_internal.step_drop(regclass, regclass) IS
'Maintenance: drops a partition or a packed day that is past retention (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.step_drop(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.step_drop(regclass, regclass) TO pg_database_owner;
