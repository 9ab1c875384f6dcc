-- sql/parent_rows/own_items.sql

CREATE FUNCTION zbxhist_internal.own_items(
    relation regclass,
    OUT first_itemid bigint,
    OUT final_itemid bigint)
LANGUAGE c VOLATILE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_own_items';

COMMENT ON FUNCTION zbxhist_internal.own_items(regclass) IS
'The first and the last item of which the table itself has rows, if it has an index that says so (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.own_items(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.own_items(regclass) TO PUBLIC;
