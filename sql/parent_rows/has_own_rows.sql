-- sql/parent_rows/has_own_rows.sql
--
-- Like waiting_clock, but ends at the first row found.

CREATE FUNCTION zbxhist_internal.has_own_rows(parent regclass, since_clock bigint)
RETURNS boolean
LANGUAGE c VOLATILE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_has_own_rows';

COMMENT ON FUNCTION zbxhist_internal.has_own_rows(regclass, bigint) IS
'Whether the parent itself holds a row, or one not older than a clock (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.has_own_rows(regclass, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.has_own_rows(regclass, bigint) TO PUBLIC;
