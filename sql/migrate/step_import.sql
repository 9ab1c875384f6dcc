-- sql/migrate/step_import.sql
--
-- One slice in one transaction.  Answers as pack_partition does.

CREATE FUNCTION zbxhist_internal.step_import(source regclass, parent regclass, slice_from bigint)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
DECLARE
    slice  zbxhist.import_slice;
    packed regclass;
    behind bigint := slice_from;
    gap    record;
    part   record;
BEGIN
    PERFORM zbxhist_internal.verify_source(source, parent);
    SELECT * INTO STRICT slice FROM zbxhist.import_slice s
     WHERE s.parent = step_import.parent AND s.source = step_import.source AND s.from_clock = slice_from FOR UPDATE;
    IF slice.done_at IS NOT NULL THEN
        RETURN 'done';
    END IF;
    packed := zbxhist_internal.packed_table(parent);
    IF packed IS NULL THEN
        PERFORM zbxhist_internal.create_packed_table(parent);
        RETURN 'more';
    END IF;
    IF NOT zbxhist_internal.packed_table_settled(parent, packed) THEN
        RETURN 'wait';
    END IF;
    slice.rows_read := 0;
    slice.rows_stored := 0;
    slice.checksum := 0;
    FOR gap IN SELECT * FROM zbxhist_internal.import_gaps(slice)
                UNION ALL SELECT slice.to_clock, slice.to_clock ORDER BY gap_from
    LOOP
        IF behind < gap.gap_from THEN
            part := zbxhist_internal.import_rest(slice, behind, gap.gap_from);
            slice.rows_read := slice.rows_read + part.rows_read;
            slice.rows_stored := slice.rows_stored + part.rows_stored;
            slice.checksum := zbxhist_internal.add_checksums(slice.checksum, part.checksum);
        END IF;
        IF gap.gap_from < gap.gap_to THEN
            part := zbxhist_internal.import_gap(slice, packed, gap.gap_from, gap.gap_to);
            slice.rows_read := slice.rows_read + part.rows_read;
            slice.rows_stored := slice.rows_stored + part.rows_stored;
            slice.checksum := zbxhist_internal.add_checksums(slice.checksum, part.checksum);
        END IF;
        behind := gap.gap_to;
    END LOOP;
    UPDATE zbxhist.import_slice s
       SET rows_read = slice.rows_read, rows_stored = slice.rows_stored, checksum = slice.checksum, done_at = clock_timestamp()
     WHERE s.parent = step_import.parent AND s.source = step_import.source AND s.from_clock = slice_from;
    PERFORM zbxhist_internal.invalidate(parent);
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist_internal.step_import(regclass, regclass, bigint) IS
'Imports one slice of another table, or does what has to be done before: more, call again; wait, call again later (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.step_import(regclass, regclass, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.step_import(regclass, regclass, bigint) TO pg_database_owner;
