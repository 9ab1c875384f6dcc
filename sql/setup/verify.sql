-- sql/setup/verify.sql

-- Returns a command of the extension zbxhist_migrate or, if that does not exist, the command that
-- creates it.
CREATE FUNCTION zbxhist_internal.migrate_command(command text) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN EXISTS (SELECT FROM pg_extension e WHERE e.extname = 'zbxhist_migrate') THEN command
                ELSE 'CREATE EXTENSION zbxhist_migrate;' END
$$;

-- Raises an error if the table cannot be managed, before anything is changed.
CREATE FUNCTION zbxhist_internal.verify_table(parent regclass) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    relation pg_class;
    kind     text;
BEGIN
    PERFORM zbxhist_internal.refuse('22004', 'table must not be null')
      WHERE parent IS NULL;
    SELECT * INTO relation FROM pg_class k WHERE k.oid = parent;
    IF NOT FOUND THEN
        PERFORM zbxhist_internal.refuse('42P01', format('table with OID %s does not exist', parent::oid));
    END IF;
    IF relation.relkind <> 'r' THEN
        kind := CASE relation.relkind
            WHEN 'p' THEN 'a natively partitioned table'
            WHEN 'v' THEN 'a view'
            WHEN 'm' THEN 'a materialized view'
            WHEN 'f' THEN 'a foreign table'
            ELSE 'not a table' END;
        PERFORM zbxhist_internal.refuse('42809', format('cannot manage %s: it is %s', parent, kind),
            detail => CASE relation.relkind WHEN 'p' THEN 'The extension zbxhist_migrate takes it over with its partitions.' END,
            hint => CASE relation.relkind
                 WHEN 'p' THEN zbxhist_internal.migrate_command(
                     format('CALL zbxhist.adopt_partitions(%L);', parent))
                 ELSE 'zbxhist manages plain tables.' END);
    END IF;
    PERFORM zbxhist_internal.refuse('0A000', format('cannot manage %s: it is a temporary table', parent))
      WHERE relation.relpersistence = 't';
    PERFORM zbxhist_internal.refuse('42809', format('cannot manage %s: it is a partition or inherits from another table', parent),
        hint => 'Name the table at the top.')
      WHERE relation.relispartition
         OR EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = parent);
    PERFORM zbxhist_internal.refuse('0A000', format('cannot manage %s: it is a typed table', parent))
      WHERE relation.reloftype <> 0;
    PERFORM zbxhist_internal.verify_not_in_other_care(parent);
    PERFORM zbxhist_internal.refuse('42809', format('cannot manage %s: other tables inherit from it', parent),
        hint => 'If these are partitions of an older scheme, move their rows into the table and drop them, and the trigger of that scheme.')
      WHERE (SELECT count(*) FROM pg_inherits i WHERE i.inhparent = parent)
            <> (SELECT count(*) FROM zbxhist.list_partitions(parent))
               + (zbxhist_internal.packed_table(parent) IS NOT NULL)::integer;
    PERFORM zbxhist_internal.refuse('0A000', format('cannot manage %s: a foreign key refers to it', parent),
        hint => 'A foreign key sees only the rows of the table itself, not those of partitions.')
      WHERE EXISTS (SELECT FROM pg_constraint c WHERE c.confrelid = parent);
    PERFORM zbxhist_internal.refuse('0A000', format('cannot manage %s: its %s', parent, o.problem), hint => o.remedy)
       FROM zbxhist_internal.unfollowed_objects(parent) o;
    PERFORM zbxhist_internal.verify_columns(parent);
    PERFORM zbxhist_internal.require_owner(parent);
END
$$;

-- Raises an error if TimescaleDB or pg_partman manages the table.
-- Their catalogs are read only if they exist, so nothing here depends on them, and only if they belong
-- to these extensions, because any role could create a table of such a name.
CREATE FUNCTION zbxhist_internal.verify_not_in_other_care(parent regclass) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    table_schema name;
    table_name   name;
    catalog      regclass;
