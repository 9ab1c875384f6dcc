-- sql/migrate/import_rows.sql

CREATE FUNCTION zbxhist_internal.import_rows(
    query text,
    day regclass,
    from_clock bigint,
    to_clock bigint,
    is_unique boolean,
    required name[],
    OUT rows_read bigint,
    OUT rows_stored bigint,
    OUT bytes bigint,
    OUT checksum bigint)
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_import_rows';

COMMENT ON FUNCTION zbxhist_internal.import_rows(text, regclass, bigint, bigint, boolean, name[]) IS
'Writes the rows of a query into the empty table of a packed day, of those with one key the first, unless a column that is required is null, and compares what it has written (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.import_rows(text, regclass, bigint, bigint, boolean, name[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.import_rows(text, regclass, bigint, bigint, boolean, name[]) TO pg_database_owner;
