-- sql/check/object_list.sql

CREATE FUNCTION zbxhist_internal.object_list(objects text[])
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT array_to_string(objects[1:CASE WHEN cardinality(objects) > 4 THEN 3 ELSE 4 END], ', ')
           || CASE WHEN cardinality(objects) > 4
                   THEN format(' and %s more', cardinality(objects) - 3) ELSE '' END
$$;

COMMENT ON FUNCTION zbxhist_internal.object_list(text[]) IS
'The first of some objects, and how many more there are (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.object_list(text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.object_list(text[]) TO PUBLIC;
