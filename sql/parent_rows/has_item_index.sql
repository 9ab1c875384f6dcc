-- sql/parent_rows/has_item_index.sql

CREATE FUNCTION zbxhist_internal.has_item_index(parent regclass)
RETURNS boolean
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (
        SELECT FROM pg_index x
          JOIN pg_class k ON k.oid = x.indexrelid
          JOIN pg_am m ON m.oid = k.relam
          JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = x.indkey[0]
         WHERE x.indrelid = parent AND x.indisvalid AND x.indpred IS NULL
           AND m.amname = 'btree' AND a.attname = 'itemid')
$$;

COMMENT ON FUNCTION zbxhist_internal.has_item_index(regclass) IS
'Whether the table has a btree index led by itemid, by which its items can be walked (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.has_item_index(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.has_item_index(regclass) TO PUBLIC;
