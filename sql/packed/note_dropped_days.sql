-- sql/packed/note_dropped_days.sql

CREATE FUNCTION zbxhist_internal.note_dropped_days(parent regclass)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    gone zbxhist.packed_day;
BEGIN
    FOR gone IN
        DELETE FROM zbxhist.packed_day d
         WHERE d.parent = note_dropped_days.parent
           AND NOT EXISTS (SELECT FROM pg_class k WHERE k.oid = d.day)
        RETURNING d.*
    LOOP
        -- there are none in what has been unpacked, nor in an hour of runs to come
        CONTINUE WHEN gone.unpacked OR gone.runs AND gone.from_clock > zbxhist_internal.current_clock();
        INSERT INTO zbxhist.lost_values (parent, day, is_end, rows, problem)
        VALUES (parent, gone.day::oid::text, false, CASE WHEN NOT gone.runs THEN gone.nrows END,
                format('its table, with the values from %s to %s, has been dropped',
                       zbxhist_internal.format_time(to_timestamp(gone.from_clock)),
                       zbxhist_internal.format_time(to_timestamp(gone.to_clock))));
        PERFORM zbxhist_internal.log_action(parent, 'lost', gone.day::oid::text, gone.nrows, NULL, clock_timestamp(),
                                            NULL, NULL, 'the table of a packed day has been dropped');
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.note_dropped_days(regclass) IS
'Forgets packed days whose tables have been dropped, and notes in lost_values which values went with them (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.note_dropped_days(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.note_dropped_days(regclass) TO pg_database_owner;