BEGIN
    SELECT n.nspname, k.relname INTO table_schema, table_name
      FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace
     WHERE k.oid = parent;
    PERFORM zbxhist_internal.refuse('42809', format('cannot manage %s: it is a TimescaleDB hypertable', parent),
        detail => 'The extension zbxhist_migrate takes it over.',
        hint => zbxhist_internal.migrate_command(format('CALL zbxhist.adopt_hypertable(%L);', parent)))
      WHERE parent IN (SELECT zbxhist_internal.hypertables());
    catalog := zbxhist_internal.catalog_of('pg_partman', 'part_config');
    PERFORM zbxhist_internal.refuse('55000', format('cannot manage %s: it is managed by pg_partman', parent),
        detail => 'Take it out first.  Its partitions, if there are any, have to become one table again.',
        hint => format('DELETE FROM %s WHERE parent_table = %L;', catalog, table_schema || '.' || table_name))
      WHERE zbxhist_internal.stored_setting(catalog, 'parent_table', 'parent_table',
                                            table_schema || '.' || table_name) IS NOT NULL;
END
$$;

-- What is wrong with the columns itemid and clock of a table, with an SQLSTATE and the command that
-- fixes it, if there is one; NULLs if they are as Zabbix has them.
CREATE FUNCTION zbxhist_internal.column_problem(
    parent regclass, OUT problem text, OUT state text, OUT remedy text)
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    SELECT f.a[1], f.a[2], f.a[3] INTO problem, state, remedy
      FROM (SELECT w.place, CASE
                   WHEN a.attname IS NULL THEN ARRAY[format('table %s has no column "%s"', parent, w.name), '42703']
                   WHEN a.atttypid <> w.type THEN ARRAY[
                       format('column "%s" of table %s is of type %s, not %s', w.name, parent, a.atttypid::regtype, w.type), '42804', NULL,
                       (SELECT format('ALTER TABLE %s ALTER COLUMN %I TYPE %s;', parent, w.name, w.type)
                          FROM pg_cast t
                         WHERE t.castsource = a.atttypid AND t.casttarget = w.type AND t.castcontext IN ('a', 'i'))]
                   WHEN NOT a.attnotnull THEN ARRAY[format('column "%s" of table %s can be null', w.name, parent), '42804',
                       format('ALTER TABLE %s ALTER COLUMN %I SET NOT NULL;', parent, w.name)]
                   WHEN a.attgenerated <> '' THEN ARRAY[format('column "%s" of table %s is generated', w.name, parent), '0A000'] END
              FROM (VALUES (1, 'itemid'::name, 'bigint'::regtype), (2, 'clock', 'integer')) w (place, name, type)
              LEFT JOIN pg_attribute a ON a.attrelid = parent AND a.attname = w.name AND a.attnum > 0 AND NOT a.attisdropped
             UNION ALL
            SELECT 3, ARRAY[format('table %s has a constraint of its own named "zbxhist_clock"', parent), '42710',
                            format('ALTER TABLE %s DROP CONSTRAINT zbxhist_clock;', parent)]
              FROM pg_constraint c
             WHERE c.conrelid = parent AND c.conname = 'zbxhist_clock') f (place, a)
     WHERE f.a IS NOT NULL
     ORDER BY f.place LIMIT 1;
END
$$;

