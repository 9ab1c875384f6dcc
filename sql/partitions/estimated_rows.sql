-- sql/partitions/estimated_rows.sql

CREATE FUNCTION zbxhist_internal.estimated_rows(relation regclass)
RETURNS bigint
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN pg_relation_size(k.oid) = 0 THEN 0
                ELSE greatest(k.reltuples::bigint, pg_stat_get_live_tuples(k.oid), 0) END
      FROM pg_class k WHERE k.oid = relation
$$;

COMMENT ON FUNCTION zbxhist_internal.estimated_rows(regclass) IS
'Rows of one table as the statistics have it (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.estimated_rows(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.estimated_rows(regclass) TO PUBLIC;
