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
        SELECT x.indexrelid::regclass AS index, x.indisvalid AND x.indisready AS is_valid,
               substring(pg_get_indexdef(x.indexrelid) FROM ' USING (.*)$') AS definition, w.wanted
          FROM pg_index x
          LEFT JOIN (VALUES ('btree (last_clock) WHERE (batch IS NULL)'),
                            ('btree (batch, last_itemid, first_itemid) WHERE (batch IS NOT NULL)')) w (wanted)
            ON regexp_replace(pg_get_indexdef(x.indexrelid), '^.* USING (.*\)) (WITH \(.*\) |TABLESPACE \S+ )?(WHERE .*)$', '\1 \3') = w.wanted
           AND NOT x.indisunique
         WHERE x.indrelid = runs)
    SELECT format('index %s is not valid', m.index), format('REINDEX INDEX %s;', m.index)
      FROM made m WHERE m.wanted IS NOT NULL AND NOT m.is_valid
     UNION ALL
    SELECT 'it has no index (last_clock)', format('CREATE INDEX ON %s (last_clock) WHERE batch IS NULL;', runs)
     WHERE NOT EXISTS (SELECT FROM made m WHERE m.wanted ~ 'last_clock')
     UNION ALL
    SELECT 'it has no index (batch, last_itemid, first_itemid)', format('CREATE INDEX ON %s (batch, last_itemid) WHERE batch IS NOT NULL;', runs)
     WHERE NOT EXISTS (SELECT FROM made m WHERE m.wanted ~ 'last_itemid')
     UNION ALL
    SELECT format('it has another index, %s', m.index), format('DROP INDEX %s;', m.index)
      FROM made m
     WHERE m.wanted IS NULL
        OR m.index <> (SELECT min(o.index::oid) FROM made o WHERE o.wanted = m.wanted)
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
