-- sql/check/check_columns.sql

CREATE FUNCTION zbxhist_internal.check_columns(parent regclass)
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
        SELECT 'warning', 'own_column', p.partition::text,
               format('it has a column "%s" that its parent has not: new rows of its time stay in the parent.  To drop the column deletes what is in it, in about %s rows',
                      c, zbxhist_internal.probable_rows(p.partition)),
               format('ALTER TABLE %s DROP COLUMN %I;', p.partition, c)
          FROM zbxhist.list_partitions(parent) p,
               zbxhist_internal.own_column(parent, p.partition) c
         WHERE c IS NOT NULL;
    RETURN QUERY
        SELECT 'info', 'own_constraint', p.partition::text,
               format('it has a constraint "%s" of its own: an INSERT with a row that violates it fails as a whole.  Drop it if this is not meant', c.conname),
               format('ALTER TABLE %s DROP CONSTRAINT %I;', p.partition, c.conname)
          FROM zbxhist.list_partitions(parent) p
          JOIN pg_constraint c ON c.conrelid = p.partition
         WHERE c.contype = 'c' AND c.coninhcount = 0 AND c.conname <> 'zbxhist_clock'
            OR c.contype IN ('p', 'u', 'x')
               AND EXISTS (SELECT FROM zbxhist_internal.missing_indexes(p.partition, check_columns.parent) x
                            WHERE x.indexrelid = c.conindid);
    RETURN QUERY
        SELECT 'info', 'own_not_null', p.partition::text,
               format('its column "%s" is NOT NULL, that of its parent is not: an INSERT with a row that violates it fails as a whole.  Change it if this is not meant', a.attname),
               format('ALTER TABLE %s ALTER COLUMN %I DROP NOT NULL;', p.partition, a.attname)
          FROM zbxhist.list_partitions(parent) p
          JOIN pg_attribute a ON a.attrelid = p.partition
          JOIN pg_attribute o ON o.attrelid = check_columns.parent AND o.attname = a.attname
         WHERE a.attnum > 0 AND a.attnotnull AND NOT o.attnotnull;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.check_columns(regclass) IS
'The part of check that finds columns and constraints which a partition has and its parent has not (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.check_columns(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.check_columns(regclass) TO PUBLIC;
