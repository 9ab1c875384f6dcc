-- sql/operate/usage.sql

-- How many values each item has in a range of clocks, and about what these take of the disk.
-- What a value of an item takes of packed days is told by the groups that items near it
-- are in: by the lengths of these and their numbers of values.  Days' tables belong to the
-- owner alone; for others all values of a day are alike, and partitions are read through
-- their parent.
CREATE FUNCTION zbxhist_internal.measure_items(parent regclass, from_clock bigint, to_clock bigint)
RETURNS TABLE (itemid bigint, packed_values bigint, packed_bytes bigint, heap_values bigint, heap_bytes bigint)
LANGUAGE plpgsql STABLE ROWS 100 PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    in_range CONSTANT text := format('clock >= %s AND clock < %s', from_clock, to_clock);
    in_days  text;
    days     text;
    heaps    text;
    width    text;
BEGIN
    SELECT coalesce('clock >= ' || min(d.from_clock) || ' AND clock < ' || max(d.to_clock), 'false'),
           coalesce(string_agg(
               CASE WHEN has_table_privilege(d.day, 'SELECT')
                    THEN format('SELECT first_itemid, sum(nrows), sum(octet_length(payload)) * %s / sum(sum(octet_length(payload))) OVER ()'
                                ' FROM %s WHERE nrows > 0 GROUP BY first_itemid', b.bytes, d.day)
                    ELSE format('SELECT 0::bigint, %s::numeric, %s', d.nrows, b.bytes) END, ' UNION ALL '),
               'SELECT 0::bigint, 0::numeric, 0::float8 WHERE false')
      INTO in_days, days
      FROM zbxhist.packed_day d
      LEFT JOIN zbxhist.archive_copy a ON a.copy = d.archive_copy
     CROSS JOIN LATERAL (SELECT pg_total_relation_size(d.day) + coalesce(a.bytes, 0) || '::float8') b (bytes)
     WHERE d.parent = measure_items.parent AND NOT d.unpacked
       AND d.from_clock < measure_items.to_clock AND d.to_clock > measure_items.from_clock;
    -- of a row: its header, and values stored out of line, too
    SELECT '24 + ' || string_agg(format('coalesce(pg_column_size(%I), 0)', a.attname), ' + ') INTO width
      FROM pg_attribute a WHERE a.attrelid = parent AND a.attnum > 0 AND NOT a.attisdropped;
    SELECT string_agg(format(
               'SELECT itemid, count(*) FILTER (WHERE %1$s), count(*) FILTER (WHERE %1$s AND %2$s),'
               ' sum(%3$s) FILTER (WHERE %1$s) * %4$s::float8 / sum(sum(%3$s)) OVER () FROM %5$s GROUP BY itemid',
               in_range, in_days, width, pg_total_relation_size(t.relation), t.source), ' UNION ALL ')
      INTO heaps
      FROM (SELECT parent, 'ONLY ' || parent
             UNION ALL
            SELECT i.inhrelid,
                   CASE WHEN has_table_privilege(i.inhrelid, 'SELECT') THEN i.inhrelid::regclass::text
                        ELSE concat_ws(' AND ', format('%s WHERE tableoid = %s', parent, i.inhrelid::oid),
                                       nullif(zbxhist_internal.bounds_condition(p.from_clock, p.to_clock), '')) END
              FROM pg_inherits i
              LEFT JOIN zbxhist.list_partitions(parent) p ON p.partition = i.inhrelid
             WHERE i.inhparent = measure_items.parent AND i.inhrelid IS DISTINCT FROM zbxhist_internal.packed_table(parent)
               AND coalesce(p.from_clock < measure_items.to_clock AND p.to_clock > measure_items.from_clock, true)) t (relation, source);
    RETURN QUERY EXECUTE format($query$
        WITH heap AS MATERIALIZED (
            SELECT t.itemid, sum(t.n)::bigint AS n, sum(t.n_in_days)::bigint AS n_in_days, sum(t.bytes) AS bytes
              FROM (%s) t (itemid, n, n_in_days, bytes) WHERE t.itemid IS NOT NULL GROUP BY t.itemid),
        near AS (
            SELECT g.first_itemid, sum(g.nrows) AS nrows, sum(g.bytes) AS bytes FROM (%s) g (first_itemid, nrows, bytes)
             GROUP BY g.first_itemid HAVING sum(g.nrows) > 0),
        width AS MATERIALIZED (
            SELECT array_agg(n.first_itemid ORDER BY n.first_itemid) AS first_itemids,
                   array_agg(n.bytes / n.nrows ORDER BY n.first_itemid) AS bytes,
                   sum(n.bytes) / sum(n.nrows) AS average
              FROM near n),
        packed AS (
            SELECT t.itemid, t.n - coalesce(h.n_in_days, 0) AS n
              FROM (SELECT itemid, count(*) AS n FROM %s WHERE %s AND %s GROUP BY itemid) t
              LEFT JOIN heap h ON h.itemid = t.itemid),
        sized AS (
            SELECT p.itemid, p.n, w.average, p.n * w.bytes[greatest(width_bucket(p.itemid, w.first_itemids), 1)] AS bytes
              FROM packed p CROSS JOIN width w
             WHERE p.n > 0)
        SELECT itemid, coalesce(s.n, 0), coalesce((s.bytes * s.average * sum(s.n) OVER () / sum(s.bytes) OVER ())::bigint, 0),
               coalesce(h.n, 0), coalesce(h.bytes::bigint, 0)
          FROM heap h FULL JOIN sized s USING (itemid)
         WHERE s.n > 0 OR h.n > 0
        $query$, heaps, days, parent, in_range, in_days);
