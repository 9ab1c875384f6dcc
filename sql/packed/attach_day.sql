-- sql/packed/attach_day.sql

CREATE FUNCTION zbxhist_internal.attach_day(day regclass, packed regclass)
RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_attach_day';

COMMENT ON FUNCTION zbxhist_internal.attach_day(regclass, regclass) IS
'Makes a packed day''s table depend on the foreign table that stands for it, so that CASCADE drops both (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.attach_day(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.attach_day(regclass, regclass) TO pg_database_owner;
