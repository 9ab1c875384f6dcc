-- sql/check/check_indexes.sql
--
-- The indexes that maintenance builds are none of these, see step_index.

CREATE FUNCTION zbxhist_internal.check_indexes(parent regclass)
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    lacking record;
    extra   record;
BEGIN
    FOR lacking IN
        SELECT k.relname, s.is_searchable, array_agg(p.partition::text ORDER BY p.from_clock) AS objects,
               (array_agg(CASE WHEN c.oid IS NULL
                               THEN regexp_replace(pg_get_indexdef(x.indexrelid), '^(CREATE (UNIQUE )?INDEX ).*? USING ',
                                                   '\1ON ' || p.partition || ' USING ') || ';'
                               ELSE format('ALTER TABLE %s ADD %s;', p.partition, pg_get_constraintdef(c.oid)) END
                          ORDER BY p.from_clock))[1] AS command
          FROM zbxhist.list_partitions(parent) p
         CROSS JOIN LATERAL zbxhist_internal.missing_indexes(check_indexes.parent, p.partition) x
          JOIN pg_class k ON k.oid = x.indexrelid
         CROSS JOIN LATERAL (SELECT zbxhist_internal.is_searchable(p.partition, x.indexrelid)) s (is_searchable)
          LEFT JOIN pg_constraint c ON c.conindid = x.indexrelid AND c.conrelid = x.indrelid
                                   AND c.contype IN ('p', 'u', 'x')
         WHERE (x.indisunique OR x.indisexclusion) AND zbxhist_internal.own_pages(p.partition) > 0
         GROUP BY k.relname, s.is_searchable
    LOOP
        RETURN QUERY SELECT CASE WHEN lacking.is_searchable THEN 'warning' ELSE 'error' END,
            'indexes', zbxhist_internal.object_list(lacking.objects),
            format('it lacks the key "%s" of its parent: two of its rows can have the same key', lacking.relname)
            || CASE WHEN lacking.is_searchable THEN '' ELSE
                    '.  INSERTs store keys that it has once more, for it has no index to look for them' END,
            lacking.command;
    END LOOP;
    RETURN QUERY
        SELECT 'warning', 'invalid_index', u.relation::text,
               format('of its indexes these were not built to their end: %s.  No query uses them, and INSERT, UPDATE and DELETE may have to keep them up, or fail',
                      string_agg(u.index::text, ', ' ORDER BY u.index::text))
               || CASE WHEN u.is_dropped THEN '.  Maintenance drops them' ELSE '' END,
               CASE WHEN u.is_dropped THEN 'CALL zbxhist.run_maintenance();'
                    ELSE format('DROP INDEX CONCURRENTLY %s;', min(u.index::text)) END
          FROM zbxhist_internal.unfinished_indexes(check_indexes.parent) u
         WHERE u.is_dropped OR NOT EXISTS (SELECT FROM zbxhist.packed_day d WHERE d.day = u.relation)
         GROUP BY u.relation, u.is_dropped, CASE WHEN NOT u.is_dropped THEN u.index END;
    SELECT array_agg(DISTINCT p.partition::text) AS objects,
           string_agg(x.indexrelid::regclass::text, ', ' ORDER BY p.from_clock, x.indexrelid::regclass::text) AS names
      INTO extra
      FROM zbxhist.list_partitions(parent) p
     CROSS JOIN LATERAL zbxhist_internal.missing_indexes(p.partition, check_indexes.parent) x
     WHERE NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = x.indexrelid AND c.conrelid = x.indrelid);
    IF extra.names IS NOT NULL THEN
        RETURN QUERY SELECT 'info', 'own_index', zbxhist_internal.object_list(extra.objects),
            'it has an index that its parent has not: each INSERT keeps it up, and fails if it is unique and a row violates it.  Drop it if this is not meant',
            format('DROP INDEX %s;', extra.names);
    END IF;
    FOR extra IN
        SELECT c.conname,
               array_agg(p.partition::text ORDER BY p.from_clock) AS objects,
               (array_agg(format('ALTER TABLE %s DROP CONSTRAINT %I;', p.partition, c.conname)
                          ORDER BY p.from_clock))[1] AS command
          FROM zbxhist.list_partitions(parent) p
         CROSS JOIN LATERAL zbxhist_internal.missing_indexes(p.partition, check_indexes.parent) x
          JOIN pg_constraint c ON c.conindid = x.indexrelid AND c.conrelid = x.indrelid
         WHERE NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = check_indexes.parent AND i.indisunique)
         GROUP BY c.conname
    LOOP
        RETURN QUERY SELECT 'info', 'own_index', zbxhist_internal.object_list(extra.objects),
            'it has a key that its parent has not: an INSERT fails if a row violates it.  Drop it if this is not meant',
            extra.command;
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.check_indexes(regclass) IS
'The part of check that is about keys which partitions lack, and indexes which they have alone (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.check_indexes(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.check_indexes(regclass) TO PUBLIC;
