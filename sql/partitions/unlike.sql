-- sql/partitions/unlike.sql
--
-- With row security the partitions get no privileges: they would show what
-- policies hide.

CREATE FUNCTION zbxhist_internal.unlike(parent regclass, partition regclass)
RETURNS text[]
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT array_remove(ARRAY[
        CASE WHEN zbxhist_internal.describe_grants(partition)
                  <> CASE WHEN source.relrowsecurity THEN '{}'
                          ELSE zbxhist_internal.describe_grants(parent) END
             THEN 'privileges' END,
        CASE WHEN EXISTS (SELECT FROM zbxhist_internal.missing_foreign_keys(parent, partition))
             THEN 'foreign keys' END,
        CASE WHEN EXISTS (SELECT FROM zbxhist_internal.row_triggers(parent) t
                           WHERE NOT EXISTS (SELECT FROM pg_trigger o
                                              WHERE o.tgrelid = partition AND o.tgname = t.tgname))
             THEN 'row triggers' END], NULL)
      FROM pg_class source
     WHERE source.oid = parent
$$;

COMMENT ON FUNCTION zbxhist_internal.unlike(regclass, regclass) IS
'What a partition lacks of its parent, or has otherwise: privileges, foreign keys, row triggers (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.unlike(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.unlike(regclass, regclass) TO PUBLIC;
