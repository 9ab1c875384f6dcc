-- sql/maintenance/step_truncate.sql
--
-- Empties a parent whose rows have all been moved or are past retention, so
-- that inserts and maintenance find a table of no pages.  INSERTs wait while
-- the lock is waited for and held, for the time allowed altogether: how long it
-- will be held is measured first, what is left is for the wait.

CREATE FUNCTION zbxhist_internal.step_truncate(parent regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    cutoff  CONSTANT bigint := zbxhist_internal.deletion_clock(parent);
    allowed CONSTANT integer := zbxhist_internal.short_lock_timeout();
    left_ms integer;
    started timestamptz;
    took    interval;
    waited  interval;
    rows    bigint;
    bytes   bigint;
BEGIN
    PERFORM zbxhist_internal.require_parent(parent);
    IF zbxhist_internal.own_pages(parent) = 0 OR zbxhist_internal.has_own_rows(parent, cutoff) THEN
        RETURN 'done';
    END IF;
    IF NOT zbxhist_internal.settled(parent) THEN
        RETURN 'wait';
    END IF;
    -- how long will the last look take, under the lock?
    started := clock_timestamp();
    IF zbxhist_internal.has_own_rows(parent, cutoff) THEN
        RETURN 'done';
    END IF;
    took := clock_timestamp() - started;
    left_ms := allowed - 1100 * extract(epoch FROM took);
    IF left_ms < greatest(1, allowed / 20) THEN
        PERFORM zbxhist_internal.log_action(parent, 'truncate', NULL, NULL, NULL, started, NULL, NULL,
            format('postponed: making sure that no row is left takes %s; autovacuum, or a longer'
                   ' zbxhist.maintenance_lock_timeout for one run, will help', took));
        RETURN 'postponed';
    END IF;
    started := clock_timestamp();
    waited := zbxhist_internal.lock_exclusively(parent, left_ms);
    IF zbxhist_internal.has_own_rows(parent, cutoff) THEN
        RETURN 'done';
    END IF;
    rows := CASE WHEN zbxhist_internal.has_own_rows(parent, NULL)
                 THEN zbxhist_internal.estimated_rows(parent) ELSE 0 END;
    bytes := pg_total_relation_size(parent);
    PERFORM zbxhist_internal.execute_as_owner(parent, format('TRUNCATE ONLY %s', parent));
    UPDATE zbxhist.parent_state s SET settling = NULL WHERE s.parent = step_truncate.parent;
    PERFORM zbxhist_internal.log_action(parent, 'truncate', NULL, rows, bytes, started, waited);
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist_internal.step_truncate(regclass) IS
'Maintenance: truncates a parent, without its partitions, when nothing in it is needed any more (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.step_truncate(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.step_truncate(regclass) TO pg_database_owner;
