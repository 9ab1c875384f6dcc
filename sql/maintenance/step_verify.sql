-- sql/maintenance/step_verify.sql
--
-- Finds out for which partitions, and tables of runs, the parent has no rows, so
-- that inserts need not look there, see src/rows/stray.c.  What a transaction that
-- did not know the partition yet puts into the parent is not to be seen before it
-- ends, so a partition is verified when all those have ended that ran when it
-- was first seen here; one of them may be prepared by then.
--
-- The strays lock keeps some inserts waiting.  A small parent is looked through
-- under it; a large one in the transaction after the one that took it and
-- removed the marks, and what has been marked meanwhile makes the look void.

CREATE FUNCTION zbxhist_internal.step_verify(parent regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    present CONSTANT text[] := zbxhist_internal.running_transactions();
    looking boolean;
    divide  boolean;
    version xid;
    newest  bigint;
BEGIN
    PERFORM zbxhist_internal.require_parent(parent);
    DELETE FROM zbxhist.partition_state s
     WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = s.partition);
    INSERT INTO zbxhist.partition_state AS s (partition, parent, settling, from_clock, to_clock)
    SELECT t.relation, step_verify.parent, present || 'prepared'::text, t.from_clock, t.to_clock
      FROM zbxhist_internal.list_takers(parent) t
        ON CONFLICT ON CONSTRAINT partition_state_pkey
        DO UPDATE SET from_clock = excluded.from_clock, to_clock = excluded.to_clock
     WHERE s.to_clock IS NULL;

    -- outside of a run of maintenance there may be no row
    SELECT s.verifying INTO looking FROM zbxhist.parent_state s
     WHERE s.parent = step_verify.parent FOR UPDATE;
    divide := FOUND AND NOT looking AND zbxhist_internal.own_pages(parent) >= 1000;
    looking := coalesce(looking, false);

    -- strays are waited for; then a fresh snapshot shows their rows
    IF NOT looking THEN
        PERFORM zbxhist_internal.lock_strays(parent);
    END IF;
    UPDATE zbxhist.parent_state s SET verifying = false
     WHERE s.parent = step_verify.parent AND s.verifying;
    SELECT t.xmin INTO version FROM pg_trigger t
     WHERE t.tgrelid = parent AND t.tgname = 'zzz_zbxhist_route' AND t.tgenabled <> 'D';
    IF NOT zbxhist_internal.is_unverified(parent, version, present) THEN
        RETURN 'done';
    END IF;
    IF divide THEN
        PERFORM zbxhist_internal.remove_marks(parent);
        UPDATE zbxhist.parent_state s SET verifying = true WHERE s.parent = step_verify.parent;
        RETURN 'more';
    END IF;
    SELECT zbxhist_internal.waiting_clock(parent, min(t.from_clock), max(t.to_clock), true) INTO newest
      FROM zbxhist_internal.list_takers(parent) t;
    IF looking THEN
        PERFORM zbxhist_internal.lock_strays(parent);
        IF EXISTS (SELECT FROM zbxhist.stray_mark m WHERE m.parent = step_verify.parent) THEN
            RETURN 'done';
        END IF;
    END IF;

    PERFORM zbxhist_internal.remove_marks(parent);
    UPDATE zbxhist.partition_state s
       SET settling = CASE WHEN s.settling && present THEN s.settling END,
           verified = CASE WHEN t.from_clock > newest OR newest IS NULL THEN version END
      FROM zbxhist_internal.list_takers(step_verify.parent) t
     WHERE s.partition = t.relation AND NOT coalesce(s.settling && present, false);
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist_internal.step_verify(regclass) IS
'Maintenance: notes for which partitions no row is in the parent (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.step_verify(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.step_verify(regclass) TO pg_database_owner;
