-- sql/partitions/take_off.sql

CREATE FUNCTION zbxhist_internal.take_off(
    parent regclass,
    relation regclass,
    action text,
    schema_name name,
    message text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    label   CONSTANT text := relation::text;
    bytes   CONSTANT bigint := pg_total_relation_size(relation);
    rows    bigint;
    waited  interval;
BEGIN
    SELECT d.nrows INTO rows FROM zbxhist.packed_day d WHERE d.day = relation;
    IF FOUND THEN
        waited := zbxhist_internal.drop_packed_day(parent, relation);
    ELSE
        rows := zbxhist_internal.estimated_rows(relation);
        IF action = 'detach' THEN
            waited := zbxhist_internal.detach_partition(parent, relation, schema_name);
        ELSE
            waited := zbxhist_internal.lock_exclusively(relation, zbxhist_internal.short_lock_timeout());
            PERFORM zbxhist_internal.execute_as_owner(parent, format('DROP TABLE %s', relation));
            PERFORM zbxhist_internal.invalidate(parent);
        END IF;
    END IF;
    PERFORM zbxhist_internal.log_action(parent, action, label, rows, CASE action WHEN 'drop' THEN bytes END,
                                        started, waited, NULL,
                                        concat_ws(', ', message, CASE action WHEN 'detach' THEN format('now table %s', relation) END));
END
$$;

COMMENT ON FUNCTION zbxhist_internal.take_off(regclass, regclass, text, name, text) IS
'Drops a partition or packed day, or detaches a partition, and logs it (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.take_off(regclass, regclass, text, name, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.take_off(regclass, regclass, text, name, text) TO pg_database_owner;
