-- sql/migrate/native.sql

-- Marks the constraint zbxhist_clock of a partition of a natively partitioned table as valid,
-- without reading its rows.
CREATE FUNCTION zbxhist_internal.trust_bounds(partition regclass) RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_trust_bounds';

-- Adds the bounds of a partition of a natively partitioned table as its constraint zbxhist_clock, without
-- reading its rows.
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

-- The partitions of a natively partitioned table, the default one last, and whether they have the constraint
-- zbxhist_clock.
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

-- Describes what keeps a natively partitioned table from being taken over, and the command that removes it;
-- NULLs if there is nothing.
-- A new table replaces the parent, so objects that depend on the old one and are not copied would be lost.
CREATE FUNCTION zbxhist_internal.native_obstacle(parent regclass, OUT problem text, OUT remedy text)
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT o.problem, o.remedy FROM (
        SELECT format('a plain table in its place would not have %s', a.object), 'Drop that, and create it again afterwards.'
          FROM zbxhist_internal.attached_object(parent) a (object) WHERE a.object IS NOT NULL
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
        SELECT format('its default partition %s has rows', d.partdefid::regclass),
               format('ALTER TABLE %s DETACH PARTITION %s;  -- and import it afterwards', parent, d.partdefid::regclass)
          FROM pg_partitioned_table d
         WHERE d.partrelid = parent AND d.partdefid <> 0 AND zbxhist_internal.has_own_rows(d.partdefid, NULL)) AS o (problem, remedy)
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
    PERFORM zbxhist_internal.refuse('55000', format('cannot take over table %s: %s', parent, obstacle.problem),
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
    relation pg_class;
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
    PERFORM zbxhist_internal.verify_not_in_other_care(parent);
    PERFORM zbxhist_internal.verify_columns(parent);
    PERFORM zbxhist_internal.verify_replaceable(parent);
    PERFORM zbxhist_internal.refuse('0A000', format('the partitions of table "%s" are not ranges of the column "clock" alone', relation.relname))
      WHERE pg_get_partkeydef(parent) <> 'RANGE (clock)';
    PERFORM zbxhist_internal.refuse('42710', format('table %s has a constraint of its own named "zbxhist_clock"', p.partition),
                hint => format('ALTER TABLE %s DROP CONSTRAINT zbxhist_clock;', p.partition))
       FROM zbxhist_internal.native_partitions(parent) p
       JOIN pg_constraint c ON c.conrelid = p.partition AND c.conname = 'zbxhist_clock'
      WHERE NOT p.is_bounded AND NOT p.is_default;
    PERFORM zbxhist_internal.refuse('0A000', format('partition %s covers more than a year, and future rows', p.partition),
                detail => 'It would take them all, and never be packed or dropped.',
                hint => format('ALTER TABLE %s DETACH PARTITION %s;  -- and import it afterwards', parent, p.partition))
       FROM zbxhist_internal.native_partitions(parent) p
      WHERE p.to_clock > zbxhist_internal.current_clock() AND p.to_clock - p.from_clock > 366 * 86400;
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
END
$$;
