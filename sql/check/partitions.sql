-- sql/check/partitions.sql

-- Part of check(): children without bounds, overlapping partitions, missing keys, extra columns.
CREATE FUNCTION zbxhist_internal.check_partitions(parent regclass) RETURNS SETOF zbxhist_internal.check_line
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    -- for an INSERT that moves rows: the order of columns may differ
    columns CONSTANT text := zbxhist_internal.import_columns(parent, false);
BEGIN
    RETURN QUERY
        SELECT 'error', 'no_bounds', i.inhrelid::regclass::text,
               format('it inherits from %1$s, but has no constraint "zbxhist_clock" CHECK (clock >= ... AND clock < ...), which would say its range.  No row is routed to it.  '
                      'The command makes it an independent table: queries of %1$s do not return its rows any more.  ALTER %2$s %3$s INHERIT %1$s; undoes that',
                      parent, w.kind, i.inhrelid::regclass)
               || CASE WHEN k.relkind = 'r' THEN format(', and INSERT INTO %1$s (%2$s) SELECT %2$s FROM %3$s ON CONFLICT DO NOTHING; puts them where they belong', parent, columns, i.inhrelid::regclass) ELSE '' END,
               format('ALTER %s %s NO INHERIT %s;', w.kind, i.inhrelid::regclass, parent)
          FROM pg_inherits i
          JOIN pg_class k ON k.oid = i.inhrelid
         CROSS JOIN LATERAL (SELECT CASE k.relkind WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END) w (kind)
         WHERE i.inhparent = parent
           AND NOT EXISTS (SELECT FROM zbxhist.list_partitions(parent) p WHERE p.partition = i.inhrelid)
           AND i.inhrelid IS DISTINCT FROM zbxhist_internal.packed_table(parent);
    RETURN QUERY
        SELECT 'error', 'overlap', o.relation::text,
               format('its range overlaps with that of %s', zbxhist_internal.object_list(o.others::text[]))
               || CASE WHEN o.is_packed
                       THEN ', and it is packed: an INSERT, UPDATE or DELETE may miss rows of one of them.  The command turns it into a partition, and check() then says how to remove that'
                       ELSE format(': an INSERT, UPDATE or DELETE may miss rows of one of them.  The command makes it an independent table: queries of %1$s do not return its rows any more, until INSERT INTO %1$s (%2$s) SELECT %2$s FROM %3$s ON CONFLICT DO NOTHING; puts them where they belong',
                                   parent, columns, o.relation) END,
               CASE WHEN o.is_packed
                    THEN format('CALL zbxhist.unpack(%L, %L);', parent, zbxhist_internal.format_day(o.from_clock))
                    ELSE format('ALTER TABLE %s NO INHERIT %s;', o.relation, parent) END
          FROM zbxhist_internal.overlapping(parent) o;
    -- only keys: maintenance builds other indexes, see step_index
    RETURN QUERY
        SELECT 'error', 'indexes',
               zbxhist_internal.object_list(array_agg(p.partition::text ORDER BY p.from_clock)),
               format('it lacks the key "%s" of its parent: its keys may be stored a second time', k.relname),
               (array_agg(CASE WHEN c.oid IS NULL
                               THEN regexp_replace(pg_get_indexdef(x.indexrelid), '^(CREATE (UNIQUE )?INDEX ).*? USING ',
                                                   '\1ON ' || p.partition || ' USING ') || ';'
                               ELSE format('ALTER TABLE %s ADD %s;', p.partition, pg_get_constraintdef(c.oid)) END
                          ORDER BY p.from_clock))[1]
          FROM zbxhist.list_partitions(parent) p
         CROSS JOIN LATERAL zbxhist_internal.missing_indexes(check_partitions.parent, p.partition) x
          JOIN pg_class k ON k.oid = x.indexrelid
          LEFT JOIN pg_constraint c ON c.conindid = x.indexrelid AND c.conrelid = x.indrelid
                                   AND c.contype IN ('p', 'u', 'x')
         WHERE (x.indisunique OR x.indisexclusion) AND zbxhist_internal.own_pages(p.partition) > 0
         GROUP BY k.relname;
    RETURN QUERY
        SELECT 'warning', 'own_column', p.partition::text,
               format('it has a column "%s" that its parent lacks: new rows of its time stay in the parent.  Dropping the column deletes its values in about %s rows',
                      c, zbxhist_internal.probable_rows(p.partition)),
               format('ALTER TABLE %s DROP COLUMN %I;', p.partition, c)
          FROM zbxhist.list_partitions(parent) p,
               zbxhist_internal.own_column(parent, p.partition) c
         WHERE c IS NOT NULL;
END
$$;

-- Part of check(): rows of the future, and rows that stay in the parent itself.
CREATE FUNCTION zbxhist_internal.check_rows(parent regclass) RETURNS SETOF zbxhist_internal.check_line
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    month_ahead CONSTANT bigint := zbxhist_internal.current_clock() + 2592000;
BEGIN
    RETURN QUERY
        SELECT CASE WHEN a.rows < 1000 THEN 'info' ELSE 'warning' END, 'clocks_ahead', parent::text,
               format('there are values with clocks up to %s, which expire after that or, in the table itself, never; each query without an earlier end reads them.  The policy max_ahead leaves out such values when they arrive.  The command deletes about %s rows, those that are more than 30 days ahead',
                      zbxhist_internal.format_time(to_timestamp(a.newest)), a.rows),
               format('DELETE FROM %s WHERE clock >= %s;', parent, month_ahead)
          FROM (SELECT max(n) AS newest, sum(coalesce(zbxhist_internal.count_waiting(f.relation, month_ahead, 2147483648),
                                                      zbxhist_internal.estimated_rows(f.relation))) AS rows
                  FROM (SELECT parent AS relation UNION ALL
                        SELECT p.partition FROM zbxhist.list_partitions(parent) p
                         WHERE p.to_clock > month_ahead AND has_table_privilege(p.partition, 'SELECT')) f
                 CROSS JOIN LATERAL zbxhist_internal.waiting_clock(f.relation, month_ahead, 2147483648, true) n
                 WHERE n IS NOT NULL) a
         WHERE a.rows > 0;
    RETURN QUERY
        SELECT 'warning', 'duplicates', s.parent::text,
               format('rows that stay in the table itself, because there is another row with the same key in a partition or packed day%2$s: %1$s.  The command shows both: keep the right one',
                      s.duplicates,
                      CASE WHEN EXISTS (SELECT FROM zbxhist.packed_day d WHERE d.parent = s.parent)
                           THEN ', or 65535 of the same item and second' ELSE '' END),
               format('SELECT tableoid::regclass, * FROM %s WHERE (itemid, clock) IN (SELECT itemid, clock FROM ONLY %1$s) ORDER BY itemid, clock;', s.parent)
          FROM zbxhist.parent_state s
         WHERE s.parent = check_rows.parent AND s.duplicates > 0;
END
$$;