-- Triggers and foreign keys that a managed table cannot have, because they would not apply to rows in
-- partitions, and the commands that drop them.  The triggers of tools that copy a table are allowed:
-- these tools work on the parent's own rows only.
CREATE FUNCTION zbxhist_internal.unfollowed_objects(parent regclass) RETURNS TABLE (problem text, remedy text)
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT format('row trigger "%s" would not fire for rows in partitions (one BEFORE INSERT does)', t.tgname),
               format('DROP TRIGGER %I ON %s;', t.tgname, parent)
          FROM pg_trigger t
         WHERE t.tgrelid = parent AND NOT t.tgisinternal
           AND t.tgtype & 1 <> 0                            -- FOR EACH ROW
           AND (t.tgtype & 2 = 0 OR t.tgtype & 24 <> 0)     -- not only BEFORE INSERT
           AND t.oid NOT IN (SELECT o.oid FROM zbxhist_internal.tool_triggers(parent) o)
         UNION ALL
        -- one command drops all: dropping one alone would be refused because of the others
        SELECT format('foreign key "%s" would not hold for rows in partitions', min(c.conname::text)),
               format('ALTER TABLE %s %s;', parent, string_agg(format('DROP CONSTRAINT %I', c.conname), ', ' ORDER BY c.conname))
          FROM pg_constraint c
         WHERE c.conrelid = parent AND c.contype = 'f'
        HAVING count(*) > 0;
END
$$;

-- Why a managed table cannot be maintained as it is now, and the command that fixes it; NULLs if it can.
-- Somebody may alter a managed table so that zbxhist cannot manage it any more.  Its rows can still be
-- read and written; maintenance and checks, which read its clocks, skip it.
CREATE FUNCTION zbxhist_internal.why_unfit(parent regclass, OUT problem text, OUT remedy text)
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    SELECT u.problem, u.remedy INTO problem, remedy
      FROM (SELECT 'its ' || o.problem, o.remedy FROM zbxhist_internal.unfollowed_objects(parent) o
             UNION ALL
            SELECT format('foreign key "%s" of table %s refers to it', c.conname, c.conrelid::regclass),
                   format('ALTER TABLE %s DROP CONSTRAINT %I;', c.conrelid::regclass, c.conname)
              FROM pg_constraint c
             WHERE c.confrelid = why_unfit.parent AND c.contype = 'f'
             UNION ALL
            SELECT c.problem, coalesce(c.remedy, format('CALL zbxhist.undo(%L);', parent))
              FROM zbxhist_internal.column_problem(parent) c
             WHERE c.problem IS NOT NULL) u (problem, remedy)
     LIMIT 1;
END
$$;

-- Raises an error unless the table has the columns itemid and clock as Zabbix has them.
CREATE FUNCTION zbxhist_internal.verify_columns(parent regclass) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM zbxhist_internal.refuse(c.state, c.problem, hint => coalesce(c.remedy,
                'zbxhist manages tables shaped like Zabbix history: itemid bigint, clock integer and values.'))
       FROM zbxhist_internal.column_problem(parent) c
      WHERE c.problem IS NOT NULL;
END
$$;

-- Raises an error unless the interval can be that of a partition.
CREATE FUNCTION zbxhist_internal.verify_interval(partition_interval interval) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    months  numeric := extract(year FROM partition_interval) * 12
                       + extract(month FROM partition_interval);
    seconds numeric := extract(epoch FROM partition_interval
                       - make_interval(months => months::integer));
BEGIN
    PERFORM zbxhist_internal.refuse('22023', 'partition interval must be greater than zero')
      WHERE partition_interval IS NULL OR months < 0 OR seconds < 0
         OR (months = 0 AND seconds = 0);
    PERFORM zbxhist_internal.refuse('22023', 'partition interval cannot mix months with days or hours',
        hint => 'Use for example ''1 day'' or ''1 month''.')
      WHERE months > 0 AND seconds > 0;
    PERFORM zbxhist_internal.refuse('22023', 'partition interval must be a whole number of minutes')
      WHERE seconds % 60 <> 0;
    PERFORM zbxhist_internal.refuse('22023', 'partition interval must divide a day, or be a number of days',
        hint => 'Use for example ''1 hour'', ''6 hours'', ''1 day'' or ''1 month''.')
      WHERE seconds > 0 AND (86400 % seconds <> 0 AND seconds % 86400 <> 0);
    PERFORM zbxhist_internal.refuse('22023', 'partition interval is too long')
      WHERE months > 1200 OR seconds > 86400::bigint * 36525;
END
$$;

