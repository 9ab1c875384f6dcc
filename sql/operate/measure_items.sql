-- sql/operate/measure_items.sql
--
-- Packed days are counted by their directories.  What is not packed is counted
-- row by row; of a table of more than 64 MB a sample is, and is_exact is false.

CREATE FUNCTION zbxhist_internal.measure_items(
    parent regclass,
    from_clock bigint,
    to_clock bigint,
    max_items integer)
RETURNS TABLE (
    itemid bigint,
    packed_values bigint,
    packed_bytes bigint,
    heap_values bigint,
    heap_bytes bigint,
    is_exact boolean,
    total_bytes bigint)
LANGUAGE c STABLE ROWS 100 PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_item_usage';

COMMENT ON FUNCTION zbxhist_internal.measure_items(regclass, bigint, bigint, integer) IS
'The items that take most of a table, and what all items take (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.measure_items(regclass, bigint, bigint, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.measure_items(regclass, bigint, bigint, integer) TO PUBLIC;
