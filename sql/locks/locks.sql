-- sql/locks/locks.sql

-- First key of the advisory locks that keep two maintenance steps on one parent apart.
CREATE FUNCTION zbxhist_internal.lock_class() RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT 2053271657 $$;

-- Until the end of the transaction, makes UPDATE and DELETE of a managed table wait before they
-- take their snapshot; waits for those under way.
CREATE FUNCTION zbxhist_internal.lock_moves(parent regclass) RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_lock_moves';

-- Takes SHARE ROW EXCLUSIVE on a foreign table, or ACCESS EXCLUSIVE against readers, too; LOCK TABLE
-- does neither.
CREATE FUNCTION zbxhist_internal.lock_packed_table(packed regclass, readers boolean) RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_lock_packed_table';

-- Until the end of the transaction, tells INSERTs that it is maintenance that has a table locked,
-- or asks for the lock.
CREATE FUNCTION zbxhist_internal.lock_work(relation regclass) RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_lock_work';

-- Longest wait for a lock that stops no writer, in milliseconds: long enough for an autovacuum to
-- be told to give way.
CREATE FUNCTION zbxhist_internal.patient_lock_timeout() RETURNS integer
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN least(1000 * extract(epoch FROM current_setting('deadlock_timeout')::interval) + 1500, 600000)::integer;
END
$$;

-- Longest wait for a lock that stops writers, in milliseconds.
CREATE FUNCTION zbxhist_internal.short_lock_timeout() RETURNS integer
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN greatest(1, 1000 * extract(epoch FROM zbxhist_internal.library_setting('maintenance_lock_timeout', '500ms')::interval))::integer;
END
$$;

-- Other transactions that hold a lock on one of these tables.
-- By their virtual numbers, which everybody may see, prepared ones, too.
-- VACUUM, ANALYZE and autovacuum of a table are not among them: lock_patiently
-- waits for them or sends them away.  Who reads packed days has the foreign table
-- locked, which matters only when a day is packed that has a new column.
CREATE FUNCTION zbxhist_internal.lock_holders(VARIADIC relations regclass[]) RETURNS text[]
LANGUAGE sql VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(array_agg(DISTINCT l.virtualtransaction), '{}')
      FROM pg_locks l
      JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
      LEFT JOIN pg_class k ON k.oid = l.relation
     WHERE l.locktype = 'relation' AND l.relation = ANY (relations)
       AND l.granted AND l.pid IS DISTINCT FROM pg_backend_pid()
       AND NOT (k.relkind = 'r' AND l.mode = 'ShareUpdateExclusiveLock'
                OR k.relkind = 'f' AND l.mode IN ('AccessShareLock', 'RowShareLock')
                   AND NOT EXISTS (SELECT FROM zbxhist_internal.unnoted_columns(k.oid)))
$$;

