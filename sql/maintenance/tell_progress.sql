-- sql/maintenance/tell_progress.sql
--
-- Once in ten seconds.  What maintenance does every hour is told to nobody: who
-- has cron call it would get a mail each time.

CREATE FUNCTION zbxhist_internal.tell_progress(parent regclass, step text, relation regclass, began timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    started CONSTANT timestamptz := statement_timestamp();
    seconds CONSTANT integer := extract(epoch FROM clock_timestamp() - started);
    state   zbxhist.parent_state;
BEGIN
    IF step NOT IN ('undo_move', 'undo_settle', 'undo_drop', 'unpack', 'move', 'extend')
       OR seconds / 10 = extract(epoch FROM began - started)::integer / 10 THEN
        RETURN;
    END IF;
    SELECT * INTO state FROM zbxhist.parent_state s WHERE s.parent = tell_progress.parent;
    RAISE NOTICE '% s: % of %', seconds,
                 CASE step WHEN 'undo_move' THEN 'moving rows' WHEN 'move' THEN 'moving rows' WHEN 'extend' THEN 'making partitions'
                           WHEN 'unpack' THEN 'unpacking' WHEN 'undo_drop' THEN 'dropping partitions'
                           ELSE 'waiting for older transactions' END,
                 coalesce(relation, parent)
                 || CASE WHEN state.action_percent IS NULL OR state.relation IS DISTINCT FROM relation::text THEN ''
                         ELSE format(', %s %%, %s rows', state.action_percent, state.action_rows) END;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.tell_progress(regclass, text, regclass, timestamptz) IS
'Tells now and then how far a step has come that takes long; began is when it was called last (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.tell_progress(regclass, text, regclass, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.tell_progress(regclass, text, regclass, timestamptz) TO pg_database_owner;
