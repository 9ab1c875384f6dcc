-- sql/partitions/run_indexes.sql
--
-- As src/packed/day/run_index.c wants them.

CREATE FUNCTION zbxhist_internal.run_indexes()
RETURNS TABLE (columns text, condition text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 2
SET search_path = pg_catalog, pg_temp
AS $$
    VALUES ('last_clock', 'batch IS NULL'),
           ('batch, last_itemid, first_itemid', 'batch IS NOT NULL')
$$;

COMMENT ON FUNCTION zbxhist_internal.run_indexes() IS
'The indexes of a table of runs: of runs that statements have stored, and of those that were merged (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.run_indexes() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.run_indexes() TO PUBLIC;
