-- sql/packed/unpack_rows.sql

CREATE FUNCTION zbxhist_internal.unpack_rows(day regclass, partition regclass)
RETURNS bigint
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_unpack_rows';

COMMENT ON FUNCTION zbxhist_internal.unpack_rows(regclass, regclass) IS
'Moves all rows of a packed day into a partition and returns their number (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.unpack_rows(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.unpack_rows(regclass, regclass) TO pg_database_owner;
