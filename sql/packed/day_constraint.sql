-- sql/packed/day_constraint.sql

CREATE FUNCTION zbxhist_internal.day_constraint(from_clock bigint, to_clock bigint)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    -- beyond the range of an integer the bound is open
    SELECT format('CONSTRAINT zbxhist_range CHECK (%s)', concat_ws(' AND ',
        CASE WHEN from_clock > -2147483648 THEN format('first_clock >= %s', from_clock) END,
        CASE WHEN to_clock < 2147483648 THEN format('last_clock < %s', to_clock) END))
$$;

COMMENT ON FUNCTION zbxhist_internal.day_constraint(bigint, bigint) IS
'The constraint of the table of a packed day (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.day_constraint(bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.day_constraint(bigint, bigint) TO PUBLIC;
