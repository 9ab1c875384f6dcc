-- sql/partitions/clone.sql

-- Whether a managed table has the same columns as when a day was packed, so that rows can be merged into
-- the day.
-- The first six columns of a day's table do not come from the managed table.
CREATE FUNCTION zbxhist_internal.has_same_columns(parent regclass, day regclass) RETURNS boolean
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (
        SELECT coalesce(array_agg(format('%s %s', coalesce(c.packed_name, a.attname), a.atttypid) ORDER BY a.attnum)
                            FILTER (WHERE a.attrelid = parent)
                        = array_agg(format('%s %s', a.attname, a.atttypid) ORDER BY a.attnum)
                            FILTER (WHERE a.attrelid = day), false)
          FROM pg_attribute a
          LEFT JOIN zbxhist_internal.packed_columns(zbxhist_internal.packed_table(parent)) c
                    ON c.column_name = a.attname AND a.attrelid = parent
         WHERE NOT a.attisdropped
           AND (a.attrelid = parent AND a.attnum > 0
                OR a.attrelid = day
                   AND a.attnum > 6
                   AND a.attname NOT IN (SELECT zbxhist_internal.new_columns(zbxhist_internal.packed_table(parent)))));
END
$$;

-- The triggers of tools that copy a table while it is in use: pg_repack, pg-osc, pgroll, Slony.  Such a
-- trigger records changes for the tool.
CREATE FUNCTION zbxhist_internal.tool_triggers(relation regclass) RETURNS SETOF pg_trigger
LANGUAGE sql STABLE STRICT PARALLEL SAFE ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
    SELECT t.*
      FROM pg_trigger t
      JOIN pg_proc f ON f.oid = t.tgfoid
     WHERE t.tgrelid = relation AND NOT t.tgisinternal AND t.tgfoid <> 'zbxhist.route()'::regprocedure
       AND (t.tgname ~ '^((z_)?repack_trigger|primary_to_audit_table_trigger|_pgroll_trigger_.*|_.*_logtrigger)$'
            -- or its function is in a schema that belongs to an extension
            OR EXISTS (SELECT FROM pg_depend d
                        WHERE d.classid = 'pg_namespace'::regclass AND d.objid = f.pronamespace AND d.deptype = 'e'))
$$;

-- The privileges granted on a table and its columns, as sorted text that can be compared.
CREATE FUNCTION zbxhist_internal.describe_grants(relation regclass) RETURNS text[]
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(array_agg(DISTINCT format('%s %s %s%s', p.grantee, p.privilege_type, p.is_grantable, ' (' || p.column_name || ')')), '{}')
      FROM zbxhist_internal.privileges(relation) p
$$;

