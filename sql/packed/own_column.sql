-- sql/packed/own_column.sql

CREATE FUNCTION zbxhist_internal.own_column(parent regclass, partition regclass)
RETURNS name
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (
        SELECT a.attname
          FROM pg_attribute a
         WHERE a.attrelid = own_column.partition AND a.attnum > 0 AND NOT a.attisdropped
           AND NOT EXISTS (SELECT FROM pg_attribute b
                            WHERE b.attrelid = own_column.parent AND b.attname = a.attname
                              AND NOT b.attisdropped)
         ORDER BY a.attnum LIMIT 1);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.own_column(regclass, regclass) IS
'The first column that a partition has and its parent has not: rows of the parent do not fit it then; NULL if there is none (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.own_column(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.own_column(regclass, regclass) TO PUBLIC;
