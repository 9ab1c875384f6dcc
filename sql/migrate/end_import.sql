-- sql/migrate/end_import.sql

CREATE FUNCTION zbxhist_internal.end_import(source regclass, parent regclass)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    present CONSTANT bigint := zbxhist_internal.execute_as_owner(parent, format('SELECT count(*) FROM %s', source));
    done    record;
BEGIN
    SELECT coalesce(sum(s.rows_read), 0) AS rows_read, coalesce(sum(s.rows_stored), 0) AS rows_stored INTO done
      FROM zbxhist.import_slice s
     WHERE s.parent = end_import.parent AND s.source = end_import.source;
    IF done.rows_read <> present THEN
        RAISE WARNING 'table % has % rows now, % were read', source, present, done.rows_read
            USING DETAIL = 'It has been changed meanwhile.  Nothing may be dropped yet: repeat the call, which leaves out what is there.',
                  HINT = format('CALL zbxhist.import(%L, %L);', source, parent);
        RETURN;
    END IF;
    RAISE NOTICE 'all % rows of table % are in table %: % have been stored, % had a key that was there already, and were left out',
                 present, source, parent, done.rows_stored, present - done.rows_stored
        USING HINT = format('DROP %sTABLE %s;', CASE WHEN (SELECT k.relkind FROM pg_class k WHERE k.oid = source) = 'f'
                                                     THEN 'FOREIGN ' ELSE '' END, source);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.end_import(regclass, regclass) IS
'Compares what has been imported with what the table has, and says whether that may be dropped (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.end_import(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.end_import(regclass, regclass) TO pg_database_owner;
