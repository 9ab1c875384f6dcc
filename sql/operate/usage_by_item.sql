-- sql/operate/usage_by_item.sql

CREATE FUNCTION zbxhist_internal.usage_by_item(
    parent regclass,
    from_clock bigint,
    to_clock bigint,
    max_items integer)
RETURNS TABLE (
    itemid bigint,
    host text,
    item text,
    item_key text,
    "values" bigint,
    bytes bigint,
    bytes_per_value numeric,
    percent numeric,
    packed_values bigint,
    packed_bytes bigint,
    heap_values bigint,
    heap_bytes bigint,
    is_exact boolean)
LANGUAGE sql STABLE ROWS 100 PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    WITH usage AS MATERIALIZED (
        SELECT u.*, u.packed_values + u.heap_values AS all_values, u.packed_bytes + u.heap_bytes AS all_bytes
          FROM zbxhist_internal.measure_items(parent, from_clock, to_clock, max_items) u)
    SELECT u.itemid, n.host, n.item, n.item_key, u.all_values, u.all_bytes,
           round(u.all_bytes::numeric / nullif(u.all_values, 0), 2),
           round(100.0 * u.all_bytes / nullif(u.total_bytes, 0), 2),
           u.packed_values, u.packed_bytes, u.heap_values, u.heap_bytes, u.is_exact
      FROM usage u
      LEFT JOIN zbxhist_internal.item_names(
           (SELECT k.relnamespace::regnamespace::name FROM pg_class k WHERE k.oid = parent),
           ARRAY(SELECT o.itemid FROM usage o)) n ON n.itemid = u.itemid
     ORDER BY u.all_bytes DESC, u.itemid
$$;

COMMENT ON FUNCTION zbxhist_internal.usage_by_item(regclass, bigint, bigint, integer) IS
'The items that take most of a table, with their names; is_exact is false where a large unpacked table was sampled (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.usage_by_item(regclass, bigint, bigint, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.usage_by_item(regclass, bigint, bigint, integer) TO PUBLIC;
