-- sql/migrate/slices.sql

-- Writes the rows of a query into the empty table of a packed day and reads them back; of rows with the same
-- key only the first.  Raises an error if a required column is null.
CREATE FUNCTION zbxhist_internal.import_rows(
    query text, day regclass, from_clock bigint, to_clock bigint, is_unique boolean, required name[],
    OUT rows_read bigint, OUT rows_stored bigint, OUT bytes bigint, OUT checksum bigint)
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_import_rows';

-- Plans the slices in which a table is imported: the days, or months, of which it may have rows.  Everything
-- older than ten years is one slice, and so is everything in the future.
CREATE FUNCTION zbxhist_internal.plan_import(source regclass, parent regclass) RETURNS SETOF zbxhist.import_slice
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
    WITH bound AS (
        SELECT p.length, (zbxhist_internal.clock_range(p.length, zbxhist_internal.current_clock() - 3650 * 86400)).from_clock AS floor,
               (zbxhist_internal.clock_range(p.length, zbxhist_internal.current_clock() + 86400)).to_clock AS ceiling
          FROM (SELECT zbxhist_internal.coarse_interval(c.partition_interval) AS length
                  FROM zbxhist.parent_config c WHERE c.parent = plan_import.parent) p),
    present AS MATERIALIZED (SELECT * FROM zbxhist_internal.source_days(source, parent)),
    slice AS (
        SELECT DISTINCT r.from_clock, r.to_clock
          FROM present b, bound l,
               generate_series(greatest(b.low, l.floor) / 86400, least(b.high, l.ceiling - 1) / 86400) day,
               zbxhist_internal.clock_range(l.length, day * 86400) r
         UNION ALL
        SELECT min(b.low), least(max(b.high) + 1, l.floor) FROM present b, bound l WHERE b.low < l.floor GROUP BY l.floor
         UNION ALL
        SELECT greatest(min(b.low), l.ceiling), max(b.high) + 1 FROM present b, bound l WHERE b.high >= l.ceiling GROUP BY l.ceiling)
    SELECT plan_import.parent, plan_import.source, s.from_clock, s.to_clock,
           NULL::bigint, NULL::bigint, NULL::bigint, NULL::timestamptz, NULL::timestamptz, NULL::integer, NULL::timestamptz
      FROM slice s
     WHERE EXISTS (SELECT FROM present b WHERE b.low < s.to_clock AND b.high >= s.from_clock)
     ORDER BY s.from_clock
$$;

-- The ranges of a slice of an import that are packed at once: those that have neither a partition nor a
-- packed day, and whose partition would be due to be packed.
-- All other rows are inserted: also if the table has CHECK constraints, or a key column that may be null, or
-- no partition yet by which to see whether it can be packed.
CREATE FUNCTION zbxhist_internal.import_gaps(slice zbxhist.import_slice) RETURNS TABLE (gap_from bigint, gap_to bigint)
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
    SELECT m.gap_from, m.gap_to
      FROM zbxhist.parent_config c,
           zbxhist_internal.missing_ranges((slice).parent, (slice).from_clock, (slice).to_clock) m
     WHERE c.parent = (slice).parent AND c.routing
       AND m.gap_to <= zbxhist_internal.clock_before(c.pack_after)
       AND EXISTS (SELECT FROM (SELECT p.partition FROM zbxhist.list_partitions((slice).parent) p
                                 ORDER BY p.from_clock DESC LIMIT 1) p
                    WHERE zbxhist_internal.not_packable((slice).parent, p.partition) IS NULL)
       AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conrelid = (slice).parent AND k.contype = 'c')
       AND NOT EXISTS (SELECT FROM pg_attribute a
                        WHERE a.attrelid = (slice).parent AND NOT a.attnotnull
                          AND a.attname = ANY (zbxhist_internal.key_columns((slice).parent)))
$$;

