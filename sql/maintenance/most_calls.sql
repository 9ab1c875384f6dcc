-- sql/maintenance/most_calls.sql

CREATE FUNCTION zbxhist_internal.most_calls(parent regclass, step text)
RETURNS integer
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE
        -- these raise an error when a batch of rows has not got on
        WHEN step IN ('move', 'merge', 'expire', 'undo_move') THEN 2147483647
        -- each interval may have more than one gap, and 48 of them may be shorter than a day
        WHEN step = 'premake' THEN
            coalesce(2 * (SELECT c.premake FROM zbxhist.parent_config c
                           WHERE c.parent = most_calls.parent), 0) + 68
        -- one partition or packed day each
        WHEN step = 'owner' THEN
            (SELECT count(*)::integer FROM zbxhist_internal.list_ranges(parent)) + 20
        ELSE 20 END
$$;

COMMENT ON FUNCTION zbxhist_internal.most_calls(regclass, text) IS
'How often a step of maintenance may ask to be called again (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.most_calls(regclass, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.most_calls(regclass, text) TO PUBLIC;
