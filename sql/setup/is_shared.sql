-- sql/setup/is_shared.sql

CREATE FUNCTION zbxhist_internal.is_shared()
RETURNS boolean
LANGUAGE c STABLE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'zbxhist_is_shared';

COMMENT ON FUNCTION zbxhist_internal.is_shared() IS
'Whether shared_preload_libraries names the library, so that all sessions have it (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.is_shared() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.is_shared() TO PUBLIC;
