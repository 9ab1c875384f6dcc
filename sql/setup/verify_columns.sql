-- sql/setup/verify_columns.sql

CREATE FUNCTION zbxhist_internal.verify_columns(parent regclass)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found CONSTANT record := zbxhist_internal.column_problem(parent);
BEGIN
    IF found.problem IS NOT NULL THEN
        RAISE EXCEPTION '%', found.problem USING ERRCODE = found.state, HINT = found.remedy;
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.verify_columns(regclass) IS
'Raises an error unless the table has the columns itemid and clock as Zabbix has them (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.verify_columns(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.verify_columns(regclass) TO PUBLIC;
