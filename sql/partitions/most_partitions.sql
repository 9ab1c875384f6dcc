-- sql/partitions/most_partitions.sql
--
-- A statement that is not for certain clocks locks all partitions of a table
-- and their indexes.  An eighth of the server's table of locks leaves room for
-- a few of these at a time.

CREATE FUNCTION zbxhist_internal.most_partitions()
RETURNS bigint
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT greatest(30, current_setting('max_locks_per_transaction')::bigint
                        * (current_setting('max_connections')::bigint
                           + current_setting('max_prepared_transactions')::bigint) / 16)
$$;

COMMENT ON FUNCTION zbxhist_internal.most_partitions() IS
'Number of partitions of a table that the server''s table of locks can bear (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.most_partitions() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.most_partitions() TO PUBLIC;
