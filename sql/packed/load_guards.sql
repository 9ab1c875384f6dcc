-- sql/packed/load_guards.sql
--
-- The library refuses to lose packed days (src/maintenance/drop_guard.c), or to
-- make them unreadable (default_guard.c); a session that has not loaded it yet
-- does so before it drops or alters a table.

CREATE FUNCTION zbxhist_internal.load_guards()
RETURNS void
LANGUAGE c VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_load_guards';

COMMENT ON FUNCTION zbxhist_internal.load_guards() IS
'Loads the library, which guards packed days (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.load_guards() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.load_guards() TO PUBLIC;
