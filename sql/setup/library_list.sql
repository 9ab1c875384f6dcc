-- sql/setup/library_list.sql

CREATE FUNCTION zbxhist_internal.library_list(value text)
RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    -- names with commas or spaces are in double quotes
    SELECT ARRAY(SELECT coalesce(replace(m.parts[1], '""', '"'), rtrim(m.parts[2]))
                   FROM regexp_matches(value, '"((?:[^"]|"")+)"|([^",\s][^",]*)', 'g')
                        WITH ORDINALITY AS m (parts, place)
                  ORDER BY m.place)
$$;

COMMENT ON FUNCTION zbxhist_internal.library_list(text) IS
'The libraries that a value of session_preload_libraries names (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.library_list(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.library_list(text) TO PUBLIC;
