-- sql/refuse.sql

-- In the place of RAISE EXCEPTION, which has lines of CONTEXT that name functions
-- of ours follow what it says.
CREATE FUNCTION zbxhist_internal.refuse(code text, message text, detail text DEFAULT NULL, hint text DEFAULT NULL)
RETURNS void
LANGUAGE c VOLATILE PARALLEL SAFE AS 'MODULE_PATHNAME', 'zbxhist_refuse';

COMMENT ON FUNCTION zbxhist_internal.refuse IS
'Raises an error with this SQLSTATE, whose context has the caller''s own functions only (internal)';
