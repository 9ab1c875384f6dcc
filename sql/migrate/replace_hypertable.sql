-- sql/migrate/replace_hypertable.sql
--
-- Without the index on clock alone that TimescaleDB adds: it is of no use where
-- there are partitions.

CREATE FUNCTION zbxhist_internal.replace_hypertable(hypertable regclass, former_name name, with_rows boolean)
RETURNS regclass
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    result  CONSTANT regclass := zbxhist_internal.new_plain_table(hypertable);
    columns CONSTANT text := (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_attribute a
                               WHERE a.attrelid = hypertable AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '');
    query   CONSTANT text := format('SELECT %s FROM %%s', columns);
    surplus regclass;
BEGIN
    PERFORM zbxhist_internal.clone_columns(hypertable, result);
    PERFORM zbxhist_internal.clone_grants(hypertable, result);
    FOR surplus IN
        SELECT x.indexrelid FROM pg_index x
         WHERE x.indrelid = result AND zbxhist_internal.describe_index(x.indexrelid) = 'btree (clock DESC)'
    LOOP
        PERFORM zbxhist_internal.execute_as_owner(result, format('DROP INDEX %s', surplus));
    END LOOP;
    IF with_rows THEN
        PERFORM zbxhist_internal.execute_as_owner(result, format('INSERT INTO %s (%s) %s', result, columns, format(query, hypertable)));
        IF zbxhist_internal.checksum_rows(result, format(query, hypertable))
           IS DISTINCT FROM zbxhist_internal.checksum_rows(result, format(query, result)) THEN
            RAISE EXCEPTION 'the copy of table % has other rows', hypertable
                USING ERRCODE = 'data_corrupted';
        END IF;
    END IF;
    PERFORM zbxhist_internal.take_place(hypertable, result, former_name);
    RETURN result;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.replace_hypertable(regclass, name, boolean) IS
'Puts a plain table in the place of a hypertable that is locked, with its rows or without, and renames that, or drops it if there is no name (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.replace_hypertable(regclass, name, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.replace_hypertable(regclass, name, boolean) TO pg_database_owner;
