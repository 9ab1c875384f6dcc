-- sql/setup/verify_ingest.sql
--
-- What has been done to a table since is told by check(); it is in the way of no
-- other change of its policy.

CREATE FUNCTION zbxhist_internal.verify_ingest(policy zbxhist.parent_config)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    is_new  CONSTANT boolean := NOT EXISTS (SELECT FROM zbxhist.parent_config c
                                             WHERE c.parent = policy.parent AND c.ingest = 'runs' AND c.routing);
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
        THEN format('its partitions have to be shorter than a day, not of %s', policy.partition_interval)
        WHEN policy.pack_after IS NULL
        THEN 'its partitions have to be packed'
        WHEN is_new
        THEN zbxhist_internal.why_no_runs(policy.parent) END;
    IF problem IS NOT NULL AND is_new THEN
        RAISE EXCEPTION 'new values of % cannot be stored as runs: %',
                        coalesce('table ' || policy.parent, 'history tables'), problem
            USING ERRCODE = 'object_not_in_prerequisite_state';
    ELSIF problem IS NOT NULL THEN
        RAISE EXCEPTION 'new values of table % are stored as runs, and %', policy.parent, problem
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = format('SELECT zbxhist.alter_parent(%L, ingest => ''heap'');', policy.parent);
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.verify_ingest(zbxhist.parent_config) IS
'Raises an error unless new values can be stored as a policy says (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.verify_ingest(zbxhist.parent_config) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.verify_ingest(zbxhist.parent_config) TO PUBLIC;
