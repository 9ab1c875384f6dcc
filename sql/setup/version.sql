-- sql/setup/version.sql

CREATE FUNCTION zbxhist.version()
RETURNS text
LANGUAGE c STABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_version';

COMMENT ON FUNCTION zbxhist.version() IS
'Version of the loaded library';

REVOKE ALL ON FUNCTION zbxhist.version() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.version() TO PUBLIC;
