-- sql/parent_rows/waiting_rows.sql

CREATE FUNCTION zbxhist_internal.waiting_rows(parent regclass, OUT rows bigint, OUT exact boolean)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    exact := zbxhist_internal.own_pages(parent) < 1000 AND has_table_privilege(parent, 'SELECT')
             AND NOT row_security_active(parent)
             AND EXISTS (SELECT FROM pg_class k WHERE k.oid = parent AND k.relkind = 'r');
    IF exact THEN
        rows := zbxhist_internal.count_own_rows(parent, NULL, NULL);
    ELSE
        rows := zbxhist_internal.estimated_rows(parent);
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.waiting_rows(regclass) IS
'Rows in the parent itself: counted if they are few and may be read, else estimated (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.waiting_rows(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.waiting_rows(regclass) TO PUBLIC;
