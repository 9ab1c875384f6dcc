-- sql/setup/old_sessions.sql

CREATE FUNCTION zbxhist_internal.old_sessions()
RETURNS integer
LANGUAGE c VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'zbxhist_old_sessions';

COMMENT ON FUNCTION zbxhist_internal.old_sessions() IS
'Number of other sessions of this database that began before the extension was updated (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.old_sessions() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.old_sessions() TO PUBLIC;
