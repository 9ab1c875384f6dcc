-- sql/partitions/why_no_runs.sql
--
-- Runs have no index on the key: it is looked up as in packed days.  What a row
-- would be checked by or would set off in a partition keeps it from being stored
-- in a run, see src/ingest/run_table.c.  And tables of runs have two columns with
-- names that packed days do not have.

CREATE FUNCTION zbxhist_internal.why_no_runs(parent regclass)
RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    problem text := zbxhist_internal.not_packable(parent, parent);
    keys    name[];
BEGIN
    IF problem IS NOT NULL THEN
        RETURN format('it cannot be packed: %s', problem);
    END IF;
    IF NOT EXISTS (SELECT FROM pg_index x
                    WHERE x.indrelid = parent AND x.indisunique AND x.indisvalid) THEN
        RETURN 'it has no unique key';
    END IF;
    problem := (SELECT min(o.name)
                  FROM unnest('{run,batch}'::text[]) o (name)
                 WHERE EXISTS (SELECT FROM pg_attribute a
                                 LEFT JOIN zbxhist_internal.packed_columns(zbxhist_internal.packed_table(parent)) c
                                           ON c.column_name = a.attname
                                WHERE a.attrelid = parent AND a.attnum > 0 AND NOT a.attisdropped
                                  AND coalesce(c.packed_name, a.attname) = o.name));
    IF problem IS NOT NULL THEN
        RETURN format('tables of runs have a column "%s" of their own', problem);
    END IF;
    keys := ARRAY(SELECT a.attname FROM pg_attribute a
                   WHERE a.attrelid = parent AND a.attname IN ('itemid', 'clock', 'ns')
                     AND a.attnum > 0 AND NOT a.attisdropped AND NOT a.attnotnull);
    IF keys <> '{}' THEN
        RETURN format('column "%s" of its key can be null', keys[1]);
    END IF;
    RETURN coalesce(
        (SELECT format('trigger "%s" is fired by its INSERTs', min(t.tgname))
           FROM pg_trigger t
          WHERE t.tgrelid = parent AND t.tgtype & 4 <> 0 AND NOT t.tgisinternal
            AND t.tgfoid <> 'zbxhist.route()'::regprocedure
         HAVING count(*) > 0),
        (SELECT format('its rows are checked by constraint "%s"', min(c.conname))
           FROM pg_constraint c
          WHERE c.conrelid = parent AND c.contype IN ('c', 'f')
         HAVING count(*) > 0),
        (SELECT format('publication "%s" would not publish them', min(p.pubname))
           FROM pg_publication p
          WHERE p.pubinsert
            AND EXISTS (SELECT FROM pg_class k
                          JOIN pg_namespace n ON n.oid = k.relnamespace
                          JOIN pg_publication_tables t
                            ON t.pubname = p.pubname AND t.schemaname = n.nspname AND t.tablename = k.relname
                         WHERE k.oid = parent)
         HAVING count(*) > 0),
        (SELECT format('column "%s" is generated', min(a.attname))
           FROM pg_attribute a
          WHERE a.attrelid = parent AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = 's'
         HAVING count(*) > 0));
END
$$;

COMMENT ON FUNCTION zbxhist_internal.why_no_runs(regclass) IS
'Why new values of a table cannot be stored as runs; NULL if they can (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.why_no_runs(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.why_no_runs(regclass) TO PUBLIC;
