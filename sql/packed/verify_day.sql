-- sql/packed/verify_day.sql

CREATE FUNCTION zbxhist_internal.verify_day(day regclass)
RETURNS TABLE (itemid bigint, clock integer, problem text)
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE ROWS 10
AS 'MODULE_PATHNAME', 'zbxhist_verify_day';

COMMENT ON FUNCTION zbxhist_internal.verify_day(regclass) IS
'What is damaged in the table of a packed day: all checksums, values and statistics are looked at (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.verify_day(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.verify_day(regclass) TO pg_database_owner;
