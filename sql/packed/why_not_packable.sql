-- sql/packed/why_not_packable.sql

CREATE FUNCTION zbxhist_internal.why_not_packable(relation regclass)
RETURNS text
LANGUAGE c STABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_why_not_packable';

COMMENT ON FUNCTION zbxhist_internal.why_not_packable(regclass) IS
'Why rows of a table cannot be packed; NULL if they can (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.why_not_packable(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.why_not_packable(regclass) TO PUBLIC;
