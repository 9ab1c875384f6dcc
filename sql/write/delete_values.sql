-- sql/write/delete_values.sql

CREATE FUNCTION zbxhist.delete_values(
    parent regclass,
    itemid bigint,
    clock integer,
    ns integer,
    which text)
RETURNS bigint
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_delete_values';

COMMENT ON FUNCTION zbxhist.delete_values(regclass, bigint, integer, integer, text) IS
'Deletes the rows of an item at a moment (equal), before it (less, less_or_equal) or after it (greater, greater_or_equal) and returns their number';

REVOKE ALL ON FUNCTION zbxhist.delete_values(regclass, bigint, integer, integer, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.delete_values(regclass, bigint, integer, integer, text) TO pg_database_owner;