-- Packs rows of another table as a packed day for a range in which the managed table has no partition.
-- Rows whose key is in the table itself are left out.
CREATE FUNCTION zbxhist_internal.import_gap(
    slice zbxhist.import_slice, packed regclass, gap_from bigint, gap_to bigint, OUT rows_read bigint,
    OUT rows_stored bigint, OUT checksum bigint)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    target  CONSTANT regclass := slice.parent;
    keys    CONSTANT name[] := zbxhist_internal.key_columns(target);
    -- whether a row of the table itself has the same key
    same    CONSTANT text := (
        SELECT format('SELECT FROM ONLY %s p WHERE %s', target,
                      string_agg(format('p.%1$I = s.%2$I', k, coalesce(c.packed_name, k)), ' AND '))
          FROM unnest(keys) k
          LEFT JOIN zbxhist_internal.packed_columns(packed) c ON c.column_name = k);
    query   text := zbxhist_internal.source_query(slice, zbxhist_internal.import_columns(target, true), gap_from, gap_to);
    interval_of CONSTANT interval := (SELECT c.partition_interval FROM zbxhist.parent_config c WHERE c.parent = target);
    day     regclass;
    written record;
    twice   bigint := 0;
    known   bigint := 0;
BEGIN
    IF keys IS NOT NULL AND zbxhist_internal.waiting_clock(target, gap_from, gap_to, false) IS NOT NULL THEN
        SELECT c.nrows, c.checksum INTO twice, known
          FROM zbxhist_internal.checksum_rows(target, format('SELECT * FROM (%s) s WHERE EXISTS (%s)', query, same)) c;
        query := format('SELECT * FROM (%s) s WHERE NOT EXISTS (%s)', query, same);
    END IF;
    day := zbxhist_internal.create_day(target, target, gap_from, gap_to,
               zbxhist_internal.partition_name(target, interval_of, gap_from, gap_to));
    written := zbxhist_internal.import_rows(query, day, gap_from, gap_to, keys IS NOT NULL, (
        SELECT array_agg(coalesce(c.packed_name, a.attname) ORDER BY a.attnum)
          FROM pg_attribute a
          LEFT JOIN zbxhist_internal.packed_columns(packed) c ON c.column_name = a.attname
         WHERE a.attrelid = target AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
           AND (a.attnotnull OR a.attname IN ('itemid', 'clock'))));
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
    PERFORM zbxhist_internal.lock_all_or_none(ARRAY[packed]);
    PERFORM zbxhist_internal.note_columns(target, packed, day);
    PERFORM zbxhist_internal.log_action(target, 'import', slice.source::text, rows => rows_stored, started_at => started,
        message => format('%s rows read, packed to %s', rows_read, pg_size_pretty(pg_total_relation_size(day))));
END
$$;

-- Inserts the rows of another table whose keys do not exist into a managed one, and makes sure that they can
-- be read.
-- Because of ON CONFLICT they stay in the parent until maintenance moves or merges them.
CREATE FUNCTION zbxhist_internal.import_rest(
    slice zbxhist.import_slice, from_clock bigint, to_clock bigint, OUT rows_read bigint, OUT rows_stored bigint,
    OUT checksum bigint)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    target  CONSTANT regclass := slice.parent;
    columns CONSTANT text := zbxhist_internal.import_columns(target, false);
    query   CONSTANT text := zbxhist_internal.source_query(slice, columns, from_clock, to_clock);
    keys    CONSTANT text := (SELECT string_agg(quote_ident(k), ', ') FROM unnest(zbxhist_internal.key_columns(target)) k);
    absent  bigint;
    is_same boolean;
BEGIN
    rows_stored := 0;
    SELECT c.nrows, c.checksum INTO rows_read, checksum FROM zbxhist_internal.checksum_rows(target, query) c;
    IF coalesce(rows_read, 0) = 0 THEN
        rows_read := 0;
        RETURN;
    END IF;
    rows_stored := zbxhist_internal.execute_as_owner(target, format(
        'INSERT INTO %s (%s) %s ON CONFLICT DO NOTHING', target, columns, query));
    absent := CASE WHEN keys IS NULL THEN rows_read - rows_stored
                   ELSE zbxhist_internal.execute_as_owner(target, format(
                            'SELECT count(*) FROM (SELECT %1$s FROM (%2$s) r EXCEPT'
                            ' SELECT %1$s FROM %3$s WHERE clock >= %4$s AND clock <= %5$s) a',
                            keys, query, target, from_clock, to_clock - 1))::bigint END;
    IF absent > 0 THEN
        SELECT (c.nrows, c.checksum) = (import_rest.rows_read, import_rest.checksum) INTO is_same
          FROM zbxhist_internal.checksum_rows(target, query) c;
        PERFORM zbxhist_internal.refuse('55000', format('table %s does not return the rows of table %s that were inserted',
            target, slice.source),
            detail => format('Some with clocks from %s to %s are missing.  None of them has been stored.', from_clock, to_clock - 1),
            hint => 'SELECT * FROM zbxhist.check();')
          WHERE is_same;
    END IF;
    PERFORM zbxhist_internal.log_action(target, 'import', slice.source::text, rows => rows_stored, started_at => started,
        message => format('%s rows read, inserted', rows_read));
