-- sql/maintenance/step_merge_runs.sql
--
-- The worker that INSERTs start does the same, see src/maintenance/merger.c; what
-- is in the way is gone by the next run.

CREATE FUNCTION zbxhist_internal.step_merge_runs(parent regclass, runs regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    merged bigint;
BEGIN
    PERFORM zbxhist_internal.require_parent(parent);
    -- it may have been packed or dropped
    IF NOT EXISTS (SELECT FROM zbxhist.packed_day d
                     JOIN pg_class k ON k.oid = d.day
                    WHERE d.parent = step_merge_runs.parent AND d.day = step_merge_runs.runs AND d.runs) THEN
        RETURN 'done';
    END IF;
    merged := zbxhist_internal.merge_runs(runs);
    RETURN CASE WHEN merged < 0 THEN 'wait' WHEN merged > 0 THEN 'more' ELSE 'done' END;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.step_merge_runs(regclass, regclass) IS
'Maintenance: merges runs of an hour of which there are many (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.step_merge_runs(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.step_merge_runs(regclass, regclass) TO pg_database_owner;
