-- sql/locks/locks.sql

-- First key of the advisory locks of maintenance; the second is the parent's OID.  Only one session at
-- a time does a step on a parent.
CREATE FUNCTION zbxhist_internal.lock_class() RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT 2053271657 $$;

-- Until the end of the transaction, makes UPDATE and DELETE of a managed table wait before they
-- take their snapshot; waits for those under way.
CREATE FUNCTION zbxhist_internal.lock_moves(parent regclass) RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_lock_moves';

-- Takes SHARE ROW EXCLUSIVE on a foreign table, or ACCESS EXCLUSIVE if readers must wait, too; LOCK
-- TABLE refuses foreign tables.
CREATE FUNCTION zbxhist_internal.lock_packed_table(packed regclass, readers boolean) RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_lock_packed_table';

-- Takes the work lock until the end of the transaction.  An INSERT that waits for a table sees by it
-- that maintenance holds the table's lock, or waits for it.
CREATE FUNCTION zbxhist_internal.lock_work(relation regclass) RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_lock_work';

-- Longest wait for a lock that stops no writer, in milliseconds.  It is longer than deadlock_timeout,
-- after which PostgreSQL cancels an autovacuum that is in the way.
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

-- Returns the virtual transaction ids of other transactions that hold a lock on one of these tables,
-- prepared ones included; every role may see these ids.
-- VACUUM, ANALYZE and autovacuum of a table are not listed: lock_patiently waits for them or cancels
-- them.  Readers of packed days, who lock the foreign table, are listed only if the table has a column
-- that the foreign table lacks, because only then does packing change it.
CREATE FUNCTION zbxhist_internal.lock_holders(VARIADIC relations regclass[]) RETURNS text[]
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (
        SELECT coalesce(array_agg(DISTINCT l.virtualtransaction), '{}')
          FROM pg_locks l
          JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
          LEFT JOIN pg_class k ON k.oid = l.relation
         WHERE l.locktype = 'relation' AND l.relation = ANY (relations)
           AND l.granted AND l.pid IS DISTINCT FROM pg_backend_pid()
           AND NOT (k.relkind = 'r' AND l.mode = 'ShareUpdateExclusiveLock'
                    OR k.relkind = 'f' AND l.mode IN ('AccessShareLock', 'RowShareLock')
                       AND NOT EXISTS (SELECT FROM zbxhist_internal.unnoted_columns(k.oid))));
END
$$;

-- Takes SHARE UPDATE EXCLUSIVE on one table, which stops no reader and no INSERT.
-- Called before a stronger lock is taken: the wait for VACUUM or another maintenance of the table then
-- stops nobody.
CREATE FUNCTION zbxhist_internal.lock_patiently(relation regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM set_config('lock_timeout', zbxhist_internal.patient_lock_timeout()::text, true);
    EXECUTE format('LOCK TABLE ONLY %s IN SHARE UPDATE EXCLUSIVE MODE', relation);
END
$$;

-- Locks one table, by default in ACCESS EXCLUSIVE mode, within a bounded time and returns the time it
-- waited.
-- It takes the weak lock first: that stops nobody, and its longer wait is enough for PostgreSQL to
-- cancel an autovacuum.  By the work lock INSERTs see that they wait for maintenance.
--
-- SHARE ROW EXCLUSIVE on the foreign table stops UPDATE and DELETE of packed rows, which rely on the
-- days that they found.  It does not stop readers: they look up each day when they reach it, so days
-- may be replaced meanwhile.
CREATE FUNCTION zbxhist_internal.lock_exclusively(
    relation regclass, milliseconds integer DEFAULT zbxhist_internal.short_lock_timeout(),
    mode text DEFAULT 'ACCESS EXCLUSIVE') RETURNS interval
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    is_foreign CONSTANT boolean := EXISTS (SELECT FROM pg_class k WHERE k.oid = relation AND k.relkind = 'f');
    started timestamptz;
BEGIN
    IF NOT is_foreign THEN
        PERFORM zbxhist_internal.lock_patiently(relation);
        PERFORM zbxhist_internal.lock_work(relation);
    END IF;
    PERFORM set_config('lock_timeout', milliseconds::text, true);
    started := clock_timestamp();
    IF is_foreign THEN
        PERFORM zbxhist_internal.lock_packed_table(relation, mode = 'ACCESS EXCLUSIVE');
    ELSE
        EXECUTE format('LOCK TABLE ONLY %s IN %s MODE', relation, mode);
    END IF;
    RETURN clock_timestamp() - started;
END
$$;

-- Locks all of some tables, by default in ACCESS EXCLUSIVE mode, or raises an error after five tries;
-- returns the time it waited.
-- A lock held while waiting for the next one stops others for nothing.  So each try waits at most
-- zbxhist.maintenance_lock_timeout in all, and then releases every lock.  It takes the weak locks
-- first, see lock_exclusively.  The caller passes the tables in the order in which others lock them.
-- Readers of the foreign table "unchanged" are not stopped.
--
-- A session may hold a lock on one of the tables and wait for another one that the caller locked
-- earlier.  That would be a deadlock, and PostgreSQL might cancel that session, so the caller gives up
-- at once.
CREATE FUNCTION zbxhist_internal.lock_all_or_none(
    relations regclass[], unchanged regclass DEFAULT NULL, mode text DEFAULT 'ACCESS EXCLUSIVE') RETURNS interval
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET lock_timeout = 0 AS $$
DECLARE
    allowed CONSTANT integer := zbxhist_internal.short_lock_timeout();
    waited   interval := '0';
    started  timestamptz;
    relation regclass;
BEGIN
    FOR attempt IN 1 .. 5 LOOP
        PERFORM zbxhist_internal.refuse('55P03', format('table %s is in use by a transaction that waits for this one', l.relation::regclass),
                    detail => 'Repeat the call when that has ended.',
                    hint => zbxhist_internal.long_transactions())
           FROM pg_locks l
           JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
          WHERE l.locktype = 'relation' AND l.granted AND l.relation = ANY (relations)
            AND EXISTS (SELECT FROM pg_locks w
                         WHERE w.pid = l.pid AND w.locktype = 'relation' AND NOT w.granted
                           AND w.database = l.database AND w.relation = ANY (relations))
            AND l.pid <> pg_backend_pid();
        started := NULL;
        BEGIN
            FOREACH relation IN ARRAY relations LOOP
                PERFORM zbxhist_internal.lock_patiently(relation) FROM pg_class k WHERE k.oid = relation AND k.relkind <> 'f';
            END LOOP;
            started := clock_timestamp();
            FOREACH relation IN ARRAY relations LOOP
                PERFORM zbxhist_internal.lock_exclusively(relation,
                    greatest(1, allowed - 1000 * extract(epoch FROM clock_timestamp() - started))::integer,
                    CASE WHEN relation = unchanged THEN 'SHARE ROW EXCLUSIVE' ELSE mode END);
            END LOOP;
            RETURN waited + (clock_timestamp() - started);
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            waited := waited + coalesce(clock_timestamp() - started, interval '0');
            PERFORM zbxhist_internal.refuse('55P03', format('could not lock table %s within %s ms, five times', relation, allowed),
                detail => 'A transaction is using it.  Repeat the call when that has ended.',
                hint => zbxhist_internal.long_transactions())
              WHERE attempt = 5;
        END;
        PERFORM pg_sleep(0.25 * attempt);
    END LOOP;
END
$$;
