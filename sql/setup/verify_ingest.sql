-- sql/setup/verify_ingest.sql
--
-- Runs have no index on the key: it is looked up as in packed days.

CREATE FUNCTION zbxhist_internal.verify_ingest(policy zbxhist.parent_config)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    problem text;
BEGIN
    IF policy.ingest NOT IN ('heap', 'runs') THEN
        RAISE EXCEPTION 'unrecognized value for argument "ingest": "%"', policy.ingest
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Valid values are "heap", "runs".';
    END IF;
    IF policy.ingest IS DISTINCT FROM 'runs' THEN
        RETURN;
    END IF;
    problem := CASE
        WHEN zbxhist_internal.span_seconds(policy.partition_interval) IS NULL
        THEN format('Its partitions are not shorter than a day, but of %s.', policy.partition_interval)
        WHEN policy.pack_after IS NULL
        THEN 'Its partitions are never packed.'
        WHEN zbxhist_internal.not_for_runs(policy.parent) IS NOT NULL
        THEN format('It cannot be packed: %s.', zbxhist_internal.not_for_runs(policy.parent))
        WHEN NOT EXISTS (SELECT FROM pg_index x
                          WHERE x.indrelid = policy.parent AND x.indisunique AND x.indisvalid)
        THEN 'It has no unique key.' END;
    IF problem IS NOT NULL THEN
        RAISE EXCEPTION 'new values of table % cannot be stored as runs', policy.parent
            USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = problem;
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.verify_ingest(zbxhist.parent_config) IS
'Raises an error unless new values can be stored as a policy says (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.verify_ingest(zbxhist.parent_config) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.verify_ingest(zbxhist.parent_config) TO PUBLIC;
