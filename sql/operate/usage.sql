-- sql/operate/usage.sql

-- Number of values of each item in a range of clocks, and about how much disk space they take.
-- The size of an item's packed values is estimated from the size and number of values of the groups near
-- it.  Only the owner may read the tables of packed days; for other roles each value of a day counts the
-- same, and partitions are read through their parent.
CREATE FUNCTION zbxhist_internal.measure_items(parent regclass, from_clock bigint, to_clock bigint)
RETURNS TABLE (itemid bigint, nvalues bigint, bytes bigint)
LANGUAGE plpgsql STABLE ROWS 100 PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    in_range CONSTANT text := format('clock >= %s AND clock < %s', from_clock, to_clock);
    days     text;
    heaps    text;
    width    text;
BEGIN
    SELECT coalesce(string_agg(
               CASE WHEN has_table_privilege(d.day, 'SELECT')
                    THEN format('SELECT first_itemid, sum(nrows), sum(octet_length(payload)) * %s / sum(sum(octet_length(payload))) OVER ()'
                                ' FROM %s WHERE nrows > 0 GROUP BY first_itemid', b.bytes, d.day)
                    ELSE format('SELECT 0::bigint, %s::numeric, %s', d.nrows, b.bytes) END, ' UNION ALL '),
               'SELECT 0::bigint, 0::numeric, 0::float8 WHERE false')
      INTO days
      FROM zbxhist.packed_day d
      LEFT JOIN zbxhist.archive_copy a ON a.copy = d.archive_copy
     CROSS JOIN LATERAL (SELECT pg_total_relation_size(d.day) + coalesce(a.bytes, 0) || '::float8') b (bytes)
     WHERE d.parent = measure_items.parent AND NOT d.unpacked
       AND d.from_clock < measure_items.to_clock AND d.to_clock > measure_items.from_clock;
    -- size of a row: header and columns, also those stored out of line
    SELECT '24 + ' || string_agg(format('coalesce(pg_column_size(%I), 0)', a.attname), ' + ') INTO width
      FROM pg_attribute a WHERE a.attrelid = parent AND a.attnum > 0 AND NOT a.attisdropped;
    SELECT string_agg(format(
               'SELECT itemid, count(*) FILTER (WHERE %1$s),'
               ' sum(%2$s) FILTER (WHERE %1$s) * %3$s::float8 / sum(sum(%2$s)) OVER () FROM %4$s GROUP BY itemid',
               in_range, width, pg_total_relation_size(t.relation), t.source), ' UNION ALL ')
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
        WITH heap AS (
            SELECT t.itemid, sum(t.n) AS n, sum(t.bytes) AS bytes FROM (%s) t (itemid, n, bytes) GROUP BY t.itemid),
        near AS (
            SELECT g.first_itemid, sum(g.nrows) AS nrows, sum(g.bytes) AS bytes FROM (%s) g (first_itemid, nrows, bytes)
             GROUP BY g.first_itemid HAVING sum(g.nrows) > 0),
        width AS MATERIALIZED (
            SELECT array_agg(n.first_itemid ORDER BY n.first_itemid) AS first_itemids,
                   array_agg(n.bytes / n.nrows ORDER BY n.first_itemid) AS bytes,
                   sum(n.bytes) / sum(n.nrows) AS average
              FROM near n),
        item AS (
            SELECT t.itemid, t.n, t.n - coalesce(h.n, 0) AS packed, coalesce(h.bytes, 0) AS bytes
              FROM (SELECT itemid, count(*) AS n FROM %s WHERE %s GROUP BY itemid) t
              LEFT JOIN heap h ON h.itemid = t.itemid),
        sized AS (
            SELECT i.*, w.average, i.packed * w.bytes[greatest(width_bucket(i.itemid, w.first_itemids), 1)] AS packed_bytes
              FROM item i CROSS JOIN width w)
        SELECT itemid, n, (bytes + coalesce(packed_bytes * average * sum(packed) OVER () / nullif(sum(packed_bytes) OVER (), 0), 0))::bigint
          FROM sized
        $query$, heaps, days, parent, in_range);
END
$$;

CREATE FUNCTION zbxhist.item_usage(
    parent regclass, from_clock integer DEFAULT NULL, to_clock integer DEFAULT NULL, max_items integer DEFAULT 100)
RETURNS TABLE (
    itemid bigint, host text, item text, item_key text, "values" bigint, bytes bigint, bytes_per_value numeric,
    percent numeric)
LANGUAGE plpgsql STABLE ROWS 100 PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM zbxhist_internal.require_managed(parent);
    PERFORM zbxhist_internal.refuse('22023', 'range of time ends before it begins')
      WHERE from_clock > to_clock;
    RETURN QUERY
        WITH usage AS MATERIALIZED (
            SELECT m.*, sum(m.bytes) OVER () AS total_bytes
              FROM zbxhist_internal.measure_items(parent, coalesce(from_clock, -2147483648), coalesce(to_clock, 2147483648)) m
             ORDER BY m.bytes DESC, m.itemid
             LIMIT max_items)
        SELECT u.itemid, n.host, n.item, n.item_key, u.nvalues, u.bytes,
               round(u.bytes::numeric / u.nvalues, 2), round(100 * u.bytes / nullif(u.total_bytes, 0), 2)
          FROM usage u
          LEFT JOIN zbxhist_internal.item_names(
               (SELECT s.nspname FROM pg_class k JOIN pg_namespace s ON s.oid = k.relnamespace WHERE k.oid = parent),
               ARRAY(SELECT o.itemid FROM usage o)) n ON n.itemid = u.itemid
         ORDER BY u.bytes DESC, u.itemid;
END
$$;

COMMENT ON FUNCTION zbxhist.item_usage(regclass, integer, integer, integer) IS
'The items that take most of the disk, of values from one clock, included, to another, excluded; what a value takes of packed days is estimated by the values near it';

CREATE FUNCTION zbxhist.item_usage(
    parent regclass, from_time timestamptz, to_time timestamptz DEFAULT NULL, max_items integer DEFAULT 100)
RETURNS TABLE (
    itemid bigint, host text, item text, item_key text, "values" bigint, bytes bigint, bytes_per_value numeric,
    percent numeric)
LANGUAGE sql STABLE ROWS 100 PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    -- greatest and least ignore nulls: from the beginning, to the end
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
