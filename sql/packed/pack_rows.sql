-- sql/packed/pack_rows.sql

CREATE FUNCTION zbxhist_internal.pack_rows(
    partition regclass,
    day regclass,
    kept_items bigint[] DEFAULT '{}',
    OUT rows bigint,
    OUT bytes bigint,
    OUT left_out bigint)
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_pack_rows';

COMMENT ON FUNCTION zbxhist_internal.pack_rows(regclass, regclass, bigint[]) IS
'Writes the rows of a partition, those of some items if any are named, into the table of a packed day that was created in the same transaction; 55006 while some transactions see other rows than others (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.pack_rows(regclass, regclass, bigint[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.pack_rows(regclass, regclass, bigint[]) TO pg_database_owner;