-- Gives a new table the replica identity of another one, unless that is an index.
CREATE FUNCTION zbxhist_internal.clone_identity(parent regclass, partition regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM zbxhist_internal.execute_as_owner(
                partition, format('ALTER TABLE %s REPLICA IDENTITY %s', partition,
                                  CASE k.relreplident WHEN 'f' THEN 'FULL' ELSE 'NOTHING' END))
       FROM pg_class k
      WHERE k.oid = parent AND k.relreplident IN ('f', 'n');
END
$$;

-- Gives a partition the privileges granted on its parent and its columns, and no others.
CREATE FUNCTION zbxhist_internal.clone_grants(parent regclass, partition regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM zbxhist_internal.revoke_all(partition);
    PERFORM zbxhist_internal.execute_as_owner(partition, format(
                'GRANT %s%s ON TABLE %s TO %s%s', p.privilege_type, ' (' || quote_ident(p.column_name) || ')', partition,
                zbxhist_internal.role_name(p.grantee), CASE WHEN p.is_grantable THEN ' WITH GRANT OPTION' END))
       FROM zbxhist_internal.privileges(parent) p
       JOIN pg_class k ON k.oid = parent
      WHERE NOT k.relrowsecurity;  -- else they would show what policies hide
END
$$;

-- Creates the parent's indexes that a partition lacks; keys only if the partition is empty.
-- Primary key, unique and exclusion constraints come first, then the other indexes, each with the
-- tablespace and the storage settings of the parent's.  PostgreSQL chooses the names, and evaluates
-- expressions as the table's owner when it builds an index.
CREATE FUNCTION zbxhist_internal.clone_indexes(parent regclass, partition regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET default_tablespace = '' AS $$
DECLARE
    item   record;
    prefix text;
    former name;
    copy   oid;
BEGIN
    FOR item IN
        SELECT c.oid AS constraint_oid, c.contype, x.indexrelid, k.relname, k.reloptions,
               x.indisunique, x.indisreplident,
               coalesce(t.spcname, '') AS tablespace,
               CASE WHEN c.oid IS NULL
                    THEN pg_get_indexdef(x.indexrelid)
                    ELSE pg_get_constraintdef(c.oid) END AS definition
          FROM zbxhist_internal.missing_indexes(parent, partition) x
          JOIN pg_class k ON k.oid = x.indexrelid
          LEFT JOIN pg_constraint c ON c.conindid = x.indexrelid AND c.conrelid = x.indrelid
                                   AND c.contype IN ('p', 'u', 'x')
          LEFT JOIN pg_tablespace t ON t.oid = k.reltablespace
         WHERE zbxhist_internal.own_pages(partition) = 0 OR NOT x.indisunique AND NOT x.indisexclusion
         ORDER BY c.oid IS NULL, c.contype, k.relname
    LOOP
        PERFORM set_config('default_tablespace', item.tablespace, true);
        IF item.constraint_oid IS NOT NULL THEN
            -- an empty partition may have a primary key that the parent has no more
            SELECT c.conname INTO former FROM pg_constraint c
             WHERE c.conrelid = partition AND c.contype = 'p' AND item.contype = 'p';
            EXECUTE format('ALTER TABLE %s %s ADD %s', partition,
                           'DROP CONSTRAINT ' || quote_ident(former) || ',', item.definition);
        ELSE
            prefix := format('CREATE %sINDEX %I ON %s ',
                             CASE WHEN item.indisunique THEN 'UNIQUE ' ELSE '' END,
                             item.relname, parent);
            PERFORM zbxhist_internal.refuse('0A000', format('cannot copy index "%s" of table %s', item.relname, parent),
                detail => item.definition)
              WHERE NOT starts_with(item.definition, prefix);
            EXECUTE format('CREATE %sINDEX ON %s %s',
                           CASE WHEN item.indisunique THEN 'UNIQUE ' ELSE '' END,
                           partition, substr(item.definition, length(prefix) + 1));
        END IF;
        -- the index just created has the highest OID
        SELECT x.indexrelid INTO STRICT copy
          FROM pg_index x
         WHERE x.indrelid = partition
         ORDER BY x.indexrelid::bigint DESC LIMIT 1;
        IF item.constraint_oid IS NOT NULL AND item.reloptions IS NOT NULL THEN
            PERFORM zbxhist_internal.execute_as_owner(partition, format(
                'ALTER INDEX %s SET (%s)', copy::regclass,
                zbxhist_internal.format_options(item.reloptions)));
        END IF;
        IF item.indisreplident THEN
            PERFORM zbxhist_internal.execute_as_owner(partition, format(
                'ALTER TABLE %s REPLICA IDENTITY USING INDEX %I', partition,
                (SELECT k.relname FROM pg_class k WHERE k.oid = copy)));
        END IF;
    END LOOP;
END
$$;

-- Describes an object, such as a view, that depends on a partition, so that DROP of the partition would
-- fail or drop it, too; NULL if there is none.
CREATE FUNCTION zbxhist_internal.dependent_object(partition regclass) RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (
        SELECT pg_describe_object(d.classid, d.objid, d.objsubid)
          FROM pg_depend d
         WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = dependent_object.partition
           AND d.deptype = 'n'
           AND d.classid NOT IN ('pg_attrdef'::regclass, 'pg_trigger'::regclass, 'pg_policy'::regclass)
           AND NOT EXISTS (SELECT FROM pg_constraint c
                            WHERE d.classid = 'pg_constraint'::regclass AND c.oid = d.objid
                              AND c.conrelid = dependent_object.partition)
           AND NOT EXISTS (SELECT FROM pg_rewrite r
                            WHERE d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
                              AND r.ev_class = dependent_object.partition)
           AND NOT EXISTS (SELECT FROM pg_index x
                            WHERE d.classid = 'pg_class'::regclass AND x.indexrelid = d.objid)
         LIMIT 1);
END
$$;

-- Describes an object that belongs to a table or depends on it, and that a new table in its place would
-- not have; NULL if there is none.
-- Triggers of TimescaleDB, chunks and partitions do not count.
CREATE FUNCTION zbxhist_internal.attached_object(relation regclass) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('row security of table %s', relation) FROM pg_class k WHERE k.oid = relation AND k.relrowsecurity
     UNION ALL
    SELECT regexp_replace(o.object, '^rule _RETURN on ', '')
      FROM (SELECT pg_describe_object(d.classid, d.objid, 0) AS object
              FROM pg_depend d
              LEFT JOIN pg_trigger t ON d.classid = 'pg_trigger'::regclass AND t.oid = d.objid
              LEFT JOIN pg_constraint c ON d.classid = 'pg_constraint'::regclass AND c.oid = d.objid
              LEFT JOIN pg_class k ON d.classid = 'pg_class'::regclass AND k.oid = d.objid
             WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = relation
               AND (d.classid IN ('pg_policy'::regclass, 'pg_rewrite'::regclass, 'pg_publication_rel'::regclass)
                    OR c.contype = 'f' OR k.relkind = 'S'
                    OR NOT t.tgisinternal AND NOT EXISTS (
                        SELECT FROM pg_depend f JOIN pg_extension e ON e.oid = f.refobjid AND e.extname = 'timescaledb'
                         WHERE f.classid = 'pg_proc'::regclass AND f.objid = t.tgfoid AND f.deptype = 'e'))
             UNION
            SELECT zbxhist_internal.dependent_object(relation)
             WHERE relation NOT IN (SELECT zbxhist_internal.hypertables())
             ORDER BY object) o
     WHERE o.object IS NOT NULL
     LIMIT 1
$$;

-- Creates an empty table with the columns, defaults, constraints, indexes, storage settings, owner
-- and privileges of another one, partitioned or not.
-- It is created as the owner, because expressions of columns and indexes are the owner's code.
CREATE FUNCTION zbxhist_internal.create_like(source regclass, schema regnamespace, new_name name, partitioned_by text DEFAULT NULL)
RETURNS regclass
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET default_tablespace = ''
SET client_min_messages = warning AS $$
DECLARE
    relation record;
    result   regclass;
BEGIN
    SELECT k.relpersistence, t.spcname,
           -- a partitioned table has no storage settings: take those of its first partition
           zbxhist_internal.format_options(coalesce(k.reloptions,
               (SELECT p.reloptions FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhrelid
                 WHERE i.inhparent = k.oid AND k.relkind = 'p' ORDER BY p.oid LIMIT 1))) AS options
      INTO relation
      FROM pg_class k
      LEFT JOIN pg_tablespace t ON t.oid = k.reltablespace
     WHERE k.oid = source;
    PERFORM zbxhist_internal.execute_as_owner(source, format(
        'CREATE %sTABLE %s.%I (LIKE %s INCLUDING ALL)%s%s',
        CASE WHEN relation.relpersistence = 'u' THEN 'UNLOGGED ' END, schema, new_name, source,
        coalesce(' PARTITION BY ' || partitioned_by, ' WITH (' || nullif(relation.options, '') || ')'),
        ' TABLESPACE ' || quote_ident(relation.spcname)));
    result := format('%s.%I', schema, new_name)::regclass;
    PERFORM zbxhist_internal.clone_identity(source, result);
    PERFORM zbxhist_internal.clone_grants(source, result);
    RETURN result;
END
$$;

-- Puts a new table in the place of another one, which is renamed, or dropped if no name is given.
-- The new table's indexes get the old names, too, because Zabbix's upgrades refer to indexes by name.
CREATE FUNCTION zbxhist_internal.take_place(former regclass, new_table regclass, former_name name DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    old_name CONSTANT name := (SELECT k.relname FROM pg_class k WHERE k.oid = former);
    comment  CONSTANT text := obj_description(former, 'pg_class');
    indexes  CONSTANT name[] := ARRAY(SELECT k.relname FROM pg_index x JOIN pg_class k ON k.oid = x.indexrelid
                                       WHERE x.indrelid = former ORDER BY x.indexrelid);
    formers  CONSTANT text[] := ARRAY(SELECT zbxhist_internal.describe_index(x.indexrelid) FROM pg_index x
                                       WHERE x.indrelid = former ORDER BY x.indexrelid);
    copy     regclass;
BEGIN
    IF former_name IS NULL THEN
        PERFORM zbxhist_internal.execute_as_owner(former, format('DROP TABLE %s', former));
    ELSE
        PERFORM zbxhist_internal.execute_as_owner(former, format(
                    'ALTER INDEX %s RENAME TO %I', k.oid::regclass,
                    zbxhist_internal.free_name(k.relnamespace, k.relname, '_old')))
           FROM pg_index x JOIN pg_class k ON k.oid = x.indexrelid WHERE x.indrelid = former;
        PERFORM zbxhist_internal.execute_as_owner(former, format('ALTER TABLE %s RENAME TO %I', former, former_name));
    END IF;
    PERFORM zbxhist_internal.execute_as_owner(
        new_table, format('ALTER TABLE %s RENAME TO %I', new_table, old_name));
    IF comment IS NOT NULL THEN
        PERFORM zbxhist_internal.execute_as_owner(
            new_table, format('COMMENT ON TABLE %s IS %L', new_table, comment));
    END IF;
    FOR i IN 1 .. cardinality(indexes) LOOP
        SELECT x.indexrelid::regclass INTO copy
          FROM pg_index x JOIN pg_class k ON k.oid = x.indexrelid
         WHERE x.indrelid = new_table AND k.relname <> ALL (indexes)
           AND zbxhist_internal.describe_index(x.indexrelid) = formers[i]
         LIMIT 1;
        IF FOUND THEN
            PERFORM zbxhist_internal.execute_as_owner(
                new_table, format('ALTER INDEX %s RENAME TO %I', copy, indexes[i]));
        END IF;
    END LOOP;
END
$$;
