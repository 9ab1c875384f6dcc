-- sql/operate/measure_deleted.sql
--
-- Directories of packed days are read, not values.  The share of some days stands
-- for all: as many as 256 MB, one at least and ten at most, from the oldest to
-- the newest, for the older a day is the more of its items are gone.

CREATE FUNCTION zbxhist_internal.measure_deleted(parent regclass, OUT bytes bigint, OUT percent numeric)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
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

COMMENT ON FUNCTION zbxhist_internal.measure_deleted(regclass) IS
'About what values of items that Zabbix has deleted take of packed days; null if it cannot be told which items there are (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.measure_deleted(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.measure_deleted(regclass) TO pg_database_owner;
