-- sql/partitions/missing_indexes.sql

CREATE FUNCTION zbxhist_internal.missing_indexes(relation regclass, partition regclass)
RETURNS SETOF pg_index
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
        SELECT x.*
          FROM pg_index x
         WHERE x.indrelid = relation AND x.indisvalid
           AND zbxhist_internal.describe_index(x.indexrelid) NOT IN (
                   SELECT zbxhist_internal.describe_index(o.indexrelid)
                     FROM pg_index o
                    WHERE o.indrelid = partition AND o.indisvalid);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.missing_indexes(regclass, regclass) IS
'The valid indexes of a table that another one has not (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.missing_indexes(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.missing_indexes(regclass, regclass) TO PUBLIC;
