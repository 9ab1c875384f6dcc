-- sql/parent_rows/count_own_rows.sql

CREATE FUNCTION zbxhist_internal.count_own_rows(relation regclass, from_clock bigint, to_clock bigint)
RETURNS bigint
LANGUAGE c VOLATILE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_count_own_rows';

COMMENT ON FUNCTION zbxhist_internal.count_own_rows(regclass, bigint, bigint) IS
'Number of rows of the table itself, all or those in a clock range, counted without a query, which might run its owner''s code (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.count_own_rows(regclass, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.count_own_rows(regclass, bigint, bigint) TO PUBLIC;
