-- sql/setup/possible_ingest.sql
--
-- What is asked of all history tables is done for those that can have it.

CREATE FUNCTION zbxhist_internal.possible_ingest(parent regclass, given text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN given = 'runs' AND zbxhist_internal.why_no_runs(parent) IS NOT NULL THEN 'heap' ELSE given END
$$;

COMMENT ON FUNCTION zbxhist_internal.possible_ingest(regclass, text) IS
'The option ingest of setup, as far as a table can have it (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.possible_ingest(regclass, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.possible_ingest(regclass, text) TO PUBLIC;
