-- sql/packed/fdw_handler.sql

CREATE FUNCTION zbxhist_internal.fdw_handler()
RETURNS fdw_handler
LANGUAGE c VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_fdw_handler';

COMMENT ON FUNCTION zbxhist_internal.fdw_handler() IS
'Handler of the foreign-data wrapper that reads packed days (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.fdw_handler() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.fdw_handler() TO pg_database_owner;
