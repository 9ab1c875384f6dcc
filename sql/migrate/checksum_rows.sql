-- sql/migrate/checksum_rows.sql

CREATE FUNCTION zbxhist_internal.checksum_rows(
    relation regclass,
    query text,
    OUT nrows bigint,
    OUT checksum bigint)
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_checksum_rows';

COMMENT ON FUNCTION zbxhist_internal.checksum_rows(regclass, text) IS
'The number of rows of a query, run with the rights of the owner of a table, and a checksum over all their values that does not depend on their order (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.checksum_rows(regclass, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.checksum_rows(regclass, text) TO pg_database_owner;