END
$$;

-- Does the next part of importing one slice; returns "done", "more" (call again) or "wait" (call again
-- later).  The rows of a slice are imported in one transaction.
CREATE FUNCTION zbxhist_internal.step_import(source regclass, parent regclass, slice_from bigint) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET lock_timeout = 0
SET jit = off AS $$
DECLARE
    slice  zbxhist.import_slice;
    packed regclass;
    behind bigint := slice_from;
    gap    record;
    part   record;
BEGIN
    PERFORM zbxhist_internal.lock_for_hand(parent);
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
        FOR part IN
            SELECT r.* FROM zbxhist_internal.import_rest(slice, behind, gap.gap_from) r WHERE behind < gap.gap_from
             UNION ALL
            SELECT g.* FROM zbxhist_internal.import_gap(slice, packed, gap.gap_from, gap.gap_to) g WHERE gap.gap_from < gap.gap_to
        LOOP
            slice.rows_read := slice.rows_read + part.rows_read;
            slice.rows_stored := slice.rows_stored + part.rows_stored;
            slice.checksum := zbxhist_internal.add_checksums(slice.checksum, part.checksum);
        END LOOP;
        behind := gap.gap_to;
    END LOOP;
    UPDATE zbxhist.import_slice s
       SET rows_read = slice.rows_read, rows_stored = slice.rows_stored, checksum = slice.checksum, done_at = clock_timestamp()
     WHERE s.parent = step_import.parent AND s.source = step_import.source AND s.from_clock = slice_from;
    PERFORM zbxhist_internal.invalidate(parent);
    RETURN 'done';
END
$$;

-- Whether the source still has the same rows in a slice as when it was imported.
-- If not, the next call imports the slice again, unless there is no key: then the unchanged rows would be
-- stored twice.
CREATE FUNCTION zbxhist_internal.compare_slice(source regclass, parent regclass, slice_from bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET jit = off AS $$
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
        UPDATE zbxhist.import_slice s SET done_at = NULL
         WHERE s.parent = compare_slice.parent AND s.source = compare_slice.source AND s.from_clock = slice_from;
    END IF;
    RETURN false;
END
$$;

-- Returns the first clocks of the slices of an import that are not done and compared, newest first, because
-- users look at new values first.
CREATE FUNCTION zbxhist_internal.open_slices(source regclass, parent regclass) RETURNS bigint[]
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT ARRAY(SELECT s.from_clock FROM zbxhist.import_slice s
                  WHERE s.parent = open_slices.parent AND s.source = open_slices.source AND s.compared_at IS NULL
                  ORDER BY s.from_clock DESC)
$$;

-- Ends the transaction, and sleeps as long as rows_a_second demands.  It holds no locks while it sleeps.
CREATE PROCEDURE zbxhist_internal.keep_pace(
    source regclass, parent regclass, slice_from bigint, rows_a_second integer, began timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
    done pg_catalog.int8;
BEGIN
    CALL zbxhist_internal.next_transaction();
    IF rows_a_second IS NOT NULL THEN
        SELECT s.rows_read INTO done FROM zbxhist.import_slice s
         WHERE s.parent = keep_pace.parent AND s.source = keep_pace.source AND s.from_clock = slice_from;
        CALL zbxhist_internal.next_transaction();
        PERFORM pg_sleep(greatest(0, done / rows_a_second::double precision
                                     - extract(epoch FROM clock_timestamp() - began)));
    END IF;
END
$$;
