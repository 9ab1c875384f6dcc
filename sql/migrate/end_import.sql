-- sql/migrate/end_import.sql
--
-- The table may have what is nowhere else: a row whose key was there already with
-- other values, columns of its own, rows past retention.  Then it is not the
-- command that drops it which is printed.

CREATE FUNCTION zbxhist_internal.end_import(source regclass, parent regclass, changed bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
DECLARE
    columns CONSTANT text := zbxhist_internal.import_columns(parent, false);
    again   CONSTANT text := format('CALL zbxhist.import(%L, %L);', source, parent);
    present bigint;
    done    record;
    only_there text;
BEGIN
    IF cardinality(changed) > 0 THEN
        RAISE WARNING 'table % has changed since it was read: %', source,
                      (SELECT string_agg(to_char(to_timestamp(c) AT TIME ZONE 'UTC', 'YYYY-MM-DD'), ', ' ORDER BY c) FROM unnest(changed) c)
            USING DETAIL = CASE WHEN zbxhist_internal.key_columns(parent) IS NULL
                                THEN 'Nothing may be dropped.  Without a unique key these cannot be imported again: what is there would be stored twice.'
                                ELSE 'Nothing may be dropped yet: repeat the call, which imports these again and leaves out what is there.' END,
                  HINT = again;
        RETURN;
    END IF;
    present := zbxhist_internal.execute_as_owner(parent, format('SELECT count(*) FROM %s', source));
    SELECT coalesce(sum(s.rows_read), 0) AS rows_read, coalesce(sum(s.rows_stored), 0) AS rows_stored,
           coalesce(array_agg(s.to_clock), '{}') AS to_clocks
      INTO done
      FROM zbxhist.import_slice s
     WHERE s.parent = end_import.parent AND s.source = end_import.source;
    IF done.rows_read <> present THEN
        -- rows of other days: it has to be planned anew
        DELETE FROM zbxhist.import_slice s
         WHERE s.parent = end_import.parent AND s.source = end_import.source;
        RAISE WARNING 'table % has % rows now, % were read', source, present, done.rows_read
            USING DETAIL = 'It has been changed meanwhile.  Nothing may be dropped yet: repeat the call, which leaves out what is there.',
                  HINT = again;
        RETURN;
    END IF;
    RAISE NOTICE 'all % rows of table % are in table %: % have been stored, % had a key that was there already, and were left out',
                 present, source, parent, done.rows_stored, present - done.rows_stored;
    only_there := concat_ws(E'\n',
        CASE WHEN done.rows_stored < present
             THEN 'Rows that were left out may have other values than those that are there.' END,
        (SELECT format('Columns that table %s does not have were left out: %s.', parent,
                       string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum))
           FROM pg_attribute a
          WHERE a.attrelid = source AND a.attnum > 0 AND NOT a.attisdropped
            AND NOT EXISTS (SELECT FROM pg_attribute p WHERE p.attrelid = parent AND p.attname = a.attname)
         HAVING count(*) > 0),
        (SELECT format('In table %s, %s.', parent, e) FROM zbxhist_internal.expiring_slices(parent, done.to_clocks) e));
    IF only_there = '' THEN
        RAISE NOTICE 'table % is needed no more', source
            USING HINT = format('DROP %sTABLE %s;', CASE WHEN (SELECT k.relkind FROM pg_class k WHERE k.oid = source) = 'f'
                                                         THEN 'FOREIGN ' ELSE '' END, source);
    ELSE
        RAISE NOTICE 'table % may have what is nowhere else: look before you drop it', source
            USING DETAIL = only_there,
                  HINT = format('SELECT %1$s FROM %2$s EXCEPT SELECT %1$s FROM %3$s;', columns, source, parent);
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.end_import(regclass, regclass, bigint[]) IS
'Compares what has been imported with what the table has, and says whether that may be dropped (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.end_import(regclass, regclass, bigint[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.end_import(regclass, regclass, bigint[]) TO pg_database_owner;
