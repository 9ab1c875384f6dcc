-- sql/check/altered_runs.sql
--
-- What create_runs has made, and what INSERT wants of it: see
-- src/ingest/run_table.c and src/packed/day/run_index.c.

CREATE FUNCTION zbxhist_internal.altered_runs(runs regclass)
RETURNS TABLE (problem text, remedy text)
LANGUAGE sql STABLE STRICT PARALLEL SAFE ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
    WITH made AS MATERIALIZED (
        SELECT x.indexrelid::regclass AS index, x.indisvalid, c.columns
          FROM pg_index x
         CROSS JOIN LATERAL (SELECT zbxhist_internal.run_index_columns(x.indexrelid)) c (columns)
         WHERE x.indrelid = runs
            -- see check_indexes
           AND (x.indisvalid OR c.columns IS NOT NULL AND NOT EXISTS (
                   SELECT FROM pg_index o
                    WHERE o.indrelid = runs AND o.indisvalid
                      AND zbxhist_internal.run_index_columns(o.indexrelid) = c.columns)))
    SELECT format('index %s is not valid', m.index), format('REINDEX INDEX %s;', m.index)
      FROM made m WHERE m.columns IS NOT NULL AND NOT m.indisvalid
     UNION ALL
    SELECT format('it has no index (%s)', w.columns),
           format('CREATE INDEX ON %s (%s) WHERE %s;', runs, w.columns, w.condition)
      FROM zbxhist_internal.run_indexes() w
     WHERE NOT EXISTS (SELECT FROM made m WHERE m.columns = w.columns)
     UNION ALL
    SELECT format('it has another index, %s', m.index), format('DROP INDEX %s;', m.index)
      FROM made m
     WHERE m.columns IS NULL
        OR m.index <> (SELECT min(o.index::oid) FROM made o WHERE o.columns = m.columns)
     UNION ALL
    SELECT format('it has a trigger, "%s"', t.tgname), format('DROP TRIGGER %I ON %s;', t.tgname, runs)
      FROM pg_trigger t WHERE t.tgrelid = runs AND NOT t.tgisinternal
     UNION ALL
    SELECT format('it has a constraint, "%s"', c.conname), format('ALTER TABLE %s DROP CONSTRAINT %I;', runs, c.conname)
      FROM pg_constraint c WHERE c.conrelid = runs AND c.contype IN ('c', 'f') AND c.conname <> 'zbxhist_range'
     UNION ALL
    SELECT 'it has row security', format('ALTER TABLE %s DISABLE ROW LEVEL SECURITY;', runs)
      FROM pg_class k WHERE k.oid = runs AND k.relrowsecurity
$$;

COMMENT ON FUNCTION zbxhist_internal.altered_runs(regclass) IS
'What keeps values from being stored as runs in a table made for that, and the command that mends it (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.altered_runs(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.altered_runs(regclass) TO PUBLIC;
