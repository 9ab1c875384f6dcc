-- sql/migrate/native_obstacle.sql
--
-- The parent is replaced by a new table: what hangs on the old one and is not
-- made anew would be gone.

CREATE FUNCTION zbxhist_internal.native_obstacle(parent regclass, OUT problem text, OUT remedy text)
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT o.problem, o.remedy FROM (
        SELECT format('it has the trigger "%s"', t.tgname), format('DROP TRIGGER %I ON %s;', t.tgname, parent)
          FROM pg_trigger t
         WHERE t.tgrelid = parent AND NOT t.tgisinternal
           AND NOT EXISTS (SELECT FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
                            WHERE d.classid = 'pg_proc'::regclass AND d.objid = t.tgfoid AND d.deptype = 'e'
                              AND d.refclassid = 'pg_extension'::regclass AND e.extname = 'timescaledb')
         UNION ALL
        SELECT 'it has row security', format('ALTER TABLE %s DISABLE ROW LEVEL SECURITY;', parent)
          FROM pg_class k WHERE k.oid = parent AND k.relrowsecurity
         UNION ALL
        SELECT format('it has the policy "%s"', p.polname), format('DROP POLICY %I ON %s;', p.polname, parent)
          FROM pg_policy p WHERE p.polrelid = parent
         UNION ALL
        SELECT format('it has the rule "%s"', r.rulename), format('DROP RULE %I ON %s;', r.rulename, parent)
          FROM pg_rewrite r WHERE r.ev_class = parent
         UNION ALL
        SELECT format('it is in the publication "%s"', p.pubname),
               format('ALTER PUBLICATION %I DROP TABLE %s;', p.pubname, parent)
          FROM pg_publication_rel r JOIN pg_publication p ON p.oid = r.prpubid
         WHERE r.prrelid = parent
         UNION ALL
        SELECT format('it has the foreign key "%s"', c.conname),
               format('ALTER TABLE %s DROP CONSTRAINT %I;', c.conrelid::regclass, c.conname)
          FROM pg_constraint c WHERE c.contype = 'f' AND c.conrelid = parent
         UNION ALL
        SELECT format('the foreign key "%s" of table %s refers to it', c.conname, c.conrelid::regclass),
               format('ALTER TABLE %s DROP CONSTRAINT %I;', c.conrelid::regclass, c.conname)
          FROM pg_constraint c WHERE c.contype = 'f' AND c.confrelid = parent AND c.conparentid = 0
         UNION ALL
        SELECT format('sequence %s belongs to a column of it', d.objid::regclass),
               format('ALTER SEQUENCE %s OWNED BY NONE;', d.objid::regclass)
          FROM pg_depend d JOIN pg_class k ON k.oid = d.objid AND k.relkind = 'S'
         WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass
           AND d.refobjid = parent AND d.deptype IN ('a', 'i')
         UNION ALL
        SELECT format('%s depends on it', d), 'Drop that, and create it again afterwards.'
          FROM zbxhist_internal.dependent_object(parent) d
         WHERE d IS NOT NULL AND parent NOT IN (SELECT zbxhist_internal.hypertables())
         UNION ALL
        -- chunks inherit from their hypertable; a view would go on showing that
        SELECT format('view %s depends on it', r.ev_class::regclass),
               'Drop that, and create it again afterwards.'
          FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid
         WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = parent
           AND d.deptype = 'n' AND r.ev_class <> parent AND parent IN (SELECT zbxhist_internal.hypertables())
         UNION ALL
        SELECT format('its partition %s is %s', k.oid::regclass,
                      CASE k.relkind WHEN 'p' THEN 'partitioned itself' ELSE 'not a plain table' END),
               format('ALTER TABLE %s DETACH PARTITION %s;', parent, k.oid::regclass)
          FROM pg_inherits i JOIN pg_class k ON k.oid = i.inhrelid
         WHERE i.inhparent = parent AND k.relkind <> 'r'
         UNION ALL
        SELECT format('its partition %s is being detached', i.inhrelid::regclass),
               format('ALTER TABLE %s DETACH PARTITION %s FINALIZE;', parent, i.inhrelid::regclass)
          FROM pg_inherits i WHERE i.inhparent = parent AND i.inhdetachpending
         UNION ALL
        SELECT format('its partition %s belongs to another role', k.oid::regclass),
               format('ALTER TABLE %s OWNER TO %I;', k.oid::regclass, pg_get_userbyid(p.relowner))
          FROM pg_inherits i
          JOIN pg_class k ON k.oid = i.inhrelid
          JOIN pg_class p ON p.oid = i.inhparent
         WHERE i.inhparent = parent AND k.relowner <> p.relowner
         UNION ALL
        -- it becomes the table itself, and these would hold for all rows
        SELECT format('its default partition %s, which has rows, has "%s" of its own', d.partdefid::regclass, w.name),
               CASE WHEN w.constraint_name IS NULL THEN format('DROP INDEX %s;', w.index)
                    ELSE format('ALTER TABLE %s DROP CONSTRAINT %I;', d.partdefid::regclass, w.constraint_name) END
          FROM pg_partitioned_table d
         CROSS JOIN LATERAL (
               SELECT c.conname, c.conname, NULL FROM pg_constraint c
                WHERE c.conrelid = d.partdefid AND c.contype IN ('c', 'f') AND c.coninhcount = 0
                  AND c.conname <> 'zbxhist_clock'
                UNION ALL
               SELECT k.relname, c.conname, k.oid::regclass
                 FROM pg_index x
                 JOIN pg_class k ON k.oid = x.indexrelid
                 LEFT JOIN pg_constraint c ON c.conindid = x.indexrelid AND c.conrelid = x.indrelid
                WHERE x.indrelid = d.partdefid AND (x.indisunique OR x.indisexclusion)
                  AND NOT EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = x.indexrelid)) AS w (name, constraint_name, index)
         WHERE d.partrelid = parent AND d.partdefid <> 0
           AND zbxhist_internal.has_own_rows(d.partdefid, NULL)) AS o (problem, remedy)
     LIMIT 1
$$;

COMMENT ON FUNCTION zbxhist_internal.native_obstacle(regclass) IS
'What of a natively partitioned table could not be taken over with its partitions, and the command that removes it; NULL if there is nothing (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.native_obstacle(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.native_obstacle(regclass) TO PUBLIC;
