-- sql/packed/salvage_rows.sql

CREATE FUNCTION zbxhist_internal.salvage_rows(day regclass, partition regclass)
RETURNS TABLE (first_itemid bigint, first_clock integer, last_itemid bigint, last_clock integer,
               is_end boolean, rows bigint, problem text, bytes bytea)
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_salvage_rows';

COMMENT ON FUNCTION zbxhist_internal.salvage_rows(regclass, regclass) IS
'Moves all rows of a packed day that can be read into a partition; returns what is lost and, without a problem, how many rows are kept (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.salvage_rows(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.salvage_rows(regclass, regclass) TO pg_database_owner;
