-- sql/migrate/import.sql

-- Plans an import, or continues one; returns the slices that are not done and compared, by their first
-- clocks.
-- If all are, the import is planned again, because the source may have changed; rows that were imported
-- before are left out.
CREATE FUNCTION zbxhist_internal.begin_import(source regclass, parent regclass) RETURNS bigint[]
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET jit = off AS $$
BEGIN
    PERFORM zbxhist_internal.lock_for_hand(parent);
    IF cardinality(zbxhist_internal.open_slices(source, parent)) = 0 THEN
        DELETE FROM zbxhist.import_slice s
         WHERE s.parent = begin_import.parent AND s.source = begin_import.source;
        INSERT INTO zbxhist.import_slice SELECT * FROM zbxhist_internal.plan_import(source, parent);
    END IF;
    UPDATE zbxhist.import_slice s SET pid = pg_backend_pid(), begun_at = clock_timestamp()
     WHERE s.parent = begin_import.parent AND s.source = begin_import.source;
    RETURN zbxhist_internal.open_slices(source, parent);
END
$$;

-- Says how many slices of an import are past retention; no row if none are.
CREATE FUNCTION zbxhist_internal.expiring_slices(parent regclass, to_clocks bigint[]) RETURNS SETOF text
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE ROWS 1 SET search_path = pg_catalog, pg_temp SET intervalstyle = postgres AS $$
    SELECT format('the next maintenance deletes what is older than %s (%s): %s of these parts',
                  e.retention, e.source, count(*))
      FROM unnest(to_clocks) AS s (to_clock), zbxhist.parent_config c,
           zbxhist_internal.effective_retention(c.parent, c.retention) e
     WHERE c.parent = expiring_slices.parent
       AND s.to_clock <= zbxhist_internal.deletion_clock(c.parent)
     GROUP BY e.retention, e.source
$$;

-- Compares the imported rows with the source, and says whether that may be dropped.
-- The source may have data that is nowhere else: rows whose key existed with other values, extra columns,
-- rows past retention.  Then it prints a query that shows them, and not the DROP.
CREATE FUNCTION zbxhist_internal.end_import(source regclass, parent regclass, changed bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET jit = off AS $$
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
                                THEN 'Do not drop it.  Without a unique key these days cannot be imported again: their rows would be stored twice.'
                                ELSE 'Do not drop it yet: repeat the call, which imports these days again, without the rows that exist.' END,
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
        -- rows of other days: the import must be planned again
        DELETE FROM zbxhist.import_slice s
         WHERE s.parent = end_import.parent AND s.source = end_import.source;
        RAISE WARNING 'table % has % rows now, % were read', source, present, done.rows_read
            USING DETAIL = 'It has been changed meanwhile.  Do not drop it yet: repeat the call, which leaves out rows that exist.',
                  HINT = again;
        RETURN;
    END IF;
    RAISE NOTICE 'all % rows of table % are in table %: % were stored, % were skipped because their keys existed',
                 present, source, parent, done.rows_stored, present - done.rows_stored;
    only_there := concat_ws(E'\n',
        CASE WHEN done.rows_stored < present
             THEN 'Skipped rows may have other values than the existing ones.' END,
        (SELECT format('Columns that table %s does not have were left out: %s.', parent,
                       string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum))
           FROM pg_attribute a
          WHERE a.attrelid = source AND a.attnum > 0 AND NOT a.attisdropped
            AND NOT EXISTS (SELECT FROM pg_attribute p WHERE p.attrelid = parent AND p.attname = a.attname)
         HAVING count(*) > 0),
        (SELECT format('In table %s, %s.', parent, e) FROM zbxhist_internal.expiring_slices(parent, done.to_clocks) e));
    IF only_there = '' THEN
        RAISE NOTICE 'table % is no longer needed', source
            USING HINT = format('DROP %sTABLE %s;', CASE WHEN (SELECT k.relkind FROM pg_class k WHERE k.oid = source) = 'f'
                                                         THEN 'FOREIGN ' ELSE '' END, source);
    ELSE
        RAISE NOTICE 'table % may have data that is nowhere else: check it before you drop it', source
            USING DETAIL = only_there,
                  HINT = format('SELECT %1$s FROM %2$s EXCEPT SELECT %1$s FROM %3$s;', columns, source, parent);
    END IF;
