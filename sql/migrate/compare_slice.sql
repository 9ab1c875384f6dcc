-- sql/migrate/compare_slice.sql
--
-- A slice that has changed since it was read is imported again by the next call,
-- from wherever its rows are by then.  Without a key that would store the others
-- twice.

CREATE FUNCTION zbxhist_internal.compare_slice(source regclass, parent regclass, slice_from bigint)
RETURNS boolean
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
DECLARE
    slice   zbxhist.import_slice;
    present record;
BEGIN
    PERFORM zbxhist_internal.require_parent(parent);
    PERFORM zbxhist_internal.verify_source(source, parent);
    SELECT * INTO STRICT slice FROM zbxhist.import_slice s
     WHERE s.parent = compare_slice.parent AND s.source = compare_slice.source AND s.from_clock = slice_from FOR UPDATE;
    SELECT coalesce(c.nrows, 0) AS nrows, coalesce(c.checksum, 0) AS checksum INTO present
      FROM zbxhist_internal.checksum_rows(parent, zbxhist_internal.source_query(
               slice, zbxhist_internal.import_columns(parent, false), slice.from_clock, slice.to_clock)) c;
    IF (present.nrows, present.checksum) = (slice.rows_read, slice.checksum) THEN
        UPDATE zbxhist.import_slice s SET compared_at = clock_timestamp()
         WHERE s.parent = compare_slice.parent AND s.source = compare_slice.source AND s.from_clock = slice_from;
        RETURN true;
    END IF;
    IF zbxhist_internal.key_columns(parent) IS NOT NULL THEN
        UPDATE zbxhist.import_slice s SET done_at = NULL, first_block = NULL, end_block = NULL
         WHERE s.parent = compare_slice.parent AND s.source = compare_slice.source AND s.from_clock = slice_from;
    END IF;
    RETURN false;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.compare_slice(regclass, regclass, bigint) IS
'Whether a table still has the rows of a slice that were imported; if not, the slice is to be imported again (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.compare_slice(regclass, regclass, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.compare_slice(regclass, regclass, bigint) TO pg_database_owner;
