-- sql/operate/usage.sql

-- Packed days are counted by their directories.  What is not packed is counted
-- row by row; of a table of more than 64 MB a sample is, and is_exact is false.
CREATE FUNCTION zbxhist_internal.measure_items(parent regclass, from_clock bigint, to_clock bigint, max_items integer)
RETURNS TABLE (
    itemid bigint, packed_values bigint, packed_bytes bigint, heap_values bigint, heap_bytes bigint, is_exact boolean,
    total_bytes bigint)
LANGUAGE c STABLE ROWS 100 PARALLEL SAFE AS 'MODULE_PATHNAME', 'zbxhist_item_usage';

COMMENT ON FUNCTION zbxhist_internal.measure_items IS
'What items take of a table, each and all together (internal)';

-- Directories of packed days are read, not values.  The share of some days stands
-- for all: as many as 256 MB, one at least and ten at most, from the oldest to
-- the newest, for the older a day is the more of its items are gone.
CREATE FUNCTION zbxhist_internal.measure_deleted(parent regclass, OUT bytes bigint, OUT percent numeric)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    known CONSTANT record := zbxhist_internal.known_items(parent);
    share numeric;
    total bigint;
BEGIN
    IF known.problem IS NOT NULL THEN
        RETURN;
    END IF;
    WITH day AS (
        SELECT d.from_clock, d.to_clock, count(*) OVER () AS days, sum(b.bytes) OVER () AS total,
               row_number() OVER (ORDER BY d.from_clock) - 0.5 AS place
          FROM zbxhist.packed_day d
         CROSS JOIN LATERAL (SELECT coalesce(d.packed_bytes, zbxhist_internal.day_bytes(d.day)) AS bytes) b
         WHERE d.parent = measure_deleted.parent AND NOT d.unpacked),
    plan AS (
        SELECT d.*, least(d.days, 10, greatest(1, floor(268435456 * d.days / nullif(d.total, 0)))) AS wanted
          FROM day d),
    measured AS (
        SELECT p.total, m.packed_bytes, k.itemid IS NULL AS is_deleted
          FROM plan p
         CROSS JOIN LATERAL zbxhist_internal.measure_items(measure_deleted.parent, p.from_clock, p.to_clock, NULL) m
          LEFT JOIN unnest(known.items) AS k (itemid) ON k.itemid = m.itemid
         WHERE floor((p.place + 0.5) * p.wanted / p.days + 0.5) > floor((p.place - 0.5) * p.wanted / p.days + 0.5))
    SELECT coalesce(sum(m.packed_bytes) FILTER (WHERE m.is_deleted), 0) / nullif(sum(m.packed_bytes), 0), max(m.total)
      INTO share, total
      FROM measured m;
    bytes := share * total;
    percent := round(100 * share, 1);
EXCEPTION WHEN data_corrupted OR index_corrupted THEN
    -- that is told elsewhere
    RETURN;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.measure_deleted IS
'About what values of items that Zabbix has deleted take of packed days; null if it cannot be told which items there are (internal)';

CREATE FUNCTION zbxhist.item_usage(
    parent regclass, from_clock integer DEFAULT NULL, to_clock integer DEFAULT NULL, max_items integer DEFAULT 100)
RETURNS TABLE (
    itemid bigint, host text, item text, item_key text, "values" bigint, bytes bigint, bytes_per_value numeric,
    percent numeric, packed_values bigint, packed_bytes bigint, heap_values bigint, heap_bytes bigint, is_exact boolean)
LANGUAGE sql STABLE ROWS 100 PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    WITH usage AS MATERIALIZED (
        SELECT u.*, u.packed_values + u.heap_values AS all_values, u.packed_bytes + u.heap_bytes AS all_bytes
          FROM zbxhist_internal.measure_items(parent, from_clock, to_clock, max_items) u
         ORDER BY u.packed_bytes + u.heap_bytes DESC, u.itemid
         -- it refuses negative numbers itself
         LIMIT abs(max_items::bigint))
    SELECT u.itemid, n.host, n.item, n.item_key, u.all_values, u.all_bytes,
           round(u.all_bytes::numeric / nullif(u.all_values, 0), 2),
           round(100.0 * u.all_bytes / nullif(u.total_bytes, 0), 2),
           u.packed_values, u.packed_bytes, u.heap_values, u.heap_bytes, u.is_exact
      FROM usage u
      LEFT JOIN zbxhist_internal.item_names(
           (SELECT s.nspname FROM pg_class k JOIN pg_namespace s ON s.oid = k.relnamespace WHERE k.oid = parent),
           ARRAY(SELECT o.itemid FROM usage o)) n ON n.itemid = u.itemid
     ORDER BY u.all_bytes DESC, u.itemid
$$;

COMMENT ON FUNCTION zbxhist.item_usage(regclass, integer, integer, integer) IS
'The items that take most of the disk, of values from one clock, included, to another, excluded; packed days without decoding values; is_exact is false where a large unpacked table was sampled';

CREATE FUNCTION zbxhist.item_usage(
    parent regclass, from_time timestamptz, to_time timestamptz DEFAULT NULL, max_items integer DEFAULT 100)
RETURNS TABLE (
    itemid bigint, host text, item text, item_key text, "values" bigint, bytes bigint, bytes_per_value numeric,
    percent numeric, packed_values bigint, packed_bytes bigint, heap_values bigint, heap_bytes bigint, is_exact boolean)
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
