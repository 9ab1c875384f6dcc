-- sql/setup/with_library.sql

CREATE FUNCTION zbxhist_internal.with_library(libraries text[])
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT string_agg(quote_literal(l), ', ' ORDER BY place)
      FROM unnest(libraries || 'zbxhist'::text) WITH ORDINALITY AS u (l, place)
    HAVING NOT coalesce(bool_or(l ~ '(^|/)zbxhist(\.\w+)?$')
                            FILTER (WHERE place <= cardinality(libraries)), false)
$$;

COMMENT ON FUNCTION zbxhist_internal.with_library(text[]) IS
'A list of libraries with zbxhist added, as SET wants it; NULL if it is among them already (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.with_library(text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.with_library(text[]) TO PUBLIC;
