-- sql/partitions/missing_foreign_keys.sql

CREATE FUNCTION zbxhist_internal.missing_foreign_keys(parent regclass, partition regclass)
RETURNS SETOF text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT pg_get_constraintdef(c.oid)
      FROM pg_constraint c
     WHERE c.conrelid = missing_foreign_keys.parent AND c.contype = 'f'
       AND NOT EXISTS (SELECT FROM pg_constraint o
                        WHERE o.conrelid = missing_foreign_keys.partition AND o.contype = 'f'
                          AND replace(pg_get_constraintdef(o.oid), ' NOT VALID', '')
                              = replace(pg_get_constraintdef(c.oid), ' NOT VALID', ''))
     ORDER BY c.conname
$$;

COMMENT ON FUNCTION zbxhist_internal.missing_foreign_keys(regclass, regclass) IS
'The definitions of those foreign keys of a managed table that a partition has not (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.missing_foreign_keys(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.missing_foreign_keys(regclass, regclass) TO PUBLIC;
