-- sql/migrate/lock_for_hand.sql

CREATE FUNCTION zbxhist_internal.lock_for_hand(parent regclass)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- a run of maintenance goes from step to step and is soon at its next
    PERFORM set_config('lock_timeout', zbxhist_internal.patient_lock_timeout()::text, true);
    BEGIN
        PERFORM pg_advisory_xact_lock(zbxhist_internal.lock_class(), parent::oid::integer);
    EXCEPTION WHEN lock_not_available THEN
        RAISE EXCEPTION 'maintenance is at work on table %', parent
            USING ERRCODE = 'lock_not_available',
                  DETAIL = 'Repeat the call when that is done.',
                  HINT = 'SELECT * FROM zbxhist.progress;';
    END;
    PERFORM zbxhist_internal.require_parent(parent);
    PERFORM set_config('lock_timeout', zbxhist_internal.short_lock_timeout()::text, true);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.lock_for_hand(regclass) IS
'Waits for maintenance of a managed table of the caller''s to come to the end of its step, and keeps it from the next (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.lock_for_hand(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.lock_for_hand(regclass) TO pg_database_owner;
