-- sql/maintenance/is_transient.sql
--
-- A lock not got, a deadlock, rows that some transactions still see otherwise:
-- the next run tries again, and mostly succeeds.

CREATE FUNCTION zbxhist_internal.is_transient(sqlstate text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(sqlstate, '55P03') IN ('55P03', '40P01', '40001', '55006')
$$;

COMMENT ON FUNCTION zbxhist_internal.is_transient(text) IS
'Whether the next maintenance is likely to succeed where one failed with this SQLSTATE, or had to wait (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.is_transient(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.is_transient(text) TO PUBLIC;
