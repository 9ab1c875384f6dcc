-- sql/setup/is_preloaded.sql

CREATE FUNCTION zbxhist_internal.is_preloaded()
RETURNS boolean
LANGUAGE c STABLE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'zbxhist_is_preloaded';

COMMENT ON FUNCTION zbxhist_internal.is_preloaded() IS
'Whether the library was loaded before the first statement of the session (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.is_preloaded() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.is_preloaded() TO PUBLIC;
