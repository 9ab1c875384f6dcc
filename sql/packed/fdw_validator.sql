-- sql/packed/fdw_validator.sql

CREATE FUNCTION zbxhist_internal.fdw_validator(options text[], catalog oid)
RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_fdw_validator';

COMMENT ON FUNCTION zbxhist_internal.fdw_validator(text[], oid) IS
'Validator of the options of foreign tables that stand for packed days (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.fdw_validator(text[], oid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.fdw_validator(text[], oid) TO pg_database_owner;
