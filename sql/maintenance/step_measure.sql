-- sql/maintenance/step_measure.sql
--
-- Once a day: check() must not take as long as this may.

CREATE FUNCTION zbxhist_internal.step_measure(parent regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    UPDATE zbxhist.parent_state s
       SET (deleted_bytes, deleted_percent) = (SELECT m.bytes, m.percent FROM zbxhist_internal.measure_deleted(step_measure.parent) m),
           measured_at = clock_timestamp()
     WHERE s.parent = step_measure.parent
       AND coalesce(s.measured_at < clock_timestamp() - interval '1 day', true)
       AND EXISTS (SELECT FROM zbxhist.packed_day d WHERE d.parent = s.parent);
    UPDATE zbxhist.parent_state s
       SET oldest_clock = zbxhist_internal.waiting_clock(step_measure.parent, -2147483648, 2147483648, false),
           oldest_at = clock_timestamp()
     WHERE s.parent = step_measure.parent
       AND coalesce(s.oldest_at < clock_timestamp() - interval '1 day', true);
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist_internal.step_measure(regclass) IS
'Maintenance: notes once a day what values of deleted items take, and the oldest value in the table itself (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.step_measure(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.step_measure(regclass) TO pg_database_owner;
