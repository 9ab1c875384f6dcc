-- sql/packed/describe_left_out.sql

CREATE FUNCTION zbxhist_internal.describe_left_out(left_out bigint, problem text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT concat(CASE WHEN left_out > 0 THEN format('; %s values of deleted items left out', left_out) END,
                  '; those of deleted items stay: ' || problem)
$$;

COMMENT ON FUNCTION zbxhist_internal.describe_left_out(bigint, text) IS
'What a packed day does not have of what was packed, in words for the log; nothing if it has all by the policy (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.describe_left_out(bigint, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.describe_left_out(bigint, text) TO pg_database_owner;
