-- sql/operate/item_usage_time.sql

CREATE FUNCTION zbxhist.item_usage(
    parent regclass,
    from_time timestamptz,
    to_time timestamptz DEFAULT NULL,
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
    -- greatest and least leave nulls out: from the beginning, to the end
    SELECT *
      FROM zbxhist_internal.usage_by_item(
           parent,
           least(greatest(ceil(extract(epoch FROM from_time)), -3e9), 3e9)::bigint,
           greatest(least(ceil(extract(epoch FROM to_time)), 3e9), -3e9)::bigint,
           max_items)
$$;

COMMENT ON FUNCTION zbxhist.item_usage(regclass, timestamptz, timestamptz, integer) IS
'The items that take most of the disk, of values from one time, included, to another, excluded, in whole seconds';

REVOKE ALL ON FUNCTION zbxhist.item_usage(regclass, timestamptz, timestamptz, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.item_usage(regclass, timestamptz, timestamptz, integer) TO PUBLIC;
