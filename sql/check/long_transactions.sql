-- sql/check/long_transactions.sql

CREATE FUNCTION zbxhist_internal.long_transactions()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 'SELECT pid::text, usename, state, xact_start, left(query, 60) AS query FROM pg_stat_activity'
           ' WHERE xact_start IS NOT NULL AND pid <> pg_backend_pid()'
           ' UNION ALL SELECT gid, owner, ''prepared'', prepared, NULL FROM pg_prepared_xacts'
           ' ORDER BY xact_start LIMIT 10;'
$$;

COMMENT ON FUNCTION zbxhist_internal.long_transactions() IS
'The command that shows transactions which maintenance may be waiting for (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.long_transactions() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.long_transactions() TO PUBLIC;
