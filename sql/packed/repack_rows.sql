-- sql/packed/repack_rows.sql
--
-- The days may be changed meanwhile: the caller compares their versions with
-- day_version() when nobody can change them any more.

CREATE FUNCTION zbxhist_internal.repack_rows(
    days regclass[],
    new_day regclass,
    kept_items bigint[] DEFAULT '{}',
    OUT rows bigint,
    OUT bytes bigint,
    OUT versions bigint[],
    OUT left_out bigint)
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_repack_rows';

COMMENT ON FUNCTION zbxhist_internal.repack_rows(regclass[], regclass, bigint[]) IS
'Writes the rows of packed days, which have clocks of their own, those of some items if any are named, into the table of one that was created in the same transaction, and reads them again; 55006 while some transactions see other rows than others (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.repack_rows(regclass[], regclass, bigint[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.repack_rows(regclass[], regclass, bigint[]) TO pg_database_owner;
