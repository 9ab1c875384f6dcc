-- sql/write/add.sql

CREATE FUNCTION zbxhist.add(
    row_type anyelement,
    itemids bigint[],
    clocks integer[],
    ns integer[],
    "values" anycompatiblearray,
    on_conflict text DEFAULT 'error')
RETURNS bigint
LANGUAGE c VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_add';

COMMENT ON FUNCTION zbxhist.add(anyelement, bigint[], integer[], integer[], anycompatiblearray, text) IS
'Stores a value for each element of the arrays and returns the number of rows stored; a key that is there is an error (error), keeps its value (ignore) or gets the new one (update); NULL::history names the managed table';

REVOKE ALL ON FUNCTION zbxhist.add(anyelement, bigint[], integer[], integer[], anycompatiblearray, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.add(anyelement, bigint[], integer[], integer[], anycompatiblearray, text) TO pg_database_owner;
