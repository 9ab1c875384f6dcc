-- sql/packed/new_columns.sql
--
-- The option goes with its column when that is dropped, and stays in a dump.
-- Where no column has it, packing has not noted any yet.

CREATE FUNCTION zbxhist_internal.new_columns(packed regclass)
RETURNS SETOF name
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
        SELECT f.attname
          FROM (SELECT a.attname, a.attinhcount, a.attnum, o.is_packed, bool_or(o.is_packed) OVER () AS is_known
                  FROM pg_attribute a
                  CROSS JOIN LATERAL (
                       SELECT EXISTS (SELECT FROM unnest(a.attfdwoptions) p
                                       WHERE starts_with(p, 'packed=')) AS is_packed) o
                 WHERE a.attrelid = packed AND a.attnum > 0 AND NOT a.attisdropped) f
         WHERE f.is_known AND NOT f.is_packed AND f.attinhcount > 0
         ORDER BY f.attnum;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.new_columns(regclass) IS
'The columns of the foreign table that stands for packed days that no day has been packed with yet (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.new_columns(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.new_columns(regclass) TO PUBLIC;
