-- sql/packed/packed_columns.sql
--
-- An option of the column keeps the name: it goes with the column when that is
-- dropped, and stays when it is renamed.

CREATE FUNCTION zbxhist_internal.packed_columns(packed regclass)
RETURNS TABLE (column_name name, packed_name name)
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
        SELECT a.attname, o.option_value::name
          FROM pg_attribute a
         CROSS JOIN LATERAL pg_options_to_table(a.attfdwoptions) o
         WHERE a.attrelid = packed AND a.attnum > 0 AND NOT a.attisdropped AND o.option_name = 'packed'
         ORDER BY a.attnum;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.packed_columns(regclass) IS
'The columns of the foreign table that stands for packed days that days have been packed with, and their names there (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.packed_columns(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.packed_columns(regclass) TO PUBLIC;
