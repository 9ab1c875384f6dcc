-- sql/partitions/takes_runs.sql

CREATE FUNCTION zbxhist_internal.takes_runs(parent regclass)
RETURNS boolean
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM zbxhist.parent_config c
                    WHERE c.parent = takes_runs.parent AND c.ingest = 'runs')
       AND zbxhist_internal.why_no_runs(takes_runs.parent) IS NULL
$$;

COMMENT ON FUNCTION zbxhist_internal.takes_runs(regclass) IS
'Whether places for new values of a managed table are to be made as tables of runs (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.takes_runs(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.takes_runs(regclass) TO PUBLIC;
