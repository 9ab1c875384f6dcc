-- sql/migrate/import_gap.sql
--
-- Keys that rows of the table itself have are left out.

CREATE FUNCTION zbxhist_internal.import_gap(
    slice zbxhist.import_slice,
    packed regclass,
    gap_from bigint,
    gap_to bigint,
    OUT rows_read bigint,
    OUT rows_stored bigint,
    OUT checksum bigint)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    target  CONSTANT regclass := slice.parent;
    keys    CONSTANT name[] := zbxhist_internal.key_columns(target);
    query   text := zbxhist_internal.source_query(slice, zbxhist_internal.import_columns(target, true), gap_from, gap_to);
    interval_of CONSTANT interval := (SELECT c.partition_interval FROM zbxhist.parent_config c WHERE c.parent = target);
    day     regclass;
    written record;
    twice   bigint := 0;
    known   bigint := 0;
BEGIN
    IF query IS NULL THEN
        rows_read := 0;
        rows_stored := 0;
        RETURN;
    END IF;
    IF keys IS NOT NULL AND zbxhist_internal.waiting_clock(target, gap_from, gap_to, false) IS NOT NULL THEN
        SELECT c.nrows, c.checksum INTO twice, known
          FROM zbxhist_internal.checksum_rows(target, format('SELECT * FROM (%s) s WHERE EXISTS (%s)', query,
                                                             zbxhist_internal.same_key(target, keys))) c;
        query := format('SELECT * FROM (%s) s WHERE NOT EXISTS (%s)', query, zbxhist_internal.same_key(target, keys));
    END IF;
    day := zbxhist_internal.create_day_of_range(target,
               zbxhist_internal.partition_name(target, interval_of, gap_from, gap_to), gap_from, gap_to,
               (SELECT k.relpersistence FROM pg_class k WHERE k.oid = target));
    written := zbxhist_internal.import_rows(query, day, gap_from, gap_to, keys IS NOT NULL,
                   zbxhist_internal.required_columns(target));
    rows_read := written.rows_read + twice;
    checksum := zbxhist_internal.add_checksums(written.checksum, known);
    rows_stored := written.rows_stored;
    IF rows_stored = 0 THEN
        PERFORM zbxhist_internal.execute_as_owner(target, format('DROP TABLE %s', day));
        RETURN;
    END IF;
    INSERT INTO zbxhist.packed_day
        (parent, day, from_clock, to_clock, nrows, packed_at, packed_rows, packed_bytes)
    VALUES (target, day, gap_from, gap_to, rows_stored, clock_timestamp(), rows_stored, zbxhist_internal.day_bytes(day));
    PERFORM zbxhist_internal.attach_day(day, packed);
    PERFORM zbxhist_internal.lock_with_patience(packed);
    PERFORM zbxhist_internal.note_columns(target, packed, day);
    PERFORM zbxhist_internal.log_action(target, 'import', slice.source::text, rows_stored, NULL, started, NULL, NULL,
                                        format('%s rows read, packed to %s', rows_read, pg_size_pretty(pg_total_relation_size(day))));
END
$$;

COMMENT ON FUNCTION zbxhist_internal.import_gap(zbxhist.import_slice, regclass, bigint, bigint) IS
'Packs rows of another table as a day that the managed table had nothing of (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.import_gap(zbxhist.import_slice, regclass, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.import_gap(zbxhist.import_slice, regclass, bigint, bigint) TO pg_database_owner;