-- Raises an error unless the values of a policy make sense.
CREATE FUNCTION zbxhist_internal.verify_policy(policy zbxhist.parent_config) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM zbxhist_internal.verify_interval(policy.partition_interval);
    PERFORM zbxhist_internal.verify_age(policy.retention, 'retention');
    PERFORM zbxhist_internal.verify_age(policy.pack_after, 'pack_after');
    PERFORM zbxhist_internal.refuse('22023', 'premake must be between 0 and 1000')
      WHERE policy.premake IS NULL OR policy.premake NOT BETWEEN 0 AND 1000;
    PERFORM zbxhist_internal.refuse('22004', 'move_existing must not be null')
      WHERE policy.move_existing IS NULL;
    PERFORM zbxhist_internal.verify_retention_action(policy.parent, policy.retention_action, policy.retention_schema);
END
$$;

-- Raises an error unless an age is in the valid range; "name" is the argument's name.
CREATE FUNCTION zbxhist_internal.verify_age(age interval, name text) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM zbxhist_internal.refuse('22023', format('%s must be greater than zero, and at most 200 years', name))
      WHERE age <= interval '0' OR age > interval '200 years';
END
$$;

-- Raises an error unless a table can have this retention_action, with this schema.
CREATE FUNCTION zbxhist_internal.verify_retention_action(parent regclass, action text, schema_name name) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found_problem CONSTANT record := zbxhist_internal.schema_problem(parent, schema_name);
BEGIN
    PERFORM zbxhist_internal.refuse('22023', format('unrecognized value for argument "retention_action": "%s"', action),
        hint => 'Valid values are "drop", "detach".')
      WHERE action NOT IN ('drop', 'detach');
    PERFORM zbxhist_internal.refuse('22023', 'retention_schema is only for retention_action "detach"',
        hint => format('SELECT zbxhist.alter_parent(%L, retention_action => ''detach'', retention_schema => %L);',
                       parent, schema_name))
      WHERE schema_name IS NOT NULL AND action IS DISTINCT FROM 'detach';
    PERFORM zbxhist_internal.refuse(found_problem.sqlstate, found_problem.problem,
        hint => found_problem.remedy)
      WHERE found_problem.problem IS NOT NULL;
END
$$;

-- Raises an error unless the options given to alter_parent are valid for a policy; NULL means unchanged.
-- Rounding cannot be undone, so it must be confirmed.
CREATE FUNCTION zbxhist_internal.verify_options(
    policy zbxhist.parent_config, given zbxhist.parent_config, any_clock boolean, accept_rounding boolean) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET intervalstyle = postgres AS $$
DECLARE
    precisions CONSTANT text[] := '{1 ns,1 us,1 ms,1 s}';
    owner      CONSTANT oid := (SELECT k.relowner FROM pg_class k WHERE k.oid = policy.parent);
    place      CONSTANT name := nullif(given.packed_tablespace, '');
