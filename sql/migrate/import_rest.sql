-- sql/migrate/import_rest.sql
--
-- What has a place already goes there as other late values do.  ON CONFLICT keeps
-- the rows in the parent, until maintenance moves or merges them.

CREATE FUNCTION zbxhist_internal.import_rest(
    slice zbxhist.import_slice,
    from_clock bigint,
    to_clock bigint,
    OUT rows_read bigint,
    OUT rows_stored bigint)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    columns CONSTANT text := zbxhist_internal.import_columns(slice.parent, false);
    query   CONSTANT text := zbxhist_internal.source_query(slice, columns, from_clock, to_clock);
BEGIN
    rows_read := coalesce(zbxhist_internal.execute_as_owner(slice.parent, format('SELECT count(*) FROM (%s) s', query))::bigint, 0);
    rows_stored := 0;
    IF rows_read = 0 THEN
        RETURN;
    END IF;
    rows_stored := zbxhist_internal.execute_as_owner(slice.parent, format(
        'INSERT INTO %s (%s) %s ON CONFLICT DO NOTHING', slice.parent, columns, query));
    PERFORM zbxhist_internal.log_action(slice.parent, 'import', slice.source::text, rows_stored, NULL, started, NULL, NULL,
                                        format('%s rows read, inserted', rows_read));
END
$$;

COMMENT ON FUNCTION zbxhist_internal.import_rest(zbxhist.import_slice, bigint, bigint) IS
'Inserts rows of another table into a managed one, those whose key is not there (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.import_rest(zbxhist.import_slice, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.import_rest(zbxhist.import_slice, bigint, bigint) TO pg_database_owner;
