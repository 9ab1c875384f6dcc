-- sql/refuse.sql

-- Raises an error with this SQLSTATE.  Its CONTEXT names only the user's own functions.  After RAISE
-- EXCEPTION, psql would print lines of CONTEXT about internal functions that tell the user nothing.
CREATE FUNCTION zbxhist_internal.refuse(code text, message text, detail text DEFAULT NULL, hint text DEFAULT NULL)
RETURNS void
LANGUAGE c VOLATILE PARALLEL SAFE AS 'MODULE_PATHNAME', 'zbxhist_refuse';

-- Returns a number with its noun: 1 row, 2 rows.
CREATE FUNCTION zbxhist_internal.count_of(number bigint, noun text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT number || ' ' || noun || CASE number WHEN 1 THEN '' ELSE 's' END
$$;
