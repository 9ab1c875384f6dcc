-- sql/operate/item_usage.sql

CREATE FUNCTION zbxhist.item_usage(
    parent regclass,
    from_clock integer DEFAULT NULL,
    to_clock integer DEFAULT NULL,
    max_items integer DEFAULT 100)
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
    SELECT * FROM zbxhist_internal.usage_by_item(parent, from_clock, to_clock, max_items)
$$;

COMMENT ON FUNCTION zbxhist.item_usage(regclass, integer, integer, integer) IS
'The items that take most of the disk, of values from one clock, included, to another, excluded; packed days without decoding values; is_exact is false where a large unpacked table was sampled';

REVOKE ALL ON FUNCTION zbxhist.item_usage(regclass, integer, integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.item_usage(regclass, integer, integer, integer) TO PUBLIC;
