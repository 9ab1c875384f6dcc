-- sql/migrate/import_rows.sql

CREATE FUNCTION zbxhist_internal.import_rows(
    query text,
    day regclass,
    from_clock bigint,
    to_clock bigint,
    is_unique boolean,
    OUT rows_read bigint,
    OUT rows_stored bigint,
    OUT bytes bigint)
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_import_rows';

COMMENT ON FUNCTION zbxhist_internal.import_rows(text, regclass, bigint, bigint, boolean) IS
'Writes the rows of a query into the empty table of a packed day, of those with one key the first, and compares what it has written (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.import_rows(text, regclass, bigint, bigint, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.import_rows(text, regclass, bigint, bigint, boolean) TO pg_database_owner;
