-- sql/migrate/native.sql

-- Clock range of a partition of a natively partitioned table, from included, to excluded; NULLs for
-- a default partition.
CREATE FUNCTION zbxhist_internal.native_bounds(partition regclass, OUT from_clock bigint, OUT to_clock bigint)
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT replace(b.clocks[1], 'MINVALUE', '-2147483648')::bigint, replace(b.clocks[2], 'MAXVALUE', '2147483648')::bigint
      FROM pg_class k
      LEFT JOIN LATERAL regexp_match(pg_get_expr(k.relpartbound, k.oid),
                                     'FROM \(''?(-?\d+|MINVALUE)''?\) TO \(''?(-?\d+|MAXVALUE)''?\)') b (clocks) ON true
     WHERE k.oid = partition
$$;

-- Marks the constraint zbxhist_clock of a partition of a natively partitioned table as valid,
-- without reading its rows.
CREATE FUNCTION zbxhist_internal.trust_bounds(partition regclass) RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_trust_bounds';

-- Gives a partition of a natively partitioned table its bounds as the constraint zbxhist_clock,
-- without reading its rows.
CREATE FUNCTION zbxhist_internal.add_bounds(partition regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM zbxhist_internal.execute_as_owner(partition, format(
                'ALTER TABLE %s ADD CONSTRAINT zbxhist_clock CHECK (%s) NOT VALID', partition,
                coalesce(nullif(zbxhist_internal.bounds_condition(n.from_clock, n.to_clock), ''), 'clock >= -2147483648')))
       FROM zbxhist_internal.native_bounds(partition) n;
    PERFORM zbxhist_internal.trust_bounds(partition);
END
$$;

-- The partitions of a natively partitioned table, the default one last, and whether each has the
-- constraint zbxhist_clock already.
CREATE FUNCTION zbxhist_internal.native_partitions(parent regclass)
RETURNS TABLE (partition regclass, from_clock bigint, to_clock bigint, is_default boolean, is_bounded boolean)
LANGUAGE sql STABLE STRICT PARALLEL SAFE ROWS 100 SET search_path = pg_catalog, pg_temp AS $$
    SELECT i.inhrelid::regclass, n.from_clock, n.to_clock, n.from_clock IS NULL,
           (b.from_clock, b.to_clock) IS NOT DISTINCT FROM (n.from_clock, n.to_clock)
      FROM pg_inherits i,
           zbxhist_internal.native_bounds(i.inhrelid) n,
           zbxhist.partition_bounds(i.inhrelid) b
     WHERE i.inhparent = native_partitions.parent
     ORDER BY n.from_clock
$$;

-- What pg_partman has written down for a table, as far as the caller may read it; NULLs if nothing.
-- pg_partman writes names without quotes.  What it does with tables past retention
-- is to be done on: nobody has agreed to more.
CREATE FUNCTION zbxhist_internal.partman_entry(
    parent regclass, OUT config regclass, OUT key text, OUT template regclass, OUT retention interval, OUT action text,
    OUT schema_name name)
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    catalog CONSTANT regclass := zbxhist_internal.catalog_of('pg_partman', 'part_config');
    keeps   boolean := true;
BEGIN
    SELECT zbxhist_internal.stored_setting(catalog, 'parent_table', 'parent_table', n.nspname || '.' || k.relname)
      INTO key
      FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace
     WHERE k.oid = parent;
    IF key IS NULL THEN
        RETURN;
    END IF;
    config := catalog;
    SELECT k.oid::regclass INTO template
      FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace
     WHERE n.nspname || '.' || k.relname
           = zbxhist_internal.stored_setting(catalog, 'template_table', 'parent_table', key);
    -- of built-in types: nobody's operators are run
    IF 2 = (SELECT count(*) FROM pg_attribute a
             WHERE a.attrelid = catalog
               AND (a.attname, a.atttypid) IN (('parent_table', 'text'::regtype), ('retention_keep_table', 'boolean'::regtype))) THEN
        EXECUTE format('SELECT retention_keep_table FROM %s WHERE parent_table = $1', catalog)
            INTO keeps USING key;
    END IF;
    BEGIN
        retention := zbxhist_internal.stored_setting(catalog, 'retention', 'parent_table', key)::interval;
    EXCEPTION WHEN data_exception THEN
        retention := NULL;
    END;
    schema_name := zbxhist_internal.stored_setting(catalog, 'retention_schema', 'parent_table', key);
    action := CASE WHEN schema_name IS NOT NULL OR retention IS NOT NULL AND keeps THEN 'detach' END;
END
$$;

-- Whether a table is the template that pg_partman makes for a table, is empty, and may be dropped
-- by the caller.
CREATE FUNCTION zbxhist_internal.is_partman_template(config regclass, template regclass, key text) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT count(*) > 0
      FROM pg_class k
      JOIN pg_class c ON c.oid = config AND c.relnamespace = k.relnamespace
     WHERE k.oid = template AND k.relkind = 'r'
       AND k.relname = left('template_' || replace(key, '.', '_'), 63)::name
       AND pg_has_role(k.relowner, 'USAGE')
       AND pg_relation_size(k.oid) = 0
       AND zbxhist_internal.dependent_object(template) IS NULL
$$;

-- Takes a table out of the care of pg_partman.
-- Its row is locked before the table is, as by pg_partman's own maintenance.  A
-- template is dropped with it only if it is one that pg_partman has made for
-- this table.
CREATE FUNCTION zbxhist_internal.leave_partman(parent regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    entry   CONSTANT record := zbxhist_internal.partman_entry(parent);
    command CONSTANT text := format('DELETE FROM %s WHERE parent_table = $1', entry.config);
BEGIN
    IF entry.config IS NULL THEN
        RETURN;
    END IF;
    PERFORM set_config('lock_timeout', zbxhist_internal.patient_lock_timeout()::text, true);
    -- what triggers there are is its owner's code
    IF pg_has_role((SELECT k.relowner FROM pg_class k WHERE k.oid = entry.config), 'USAGE') THEN
        PERFORM zbxhist_internal.execute_as_owner(entry.config, command, entry.key);
    ELSE
        EXECUTE command USING entry.key;
    END IF;
    IF zbxhist_internal.is_partman_template(entry.config, entry.template, entry.key) THEN
        PERFORM zbxhist_internal.execute_as_owner(entry.template, format('DROP TABLE %s', entry.template));
    END IF;
END
$$;

-- What of a natively partitioned table could not be taken over with its partitions, and the command
-- that removes it; NULL if there is nothing.
-- The parent is replaced by a new table: what hangs on the old one and is not
-- made anew would be gone.
CREATE FUNCTION zbxhist_internal.native_obstacle(parent regclass, OUT problem text, OUT remedy text)
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
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

-- Raises an error unless a plain table can take the place of a partitioned one.
CREATE FUNCTION zbxhist_internal.verify_replaceable(parent regclass) RETURNS void
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    relation pg_class;
    obstacle record;
BEGIN
    SELECT * INTO STRICT relation FROM pg_class k WHERE k.oid = parent;
    SELECT * INTO obstacle FROM zbxhist_internal.native_obstacle(parent);
    PERFORM zbxhist_internal.refuse('55000', format('cannot take over the partitions of table %s: %s', parent, obstacle.problem),
        hint => obstacle.remedy)
      WHERE obstacle.problem IS NOT NULL;
    PERFORM zbxhist_internal.refuse('42501', format('role %s may not create tables in schema %s',
        pg_get_userbyid(relation.relowner), relation.relnamespace::regnamespace),
        hint => format('GRANT CREATE ON SCHEMA %s TO %I;', relation.relnamespace::regnamespace, pg_get_userbyid(relation.relowner)))
      WHERE NOT has_schema_privilege(relation.relowner, relation.relnamespace, 'CREATE');
END
$$;

-- Raises an error unless the partitions of a natively partitioned table can be taken over.
CREATE FUNCTION zbxhist_internal.verify_native(parent regclass) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    config   CONSTANT regclass := zbxhist_internal.extension_table('pg_partman', 'part_config');
    schema   CONSTANT regnamespace := (SELECT k.relnamespace FROM pg_class k WHERE k.oid = config);
    relation pg_class;
    found_at record;
    counted  bigint;
BEGIN
    PERFORM zbxhist_internal.refuse('22004', 'table must not be null')
      WHERE parent IS NULL;
    SELECT * INTO relation FROM pg_class k WHERE k.oid = parent;
    PERFORM zbxhist_internal.refuse('42809', format('table %s is not a natively partitioned one', parent),
        hint => CASE WHEN EXISTS (SELECT FROM zbxhist.parent_config c WHERE c.parent = verify_native.parent)
                     THEN 'zbxhist manages it already: SELECT * FROM zbxhist.status;'
                     ELSE format('SELECT zbxhist.create_parent(%L);', parent) END)
      WHERE relation.relkind IS DISTINCT FROM 'p';
    PERFORM zbxhist_internal.refuse('42809', format('cannot manage %s: it is a partition itself', parent),
        hint => 'Name the table at the top.')
      WHERE relation.relispartition;
    PERFORM zbxhist_internal.require_owner(parent);
    PERFORM zbxhist_internal.verify_columns(parent);
    PERFORM zbxhist_internal.verify_replaceable(parent);
    PERFORM zbxhist_internal.refuse('0A000', format('the partitions of table "%s" are not ranges of the column "clock" alone', relation.relname))
      WHERE NOT EXISTS (SELECT FROM pg_partitioned_table t
                          JOIN pg_attribute a ON (a.attrelid, a.attnum) = (t.partrelid, t.partattrs[0])
                          JOIN pg_opclass o ON o.oid = t.partclass[0]
                          JOIN pg_opfamily f ON f.oid = o.opcfamily
                         WHERE t.partrelid = parent AND t.partstrat = 'r' AND t.partnatts = 1 AND a.attname = 'clock'
                           AND a.atttypid = 'integer'::regtype
                           AND (f.opfname, f.opfnamespace) = ('integer_ops', 'pg_catalog'::regnamespace));
    SELECT * INTO found_at FROM zbxhist_internal.native_partitions(parent) p
      JOIN pg_constraint c ON c.conrelid = p.partition AND c.conname = 'zbxhist_clock'
     WHERE NOT p.is_bounded OR p.is_default;
    IF FOUND THEN
        PERFORM zbxhist_internal.refuse('42710', format('table %s has a constraint of its own named "zbxhist_clock"', found_at.partition),
            hint => format('ALTER TABLE %s DROP CONSTRAINT zbxhist_clock;', found_at.partition));
    END IF;
    SELECT p.partition, EXISTS (SELECT FROM zbxhist_internal.native_partitions(parent) d WHERE d.is_default) AS has_default
      INTO found_at
      FROM zbxhist_internal.native_partitions(parent) p
     WHERE p.to_clock > zbxhist_internal.current_clock() AND p.to_clock - p.from_clock > 366 * 86400
     LIMIT 1;
    IF FOUND THEN
        PERFORM zbxhist_internal.refuse('0A000', format('partition %s covers more than a year, and rows to come', found_at.partition),
            detail => 'It would take them all, and never be packed or dropped.',
            hint => format('BEGIN; ALTER TABLE %s DETACH PARTITION %s;%s COMMIT;', parent, found_at.partition,
                           CASE WHEN found_at.has_default THEN ''
                                ELSE format(' ALTER TABLE %s ATTACH PARTITION %s DEFAULT;', parent, found_at.partition) END));
    END IF;
    counted := (SELECT count(*) FROM zbxhist_internal.native_partitions(parent));
    PERFORM zbxhist_internal.refuse('55000', format('table %s has no partitions', parent),
        hint => 'An empty table is better created as a plain one, and given to zbxhist.setup().')
      WHERE counted = 0;
    PERFORM zbxhist_internal.refuse('54000', format('table %s has %s partitions, too many to be locked at once', parent, counted),
        detail => 'PostgreSQL has to be restarted after this.',
        hint => format('ALTER SYSTEM SET max_locks_per_transaction = %s;',
                       ceil(current_setting('max_locks_per_transaction')::numeric * counted
                            / zbxhist_internal.most_partitions())))
      WHERE counted > 2 * zbxhist_internal.most_partitions();
    PERFORM zbxhist_internal.refuse('42501', format('permission denied for schema %s of pg_partman', schema),
        hint => format('GRANT USAGE ON SCHEMA %s TO %I;', schema, current_user))
      WHERE NOT has_schema_privilege(schema, 'USAGE');
    PERFORM zbxhist_internal.refuse('42501', format('permission denied for table %s of pg_partman', config),
        hint => format('GRANT SELECT, DELETE ON %s TO %I;', config, current_user))
      WHERE NOT (has_table_privilege(config, 'SELECT') AND has_table_privilege(config, 'DELETE'));
END
$$;