BEGIN
    PERFORM zbxhist_internal.refuse('22023', format('unrecognized value for argument "%s": "%s"', o.name, o.value),
                hint => format('Valid values are "%s".', array_to_string(o.words, '", "')))
       FROM (VALUES ('deleted_items', given.deleted_items, '{keep,drop}'::text[]),
                    ('time_precision', given.time_precision, precisions),
                    ('out_of_range', given.out_of_range, '{drop,keep}')) AS o (name, value, words)
      WHERE o.value <> ALL (o.words);
    -- the lower limits: proxies send old values from their buffers, and hosts' clocks differ
    PERFORM zbxhist_internal.refuse('22023', format('%s must be between %s and 200 years', o.name, o.low))
       FROM (VALUES ('time_precision_after', given.time_precision_after, '1 day'), ('max_age', given.max_age, '1 day'),
                    ('max_ahead', given.max_ahead, '1 hour'), ('packed_tablespace_after', given.packed_tablespace_after, '0'),
                    ('archive_after', given.archive_after, '0')) AS o (name, value, low)
      WHERE NOT o.value BETWEEN o.low::interval AND interval '200 years';
    PERFORM zbxhist_internal.refuse('22023', format('%s_after needs %s', o.name, o.needs))
       FROM (VALUES ('packed_tablespace', 'a packed_tablespace', given.packed_tablespace_after,
                     coalesce(given.packed_tablespace, policy.packed_tablespace, '')),
                    ('archive', 'an archive_server', given.archive_after,
                     coalesce(given.archive_server, policy.archive_server, ''))) AS o (name, needs, value, present)
      WHERE o.value IS NOT NULL AND o.present = '';
    PERFORM zbxhist_internal.refuse('22023', 'any_clock cannot be given together with max_age or max_ahead',
        hint => 'any_clock stores values with whatever clock.')
      WHERE any_clock AND (given.max_age IS NOT NULL OR given.max_ahead IS NOT NULL);
    -- only of a table of Zabbix does the table "items" list the items
    PERFORM zbxhist_internal.refuse('42809', format('table %s is not a table of Zabbix', policy.parent),
        detail => 'The table "items" does not list its items.',
        hint => format('SELECT zbxhist.alter_parent(%L, deleted_items => ''keep'');', policy.parent))
      WHERE given.deleted_items = 'drop'
        AND NOT EXISTS (SELECT FROM pg_class k
                          JOIN zbxhist_internal.zabbix_tables() z ON z.table_name = k.relname
                         WHERE k.oid = policy.parent);
    IF given.time_precision <> '1 ns' THEN
        PERFORM zbxhist_internal.refuse('42703', format('table %s has no column "ns" of type integer', policy.parent))
          WHERE NOT EXISTS (SELECT FROM pg_attribute a
                             WHERE a.attrelid = policy.parent AND a.attname = 'ns' AND a.atttypid = 'integer'::regtype);
        -- values rounded to the same time get different nanoseconds, which only a key demands
        PERFORM zbxhist_internal.refuse('0A000', format('times of table %s cannot be rounded, because it has no key with the column "ns"', policy.parent))
          WHERE 'ns' = ANY (zbxhist_internal.key_columns(policy.parent)) IS NOT TRUE;
    END IF;
    PERFORM zbxhist_internal.refuse('22023', 'rounded times cannot be restored',
                detail => format('Packed values of table %s that are older than %s would lose their exact nanoseconds.', policy.parent, p.after),
                hint => format('SELECT zbxhist.alter_parent(%L, time_precision => %L, time_precision_after => %L, accept_rounding => true);',
                               policy.parent, coalesce(given.time_precision, policy.time_precision), p.after))
       FROM (SELECT coalesce(given.time_precision_after, policy.time_precision_after)) AS p (after)
      WHERE accept_rounding IS NOT TRUE
        AND (array_position(precisions, given.time_precision) > array_position(precisions, policy.time_precision)
             OR policy.time_precision <> '1 ns' AND given.time_precision_after < policy.time_precision_after);
    PERFORM zbxhist_internal.refuse('22023', 'only shared relations can be placed in pg_global tablespace')
      WHERE place = 'pg_global';
    PERFORM zbxhist_internal.refuse('42704', format('tablespace "%s" does not exist', place))
      WHERE place IS NOT NULL AND NOT EXISTS (SELECT FROM pg_tablespace t WHERE t.spcname = place);
    PERFORM zbxhist_internal.refuse('42501', format('permission denied for tablespace %s', place),
        detail => format('Packed days of table %s belong to its owner, %s.', policy.parent, owner::regrole),
        hint => format('GRANT CREATE ON TABLESPACE %I TO %s;', place, owner::regrole))
      WHERE NOT zbxhist_internal.may_create_in(owner, place);
    PERFORM zbxhist_internal.refuse(w.code, w.problem, hint => w.command)
       FROM zbxhist_internal.why_no_archive(policy.parent, nullif(given.archive_server, '')) w;
END
$$;
