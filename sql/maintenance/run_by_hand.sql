-- sql/maintenance/run_by_hand.sql

CREATE FUNCTION zbxhist_internal.run_by_hand(parent regclass, step text, relation regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
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
    RETURN CASE step
        WHEN 'pack' THEN zbxhist_internal.pack_partition(parent, relation)
        WHEN 'repack' THEN zbxhist_internal.repack_day(parent, relation)
        WHEN 'compact' THEN zbxhist_internal.compact_by_hand(parent, relation)
        WHEN 'unpack' THEN zbxhist_internal.step_unpack(parent, relation)
        WHEN 'salvage' THEN zbxhist_internal.step_unpack(parent, relation, true)
    END;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.run_by_hand(regclass, text, regclass) IS
'Runs a step of packing or unpacking for somebody who is told what goes wrong (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.run_by_hand(regclass, text, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.run_by_hand(regclass, text, regclass) TO pg_database_owner;
