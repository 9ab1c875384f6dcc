-- sql/parent_rows/own_pages.sql

CREATE FUNCTION zbxhist_internal.own_pages(parent regclass)
RETURNS bigint
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(pg_relation_size(parent, 'main'), 0) / current_setting('block_size')::bigint
$$;

COMMENT ON FUNCTION zbxhist_internal.own_pages(regclass) IS
'Number of pages of the table itself, without its partitions (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.own_pages(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.own_pages(regclass) TO PUBLIC;
