-- sql/write/delete_values_time.sql

CREATE FUNCTION zbxhist.delete_values(
    parent regclass,
    itemid bigint,
    moment timestamptz,
    which text)
RETURNS bigint
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_delete_values_time';

COMMENT ON FUNCTION zbxhist.delete_values(regclass, bigint, timestamptz, text) IS
'Deletes the rows of an item at a time (equal), before it (less, less_or_equal) or after it (greater, greater_or_equal) and returns their number';

REVOKE ALL ON FUNCTION zbxhist.delete_values(regclass, bigint, timestamptz, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.delete_values(regclass, bigint, timestamptz, text) TO pg_database_owner;
