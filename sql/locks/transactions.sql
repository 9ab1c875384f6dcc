-- sql/locks/transactions.sql

-- Makes standby servers cancel queries that do not see a transaction, before the table that has the
-- rows for them is dropped.  On this server the transactions that need the table have been waited
-- for; those of a standby, unless it sends feedback, are unknown here.
CREATE FUNCTION zbxhist_internal.end_older_snapshots(relation regclass, changed xid8) RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_end_older_snapshots';

-- Raises an error if the calling procedure cannot commit.
CREATE FUNCTION zbxhist_internal.require_own_transactions() RETURNS void
LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_require_own_transactions';

-- The virtual transaction ids of all other sessions that may read tables of this database, and
-- "prepared" if there are prepared ones.
-- pg_stat_activity hides the snapshots of other roles' sessions from an
-- ordinary role, but pg_locks shows everybody's virtual transaction ids: who
-- began after this list was made has a snapshot that sees what was committed
-- before it was made.  VACUUM reads no rows for anybody, and launchers read no
-- tables of a database.  A prepared transaction has lost its virtual id, so all
-- of them together have a name of their own.
CREATE FUNCTION zbxhist_internal.running_transactions() RETURNS text[]
LANGUAGE sql VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(array_agg(l.virtualxid ORDER BY l.virtualxid), '{}')
           || CASE WHEN EXISTS (SELECT FROM pg_prepared_xacts x
                                 WHERE x.database = current_database())
                   THEN ARRAY['prepared'] ELSE '{}' END
      FROM pg_locks l
      JOIN pg_stat_activity a ON a.pid = l.pid
      JOIN pg_database d ON d.datname = current_database()
     WHERE l.locktype = 'virtualxid' AND l.granted AND l.mode = 'ExclusiveLock'
       AND l.pid <> pg_backend_pid()
       AND (a.datid = d.oid OR a.datid IS NULL)
       AND coalesce(a.backend_type, '') NOT IN
           ('autovacuum worker', 'autovacuum launcher', 'logical replication launcher')
       AND NOT EXISTS (SELECT FROM pg_stat_progress_vacuum v WHERE v.pid = l.pid)
$$;

-- Whether no transaction of a list is running any more, and no snapshot is known that is older than
-- another transaction.
-- Snapshots handed on, and those of standby servers, show only in part.  A
-- transaction of the future is another cluster's, from which a dump has it.
CREATE FUNCTION zbxhist_internal.is_settled(settling text[], since xid8) RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    -- first, since the age of others counts from a later transaction than this
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

-- Whether no transaction can need the rows of a managed table at their place before the last move
-- any more.
-- Moved rows stay in their old table, deleted, for sessions with an older
-- snapshot.  TRUNCATE and DROP respect no snapshot, so before one of them
-- every transaction must have ended that was running when the last move had
-- been committed.  Called for the first time after a move, this makes the list
-- of those; called again, it says whether one is still there.
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

-- Other transactions that hold a lock on one of some tables and do not let it go within some
-- milliseconds.
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

-- Raises an error if a transaction holds a lock on a table for longer than a time.
-- To be called before work that would be in vain, since the lock that ends it
-- could not be had.
CREATE FUNCTION zbxhist_internal.wait_for_readers(relation regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM zbxhist_internal.refuse('55P03', format('table %s is in use by another transaction', relation),
        detail => 'Repeat the call when that has ended.',
        hint => zbxhist_internal.long_transactions())
      WHERE zbxhist_internal.lasting_holders(ARRAY[relation], zbxhist_internal.short_lock_timeout()) <> '{}';
END
$$;

-- Waits a bounded time for the end of the transactions that run now.
CREATE FUNCTION zbxhist_internal.wait_for_transactions() RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    deadline CONSTANT timestamptz := clock_timestamp() + least(zbxhist_internal.short_lock_timeout(), 1000) * interval '1 ms';
    present  CONSTANT text[] := zbxhist_internal.running_transactions();
BEGIN
    WHILE clock_timestamp() < deadline AND zbxhist_internal.running_transactions() && present LOOP
        PERFORM pg_sleep(0.02);
    END LOOP;
END
$$;

-- How many times, a quarter of a second apart, maintenance checks whether older transactions have
-- ended: this number, or more if a standby server reports transactions of its own.  A standby with
-- hot_standby_feedback reports only every ten seconds what its queries need
-- (wal_receiver_status_interval).
CREATE FUNCTION zbxhist_internal.most_tries(tries integer) RETURNS integer
LANGUAGE sql VOLATILE STRICT PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN EXISTS (SELECT FROM pg_stat_activity a
                              WHERE a.backend_type = 'walsender' AND a.backend_xmin IS NOT NULL
                             UNION ALL
                             SELECT FROM pg_replication_slots r WHERE r.xmin IS NOT NULL)
                THEN greatest(tries, 48) ELSE tries END
$$;

-- Raises an error when older transactions have been waited for often enough.
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