END
$$;

CREATE FUNCTION zbxhist.item_usage(
    parent regclass, from_clock integer DEFAULT NULL, to_clock integer DEFAULT NULL, max_items integer DEFAULT 100)
RETURNS TABLE (
    itemid bigint, host text, item text, item_key text, "values" bigint, bytes bigint, bytes_per_value numeric,
    percent numeric, packed_values bigint, packed_bytes bigint, heap_values bigint, heap_bytes bigint)
LANGUAGE plpgsql STABLE ROWS 100 PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM zbxhist_internal.require_managed(parent);
    PERFORM zbxhist_internal.refuse('22023', 'range of time ends before it begins')
      WHERE from_clock > to_clock;
    RETURN QUERY
        WITH usage AS MATERIALIZED (
            SELECT m.*, m.packed_values + m.heap_values AS all_values, m.packed_bytes + m.heap_bytes AS all_bytes,
                   sum(m.packed_bytes + m.heap_bytes) OVER () AS total_bytes
              FROM zbxhist_internal.measure_items(parent, coalesce(from_clock, -2147483648), coalesce(to_clock, 2147483648)) m
             ORDER BY all_bytes DESC, m.itemid
             LIMIT max_items)
        SELECT u.itemid, n.host, n.item, n.item_key, u.all_values, u.all_bytes,
               round(u.all_bytes::numeric / u.all_values, 2),
               round(100 * u.all_bytes / nullif(u.total_bytes, 0), 2),
               u.packed_values, u.packed_bytes, u.heap_values, u.heap_bytes
          FROM usage u
          LEFT JOIN zbxhist_internal.item_names(
               (SELECT s.nspname FROM pg_class k JOIN pg_namespace s ON s.oid = k.relnamespace WHERE k.oid = parent),
               ARRAY(SELECT o.itemid FROM usage o)) n ON n.itemid = u.itemid
         ORDER BY u.all_bytes DESC, u.itemid;
END
$$;

COMMENT ON FUNCTION zbxhist.item_usage(regclass, integer, integer, integer) IS
'The items that take most of the disk, of values from one clock, included, to another, excluded; what a value takes of packed days is estimated by the values near it';

CREATE FUNCTION zbxhist.item_usage(
    parent regclass, from_time timestamptz, to_time timestamptz DEFAULT NULL, max_items integer DEFAULT 100)
RETURNS TABLE (
    itemid bigint, host text, item text, item_key text, "values" bigint, bytes bigint, bytes_per_value numeric,
    percent numeric, packed_values bigint, packed_bytes bigint, heap_values bigint, heap_bytes bigint)
LANGUAGE sql STABLE ROWS 100 PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    -- greatest and least leave nulls out: from the beginning, to the end
    SELECT u.*
      FROM zbxhist.item_usage(
           parent,
           least(greatest(ceil(extract(epoch FROM from_time)), -2147483648), 2147483647)::integer,
           nullif(greatest(least(ceil(extract(epoch FROM to_time)), 2147483648), -2147483648), 2147483648)::integer,
           max_items) u
     WHERE from_time IS NULL OR extract(epoch FROM from_time) <= 2147483647
$$;

COMMENT ON FUNCTION zbxhist.item_usage(regclass, timestamptz, timestamptz, integer) IS
'The items that take most of the disk, of values from one time, included, to another, excluded, in whole seconds';
