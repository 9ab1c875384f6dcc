-- sql/locks/running_transactions.sql
--
-- pg_stat_activity hides the snapshots of other roles' sessions from an
-- ordinary role, but pg_locks shows everybody's virtual transaction ids: who
-- began after this list was made has a snapshot that sees what was committed
-- before it was made.  VACUUM reads no rows for anybody, and launchers read no
-- tables of a database.  A prepared transaction has lost its virtual id, so all
-- of them together have a name of their own.

CREATE FUNCTION zbxhist_internal.running_transactions()
RETURNS text[]
LANGUAGE sql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
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

COMMENT ON FUNCTION zbxhist_internal.running_transactions() IS
'The virtual transaction ids of all other sessions that may read tables of this database, and "prepared" if there are prepared ones (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.running_transactions() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.running_transactions() TO PUBLIC;
