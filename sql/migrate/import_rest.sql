-- sql/migrate/import_rest.sql
--
-- What has a place already goes there as other late values do.  ON CONFLICT keeps
-- the rows in the parent, until maintenance moves or merges them.

CREATE FUNCTION zbxhist_internal.import_rest(
    slice zbxhist.import_slice,
    from_clock bigint,
    to_clock bigint,
    OUT rows_read bigint,
    OUT rows_stored bigint,
    OUT checksum bigint)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    target  CONSTANT regclass := slice.parent;
    columns CONSTANT text := zbxhist_internal.import_columns(target, false);
    query   CONSTANT text := zbxhist_internal.source_query(slice, columns, from_clock, to_clock);
    -- these may store other values, or none
    altered CONSTANT boolean := EXISTS (SELECT FROM zbxhist_internal.insert_triggers(target) t WHERE t.tgtype & 3 = 3);
    keys    CONSTANT name[] := zbxhist_internal.key_columns(target);
    before  bigint;
    absent  bigint;
    is_same boolean;
BEGIN
    rows_stored := 0;
    SELECT c.nrows, c.checksum INTO rows_read, checksum FROM zbxhist_internal.checksum_rows(target, query) c;
    IF coalesce(rows_read, 0) = 0 THEN
        rows_read := 0;
        RETURN;
    END IF;
    IF NOT altered THEN
        before := zbxhist_internal.count_absent(target, query, from_clock, to_clock, NULL);
    END IF;
    rows_stored := zbxhist_internal.execute_as_owner(target, format(
        'INSERT INTO %s (%s) %s ON CONFLICT DO NOTHING', target, columns, query));
    IF NOT altered THEN
        absent := zbxhist_internal.count_absent(target, query, from_clock, to_clock, NULL);
    END IF;
    -- each that was stored is one less, and of the others the key is there
    IF absent > before - rows_stored
       OR absent > 0 AND (keys IS NULL OR zbxhist_internal.count_absent(target, query, from_clock, to_clock, keys) > 0) THEN
        SELECT (c.nrows, c.checksum) = (import_rest.rows_read, import_rest.checksum) INTO is_same
          FROM zbxhist_internal.checksum_rows(target, query) c;
        IF is_same THEN
            RAISE EXCEPTION 'table % does not answer with the rows of table % that have been inserted', target, slice.source
                USING ERRCODE = 'object_not_in_prerequisite_state',
                      DETAIL = format('Those with clocks from %s to %s have been compared.  Nothing of them has been kept.', from_clock, to_clock - 1),
                      HINT = 'SELECT * FROM zbxhist.check();';
        END IF;
    END IF;
    PERFORM zbxhist_internal.log_action(target, 'import', slice.source::text, rows_stored, NULL, started, NULL, NULL,
                                        format('%s rows read, inserted', rows_read));
END
$$;

COMMENT ON FUNCTION zbxhist_internal.import_rest(zbxhist.import_slice, bigint, bigint) IS
'Inserts rows of another table into a managed one, those whose key is not there, and compares (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.import_rest(zbxhist.import_slice, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.import_rest(zbxhist.import_slice, bigint, bigint) TO pg_database_owner;
