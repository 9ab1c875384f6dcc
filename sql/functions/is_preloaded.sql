-- sql/functions/is_preloaded.sql

CREATE FUNCTION zbxhist.is_preloaded()
RETURNS boolean
LANGUAGE c STABLE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'zbxhist_is_preloaded';

COMMENT ON FUNCTION zbxhist.is_preloaded() IS
'Whether the library was loaded before the first statement of the session (internal)';

REVOKE ALL ON FUNCTION zbxhist.is_preloaded() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.is_preloaded() TO PUBLIC;
