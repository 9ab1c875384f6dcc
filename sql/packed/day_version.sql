-- sql/packed/day_version.sql

CREATE FUNCTION zbxhist_internal.day_version(day regclass, OUT version bigint, OUT newest xid8)
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_day_version';

COMMENT ON FUNCTION zbxhist_internal.day_version(regclass) IS
'A number that differs when a packed day has been changed, and the newest transaction that has changed it; 55006 while some transactions see other rows than others (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.day_version(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.day_version(regclass) TO pg_database_owner;
