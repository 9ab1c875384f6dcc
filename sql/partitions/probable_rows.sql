-- sql/partitions/probable_rows.sql
--
-- A table that was filled by a restore, or before a crash, has no statistics.

CREATE FUNCTION zbxhist_internal.probable_rows(relation regclass)
RETURNS bigint
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(nullif(zbxhist_internal.estimated_rows(relation), 0),
                    80 * zbxhist_internal.own_pages(relation))
$$;

COMMENT ON FUNCTION zbxhist_internal.probable_rows(regclass) IS
'Rows of one table as the statistics have it or, where these have none, as its size lets expect (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.probable_rows(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.probable_rows(regclass) TO PUBLIC;