-- Takes SHARE UPDATE EXCLUSIVE on one table, which stops no reader and no INSERT.
-- Called before a lock is taken that keeps readers out, so that nobody has to
-- wait while VACUUM or another maintenance of the table is waited for.
CREATE FUNCTION zbxhist_internal.lock_patiently(relation regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM set_config('lock_timeout', zbxhist_internal.patient_lock_timeout()::text, true);
    EXECUTE format('LOCK TABLE ONLY %s IN SHARE UPDATE EXCLUSIVE MODE', relation);
END
$$;

-- Takes ACCESS EXCLUSIVE on one table within a bounded time and returns the time it waited.
-- The weak lock first: it stops nobody, and sends an autovacuum away, for
-- which the short wait for the strong one would not be long enough.  INSERTs see
-- by the work lock that it is maintenance that they wait for.
CREATE FUNCTION zbxhist_internal.lock_exclusively(
    relation regclass, milliseconds integer DEFAULT zbxhist_internal.short_lock_timeout()) RETURNS interval
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    foreign_table CONSTANT boolean :=
        EXISTS (SELECT FROM pg_class k WHERE k.oid = relation AND k.relkind = 'f');
    started timestamptz;
BEGIN
    IF foreign_table THEN
        started := clock_timestamp();
        PERFORM set_config('lock_timeout', milliseconds::text, true);
        PERFORM zbxhist_internal.lock_packed_table(relation, true);
        RETURN clock_timestamp() - started;
    END IF;
    PERFORM zbxhist_internal.lock_patiently(relation);
    PERFORM zbxhist_internal.lock_work(relation);
    PERFORM set_config('lock_timeout', milliseconds::text, true);
    started := clock_timestamp();
    EXECUTE format('LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE', relation);
    RETURN clock_timestamp() - started;
END
$$;

-- Keeps UPDATE and DELETE from packed days until the transaction ends, within a bounded time.  Days
-- may be replaced while the foreign table is read, because a reader looks up each day when it
-- reaches it.  UPDATE and DELETE rely on the days that they have found.
CREATE FUNCTION zbxhist_internal.lock_changes(packed regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM set_config('lock_timeout', zbxhist_internal.short_lock_timeout()::text, true);
    PERFORM zbxhist_internal.lock_packed_table(packed, false);
END
$$;

-- Takes ACCESS EXCLUSIVE on tables after long work, and keeps changes from a foreign one, if any
-- is named, with more than one try, and returns the time it waited.
-- All tables or none: a lock that is held while the next one is waited for
-- keeps readers out for nothing.  They are locked in the order in which the
-- planner locks a parent's children.
--
-- A session that changes rows may have one of them and wait for another, which the
-- caller has locked long since: neither would get on, and that session would be
-- cancelled for it, so it is the caller that gives up.
CREATE FUNCTION zbxhist_internal.lock_all_or_none(relations regclass[], unchanged regclass) RETURNS interval
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    allowed CONSTANT integer := zbxhist_internal.short_lock_timeout();
    started CONSTANT timestamptz := clock_timestamp();
    relation regclass;
BEGIN
    FOR attempt IN 1 .. 5 LOOP
        PERFORM zbxhist_internal.refuse('55P03', format('table %s is in use by a transaction that waits for this one', l.relation::regclass),
                    detail => 'Repeat the call when that has ended.',
                    hint => zbxhist_internal.long_transactions())
           FROM pg_locks l
           JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
          WHERE l.locktype = 'relation' AND l.granted AND l.relation = ANY (relations || unchanged)
            AND EXISTS (SELECT FROM pg_locks w
                         WHERE w.pid = l.pid AND w.locktype = 'relation' AND NOT w.granted
                           AND w.database = l.database AND w.relation = ANY (relations || unchanged))
            AND l.pid <> pg_backend_pid();
        BEGIN
            FOR relation IN SELECT r FROM unnest(relations || unchanged) r WHERE r IS NOT NULL ORDER BY r::oid LOOP
                IF relation = unchanged THEN
                    PERFORM zbxhist_internal.lock_changes(relation);
                ELSE
                    PERFORM zbxhist_internal.lock_exclusively(relation);
                END IF;
            END LOOP;
            EXIT;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            PERFORM zbxhist_internal.refuse('55P03', format('could not lock table %s within %s ms, five times', relation, allowed),
                detail => 'A transaction is using it.  Repeat the call when that has ended.',
                hint => zbxhist_internal.long_transactions())
              WHERE attempt = 5;
        END;
        PERFORM pg_sleep(0.25 * attempt);
    END LOOP;
    RETURN clock_timestamp() - started;
END
$$;

-- The same where changes are kept from nothing else.
CREATE FUNCTION zbxhist_internal.lock_with_patience(VARIADIC relations regclass[]) RETURNS interval
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT zbxhist_internal.lock_all_or_none(relations, NULL)
$$;

-- Locks tables in a mode that stops others, all or none, within a bounded time, some of them with a
-- weak lock first, and returns the time it waited.  The weak locks first, see lock_exclusively.
-- All waits for the others together are no longer than zbxhist.maintenance_lock_timeout, everything
-- let go between the tries; who calls names them in the order in which others take them (no
-- deadlock).
CREATE FUNCTION zbxhist_internal.lock_together(weak regclass[], strong regclass[], mode text, detail text) RETURNS interval
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET lock_timeout = 0 AS $$
DECLARE
    tries   CONSTANT integer := 12;
    budget  CONSTANT integer := zbxhist_internal.short_lock_timeout();
    started timestamptz;
    waited  interval := '0';
    locked  regclass;
BEGIN
    FOR try IN 1 .. tries LOOP
        started := NULL;
        BEGIN
            FOREACH locked IN ARRAY weak LOOP
                PERFORM zbxhist_internal.lock_patiently(locked);
            END LOOP;
            started := clock_timestamp();
            FOREACH locked IN ARRAY strong LOOP
                PERFORM set_config('lock_timeout', greatest(1, budget
                    - round(extract(epoch FROM clock_timestamp() - started) * 1000))::text, true);
                EXECUTE format('LOCK TABLE ONLY %s IN %s MODE', locked, mode);
            END LOOP;
            RETURN waited + (clock_timestamp() - started);
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            waited := waited + coalesce(clock_timestamp() - started, interval '0');
            PERFORM zbxhist_internal.refuse('55P03', format('could not lock table %s within %s ms, %s times', locked, budget, tries),
                detail => detail, hint => zbxhist_internal.long_transactions())
              WHERE try = tries;
        END;
        PERFORM pg_sleep(least(0.05 * 2 ^ try, 2));
    END LOOP;
END
$$;
