-- sql/partitions/bounds_condition.sql

CREATE FUNCTION zbxhist_internal.bounds_condition(from_clock bigint, to_clock bigint)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT concat_ws(' AND ',
        CASE WHEN from_clock > -2147483648 THEN format('clock >= %s', from_clock) END,
        CASE WHEN to_clock < 2147483648 THEN format('clock < %s', to_clock) END)
$$;

COMMENT ON FUNCTION zbxhist_internal.bounds_condition(bigint, bigint) IS
'What the constraint zbxhist_clock of a partition for a range of clocks says (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.bounds_condition(bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.bounds_condition(bigint, bigint) TO PUBLIC;
