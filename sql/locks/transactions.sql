-- sql/locks/transactions.sql

-- Makes standby servers cancel queries whose snapshots are older than a transaction.  Called before a
-- table that has rows for such snapshots is dropped.  On this server maintenance has waited for them;
-- those of a standby are not known here, unless it sends feedback.
CREATE FUNCTION zbxhist_internal.end_older_snapshots(relation regclass, changed xid8) RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_end_older_snapshots';

-- Raises an error if the calling procedure cannot commit.
CREATE FUNCTION zbxhist_internal.require_own_transactions() RETURNS void
LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_require_own_transactions';

-- Returns the virtual transaction ids of all other sessions that may read tables of this database, and
-- "prepared" if there are prepared transactions.
-- A transaction that is not in the list began later, so its snapshot sees what was committed before.
-- The ids are from pg_locks, because pg_stat_activity hides other roles' snapshots from an ordinary
-- role.  VACUUM returns no rows, and launchers read no tables of a database, so they are left out.
-- Prepared transactions have no virtual id any more, so one word stands for all of them.
CREATE FUNCTION zbxhist_internal.running_transactions() RETURNS text[]
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (
        SELECT coalesce(array_agg(l.virtualxid ORDER BY l.virtualxid), '{}')
               || CASE WHEN EXISTS (SELECT FROM pg_prepared_xacts x WHERE x.database = current_database())
                       THEN ARRAY['prepared'] ELSE '{}' END
          FROM pg_locks l
          JOIN pg_stat_activity a ON a.pid = l.pid
         WHERE l.locktype = 'virtualxid' AND l.granted AND l.mode = 'ExclusiveLock'
           AND l.pid <> pg_backend_pid()
           AND (a.datname = current_database() OR a.datid IS NULL)
           AND coalesce(a.backend_type, '') NOT IN
               ('autovacuum worker', 'autovacuum launcher', 'logical replication launcher')
           AND NOT EXISTS (SELECT FROM pg_stat_progress_vacuum v WHERE v.pid = l.pid));
END
$$;

-- Whether all transactions of a list have ended, and no known snapshot is older than transaction
-- "since".
-- Exported snapshots and those of standby servers are not all known.  If "since" is in the future, a
-- dump of another cluster brought it, and nothing has to be waited for.
CREATE FUNCTION zbxhist_internal.is_settled(settling text[], since xid8) RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    -- must come first: the ages below are counted from a later transaction
    since_age CONSTANT integer := age(since::xid);
    distance  CONSTANT bigint :=
        pg_snapshot_xmax(pg_current_snapshot())::text::bigint - since::text::bigint;
    is_foreign CONSTANT boolean :=
        distance <= 0 AND since IS DISTINCT FROM pg_current_xact_id_if_assigned();
BEGIN
    IF settling && zbxhist_internal.running_transactions() THEN
        RETURN false;
    END IF;
    RETURN is_foreign OR distance >= 1000000000 OR since IS NULL OR NOT EXISTS (
            SELECT FROM pg_stat_activity a
             WHERE a.pid <> pg_backend_pid() AND age(a.backend_xmin) >= since_age
               AND (a.datname = current_database() OR a.datid IS NULL)
               AND a.backend_type <> 'autovacuum worker'
            UNION ALL
            SELECT FROM pg_replication_slots r
             WHERE age(r.xmin) >= since_age);
END
$$;

-- Whether no transaction can still need rows of a managed table where they were before the last move.
-- Sessions with an older snapshot read moved rows, now deleted, in the old table.  TRUNCATE and DROP
-- respect no snapshot, so all transactions that ran when the last move was committed must end first.
-- The first call after a move notes them; later calls check whether they have ended.
CREATE FUNCTION zbxhist_internal.settled(parent regclass) RETURNS boolean
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    state zbxhist.parent_state;
BEGIN
    SELECT * INTO STRICT state FROM zbxhist.parent_state s WHERE s.parent = settled.parent;
    IF state.settling IS NULL THEN
        state.settling := zbxhist_internal.running_transactions();
        UPDATE zbxhist.parent_state s SET settling = state.settling WHERE s.parent = settled.parent;
    END IF;
    RETURN zbxhist_internal.is_settled(state.settling, state.last_move);
END
$$;

-- Returns the other transactions that hold a lock on one of the tables during all of some milliseconds.
CREATE FUNCTION zbxhist_internal.lasting_holders(relations regclass[], milliseconds integer) RETURNS text[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    deadline CONSTANT timestamptz := clock_timestamp() + milliseconds * interval '1 ms';
    holders  text[] := zbxhist_internal.lock_holders(VARIADIC relations);
BEGIN
    WHILE holders <> '{}' AND clock_timestamp() < deadline LOOP
        PERFORM pg_sleep(0.02);
        holders := ARRAY(SELECT unnest(holders) INTERSECT SELECT unnest(zbxhist_internal.lock_holders(VARIADIC relations)));
    END LOOP;
    RETURN holders;
END
$$;

-- Raises an error if another transaction holds a lock on a table for longer than
-- maintenance_lock_timeout.
-- Called before long work that ends with an exclusive lock: the work would be for nothing.
CREATE FUNCTION zbxhist_internal.wait_for_readers(relation regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM zbxhist_internal.refuse('55P03', format('table %s is in use by another transaction', relation),
        detail => 'Repeat the call when that has ended.',
        hint => zbxhist_internal.long_transactions())
      WHERE zbxhist_internal.lasting_holders(ARRAY[relation], zbxhist_internal.short_lock_timeout()) <> '{}';
END
$$;

-- Waits for the end of the transactions that run now, at most a second.
CREATE FUNCTION zbxhist_internal.wait_for_transactions() RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    deadline CONSTANT timestamptz := clock_timestamp() + least(zbxhist_internal.short_lock_timeout(), 1000) * interval '1 ms';
    present  CONSTANT text[] := zbxhist_internal.running_transactions();
BEGIN
    WHILE present <> '{}' AND clock_timestamp() < deadline AND zbxhist_internal.running_transactions() && present LOOP
        PERFORM pg_sleep(0.02);
    END LOOP;
END
$$;

-- How often maintenance checks, a quarter of a second apart, whether older transactions have ended:
-- this number, or 48 if a standby server sends feedback, because it does so only every ten seconds
-- (wal_receiver_status_interval).
CREATE FUNCTION zbxhist_internal.most_tries(tries integer) RETURNS integer
LANGUAGE sql VOLATILE STRICT PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN EXISTS (SELECT FROM pg_stat_activity a
                              WHERE a.backend_type = 'walsender' AND a.backend_xmin IS NOT NULL
                             UNION ALL
                             SELECT FROM pg_replication_slots r WHERE r.xmin IS NOT NULL)
                THEN greatest(tries, 48) ELSE tries END
$$;

-- Raises an error if older transactions have been waited for often enough, see most_tries.
CREATE FUNCTION zbxhist_internal.refuse_to_wait(parent regclass, tries integer) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF tries < zbxhist_internal.most_tries(20) THEN
        RETURN;
    END IF;
    PERFORM zbxhist_internal.refuse('55000', format('transactions that began earlier may still need rows of table %s where they are', parent),
        detail => 'Repeat the call when they have ended.  All rows can be read at any time.',
        hint => zbxhist_internal.long_transactions());
END
$$;
