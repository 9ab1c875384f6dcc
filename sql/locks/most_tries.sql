-- sql/locks/most_tries.sql
--
-- A standby with hot_standby_feedback tells every ten seconds what its queries
-- need, even if that is nothing any more, see wal_receiver_status_interval.

CREATE FUNCTION zbxhist_internal.most_tries(tries integer)
RETURNS integer
LANGUAGE sql VOLATILE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN EXISTS (SELECT FROM pg_stat_activity a
                              WHERE a.backend_type = 'walsender' AND a.backend_xmin IS NOT NULL
                             UNION ALL
                             SELECT FROM pg_replication_slots r WHERE r.xmin IS NOT NULL)
                THEN greatest(tries, 48) ELSE tries END
$$;

COMMENT ON FUNCTION zbxhist_internal.most_tries(integer) IS
'How often, a quarter of a second apart, it is looked whether older transactions have ended: so often, or longer where a standby server tells of its own (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.most_tries(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.most_tries(integer) TO pg_database_owner;
