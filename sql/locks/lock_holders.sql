-- sql/locks/lock_holders.sql
--
-- By their virtual numbers, which everybody may see, prepared ones, too.
-- VACUUM, ANALYZE and autovacuum of a table are not among them: lock_patiently
-- waits for them or sends them away.

CREATE FUNCTION zbxhist_internal.lock_holders(VARIADIC relations regclass[])
RETURNS text[]
LANGUAGE sql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(array_agg(DISTINCT l.virtualtransaction), '{}')
      FROM pg_locks l
      JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
      LEFT JOIN pg_class k ON k.oid = l.relation
     WHERE l.locktype = 'relation' AND l.relation = ANY (relations)
       AND l.granted AND l.pid IS DISTINCT FROM pg_backend_pid()
       AND NOT (k.relkind = 'r' AND l.mode = 'ShareUpdateExclusiveLock')
$$;

COMMENT ON FUNCTION zbxhist_internal.lock_holders(regclass[]) IS
'Other transactions that hold a lock on one of these tables (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.lock_holders(regclass[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.lock_holders(regclass[]) TO pg_database_owner;
