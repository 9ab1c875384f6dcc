-- sql/maintenance/by_hand.sql

-- Takes the lock of maintenance on a managed table of the caller's, waiting for the step in progress.
CREATE FUNCTION zbxhist_internal.lock_for_hand(parent regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- each step of maintenance is short
    PERFORM set_config('lock_timeout', zbxhist_internal.patient_lock_timeout()::text, true);
    BEGIN
        PERFORM pg_advisory_xact_lock(zbxhist_internal.lock_class(), parent::oid::integer);
    EXCEPTION WHEN lock_not_available THEN
        PERFORM zbxhist_internal.refuse('55P03', format('maintenance of table %s is in progress', parent),
            detail => 'Repeat the call when that is done.',
            hint => 'SELECT * FROM zbxhist.progress;');
    END;
    PERFORM zbxhist_internal.require_parent(parent);
    PERFORM set_config('lock_timeout', zbxhist_internal.short_lock_timeout()::text, true);
END
$$;

-- Runs a step that a user has called; a problem is raised as an error, not logged.
CREATE FUNCTION zbxhist_internal.run_by_hand(parent regclass, step text, relation regclass) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET lock_timeout = 0 AS $$
BEGIN
    PERFORM zbxhist_internal.lock_for_hand(parent);
    RETURN CASE step
        WHEN 'pack' THEN zbxhist_internal.pack_partition(parent, relation)
        WHEN 'repack' THEN zbxhist_internal.rewrite_days(parent, 'repack', ARRAY[relation])
        WHEN 'compact' THEN coalesce((SELECT zbxhist_internal.rewrite_days(parent, 'compact', c.days)
                                         FROM zbxhist_internal.compactable_days(parent, true) c
                                        WHERE c.days[1] = relation), 'done')
        WHEN 'archive' THEN zbxhist_internal.archive_day(parent, relation)
        WHEN 'unarchive' THEN coalesce((SELECT zbxhist_internal.rewrite_days(run_by_hand.parent, 'unarchive', ARRAY[relation])
                                           FROM zbxhist.packed_day d
                                          WHERE d.day = relation AND d.archive_copy IS NOT NULL), 'done')
        WHEN 'unpack' THEN zbxhist_internal.step_unpack(parent, relation)
        WHEN 'salvage' THEN zbxhist_internal.step_unpack(parent, relation, true)
    END;
END
$$;

-- Runs a step that a user has called, for one relation after the other, each until it is done.
CREATE PROCEDURE zbxhist_internal.repeat_by_hand(parent regclass, step text, relations regclass[])
LANGUAGE plpgsql AS $$
DECLARE
    relation pg_catalog.regclass;
    answer   pg_catalog.text;
BEGIN
    CALL zbxhist_internal.next_transaction();
    FOREACH relation IN ARRAY relations LOOP
        CALL zbxhist_internal.repeat_step(parent, step, ARRAY[relation], true, answer);
    END LOOP;
    -- ends the transaction's search_path: the caller's next statement has the session's
    COMMIT;
END
$$;