END
$$;

-- Imports the rows of another table into a managed one, day by day.  A day of which the managed table
-- has no rows is packed at once.  Can be interrupted and repeated; the other table stays.
--
-- Each slice is one transaction.  At the end each slice is read and compared once more.
CREATE PROCEDURE zbxhist.import(
    source regclass, parent regclass, rows_a_second integer DEFAULT NULL, dry_run boolean DEFAULT false)
LANGUAGE plpgsql AS $$
DECLARE
    slice   pg_catalog.int8;
    line    pg_catalog.text;
    began   pg_catalog.timestamptz;
    answer  pg_catalog.text;
    tries   integer;
    changed pg_catalog.int8[] := '{}';
BEGIN
    CALL zbxhist_internal.next_transaction();
    PERFORM zbxhist_internal.refuse('22004', 'dry_run must not be null')
      WHERE dry_run IS NULL;
    PERFORM zbxhist_internal.refuse('22023', 'rows_a_second must be greater than zero')
      WHERE rows_a_second <= 0;
    PERFORM zbxhist_internal.require_parent(parent);
    PERFORM zbxhist_internal.verify_source(source, parent);
    IF dry_run THEN
        FOR line IN
            WITH slice AS MATERIALIZED (SELECT s FROM zbxhist_internal.plan_import(source, parent) s)
            SELECT format('would import %s rows of table %s into table %s: %s to %s, %s parts, of which %s are packed straight away',
                          zbxhist_internal.execute_as_owner(parent, format('SELECT count(*) FROM %s', source)), source, parent,
                          to_char(to_timestamp(min((s).from_clock)) AT TIME ZONE 'UTC', 'YYYY-MM-DD'),
                          to_char(to_timestamp(max((s).to_clock)) AT TIME ZONE 'UTC', 'YYYY-MM-DD'),
                          count(*), count(*) FILTER (WHERE EXISTS (SELECT FROM zbxhist_internal.import_gaps(s))))
              FROM slice
             UNION ALL
            SELECT zbxhist_internal.expiring_slices(parent, ARRAY(SELECT (s).to_clock FROM slice))
        LOOP
            RAISE NOTICE '%', line;
        END LOOP;
        COMMIT;
        RETURN;
    END IF;
    FOREACH slice IN ARRAY zbxhist_internal.begin_import(source, parent) LOOP
        began := clock_timestamp();
        tries := 0;
        LOOP
            CALL zbxhist_internal.next_transaction();
            answer := zbxhist_internal.step_import(source, parent, slice);
            CALL zbxhist_internal.next_transaction();
            EXIT WHEN answer = 'done';
            IF answer = 'wait' THEN
                tries := tries + 1;
                PERFORM zbxhist_internal.refuse_to_wait(parent, tries);
                PERFORM pg_sleep(0.25);
            END IF;
        END LOOP;
        CALL zbxhist_internal.keep_pace(source, parent, slice, rows_a_second, began);
    END LOOP;
    FOREACH slice IN ARRAY zbxhist_internal.open_slices(source, parent) LOOP
        began := clock_timestamp();
        IF NOT zbxhist_internal.compare_slice(source, parent, slice) THEN
            changed := changed || slice;
        END IF;
        CALL zbxhist_internal.keep_pace(source, parent, slice, rows_a_second, began);
    END LOOP;
    CALL zbxhist_internal.next_transaction();
    PERFORM zbxhist_internal.end_import(source, parent, changed);
    -- ends the transaction's search_path: the caller's next statement has the session's
    COMMIT;
END
$$;
