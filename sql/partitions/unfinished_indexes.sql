-- sql/partitions/unfinished_indexes.sql
--
-- What CREATE INDEX or REINDEX CONCURRENTLY leaves when it fails: no query uses
-- it, INSERTs may have to keep it up.  Nobody misses one that the table has a
-- valid copy of, nor one of a packed day's table that is not of our making; but the
-- table itself is left to its owner.
-- Who is building an index has a lock on the table.

CREATE FUNCTION zbxhist_internal.unfinished_indexes(parent regclass, relation regclass DEFAULT NULL)
RETURNS TABLE (relation regclass, index regclass, is_dropped boolean)
LANGUAGE sql VOLATILE PARALLEL SAFE ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT x.indrelid, x.indexrelid,
           x.indrelid <> unfinished_indexes.parent AND EXISTS (SELECT FROM pg_index o
                    WHERE o.indrelid = x.indrelid AND o.indisvalid
                      AND regexp_replace(zbxhist_internal.describe_index(o.indexrelid), '^primary', 'unique')
                          = regexp_replace(zbxhist_internal.describe_index(x.indexrelid), '^primary', 'unique'))
           OR EXISTS (SELECT FROM zbxhist.packed_day d WHERE d.day = x.indrelid)
              AND zbxhist_internal.run_index_columns(x.indexrelid) IS NULL
              AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = x.indexrelid AND c.conrelid = x.indrelid)
      FROM pg_index x
     WHERE NOT x.indisvalid
       AND (unfinished_indexes.relation IS NULL OR x.indrelid = unfinished_indexes.relation)
       AND (x.indrelid = unfinished_indexes.parent
            OR EXISTS (SELECT FROM zbxhist.list_partitions(unfinished_indexes.parent) p WHERE p.partition = x.indrelid)
            OR EXISTS (SELECT FROM zbxhist.packed_day d WHERE d.parent = unfinished_indexes.parent AND d.day = x.indrelid))
       AND NOT EXISTS (SELECT FROM pg_locks l
                        WHERE l.database = (SELECT b.oid FROM pg_database b WHERE b.datname = current_database())
                          AND l.relation = x.indrelid AND l.mode = 'ShareUpdateExclusiveLock' AND l.granted
                          AND l.pid <> pg_backend_pid())
     ORDER BY x.indrelid::regclass::text, x.indexrelid::regclass::text
$$;

COMMENT ON FUNCTION zbxhist_internal.unfinished_indexes(regclass, regclass) IS
'The indexes of a managed table, its partitions and packed days, or of one of these, that were not built to their end, and whether maintenance drops them (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.unfinished_indexes(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.unfinished_indexes(regclass, regclass) TO PUBLIC;
