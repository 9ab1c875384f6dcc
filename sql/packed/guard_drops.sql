-- sql/packed/guard_drops.sql
--
-- The library refuses to lose packed days (src/maintenance/drop_guard.c); a
-- session that has not loaded it yet does so before it drops anything.  If its
-- file is not there, nothing but the extension is kept.

CREATE FUNCTION zbxhist_internal.guard_drops()
RETURNS void
LANGUAGE c VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_guard_drops';

COMMENT ON FUNCTION zbxhist_internal.guard_drops() IS
'Loads the library, which guards packed days (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.guard_drops() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.guard_drops() TO PUBLIC;
