-- sql/packed/packed_table.sql

CREATE FUNCTION zbxhist_internal.packed_table(parent regclass)
RETURNS regclass
LANGUAGE c STABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_packed_table';

COMMENT ON FUNCTION zbxhist_internal.packed_table(regclass) IS
'The foreign table that stands for a managed table''s packed days; NULL if there is none (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.packed_table(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.packed_table(regclass) TO PUBLIC;
