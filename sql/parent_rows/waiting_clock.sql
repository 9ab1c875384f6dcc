-- sql/parent_rows/waiting_clock.sql
--
-- A table of terabytes is not read for this: its index (itemid, clock) is
-- walked from item to item, and of each item only the outermost row in the
-- range is looked at, see src/rows/item_index.c.

CREATE FUNCTION zbxhist_internal.waiting_clock(
    parent regclass,
    from_clock bigint,
    to_clock bigint,
    newest boolean)
RETURNS bigint
LANGUAGE c VOLATILE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_waiting_clock';

COMMENT ON FUNCTION zbxhist_internal.waiting_clock(regclass, bigint, bigint, boolean) IS
'The newest or oldest clock in a range among the rows of the parent itself; NULL if there is none (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.waiting_clock(regclass, bigint, bigint, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.waiting_clock(regclass, bigint, bigint, boolean) TO PUBLIC;
