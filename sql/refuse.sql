-- sql/refuse.sql

-- Raises an error with this SQLSTATE, whose context has the caller's own functions only.
-- In the place of RAISE EXCEPTION, which has lines of CONTEXT that name functions
-- of ours follow what it says.
CREATE FUNCTION zbxhist_internal.refuse(code text, message text, detail text DEFAULT NULL, hint text DEFAULT NULL)
RETURNS void
LANGUAGE c VOLATILE PARALLEL SAFE AS 'MODULE_PATHNAME', 'zbxhist_refuse';

-- So many of something, in words: 1 row, 2 rows.
CREATE FUNCTION zbxhist_internal.count_of(number bigint, noun text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT number || ' ' || noun || CASE number WHEN 1 THEN '' ELSE 's' END
$$;
