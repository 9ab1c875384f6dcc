-- sql/partitions/is_searchable.sql
--
-- INSERTs look for a key that a partition lacks by any btree that begins with
-- one of its columns, see src/ingest/key_search.c.

CREATE FUNCTION zbxhist_internal.is_searchable(partition regclass, key regclass)
RETURNS boolean
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (
        SELECT FROM pg_index x
          JOIN pg_class k ON k.oid = x.indexrelid
          JOIN pg_am m ON m.oid = k.relam AND m.amname = 'btree'
          JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = x.indkey[0]
          JOIN pg_index wanted ON wanted.indexrelid = key
          JOIN pg_attribute w ON w.attrelid = wanted.indrelid AND w.attnum = ANY (wanted.indkey)
                             AND w.attname = a.attname
         WHERE x.indrelid = partition AND x.indisvalid AND x.indpred IS NULL)
$$;

COMMENT ON FUNCTION zbxhist_internal.is_searchable(regclass, regclass) IS
'Whether a partition has an index by which a key of its parent that it lacks can be looked for (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.is_searchable(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.is_searchable(regclass, regclass) TO PUBLIC;
