-- sql/packed/days.sql

-- Disk space of the values of a packed day.
-- Without indexes and maps: what VACUUM adds to a small day is no waste.
CREATE FUNCTION zbxhist_internal.day_bytes(day regclass) RETURNS bigint
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(pg_relation_size(k.oid), 0)
         + coalesce(pg_relation_size(nullif(k.reltoastrelid, 0)), 0)
      FROM pg_class k WHERE k.oid = day
$$;

-- The clock at which a UTC day begins; raises an error if there is none.
CREATE FUNCTION zbxhist_internal.day_clock(day date) RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    moment numeric;
BEGIN
    PERFORM zbxhist_internal.refuse('22004', 'day must not be null')
      WHERE day IS NULL;
    moment := extract(epoch FROM day::timestamp);
    PERFORM zbxhist_internal.refuse('22008', format('date is out of the range of a clock: %s', day))
      WHERE moment NOT BETWEEN -2147483648 AND 2147483647;
    RETURN moment;
END
$$;

-- The constraint of the table of a packed day.
CREATE FUNCTION zbxhist_internal.day_constraint(from_clock bigint, to_clock bigint) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    -- beyond the range of an integer the bound is open
    SELECT format('CONSTRAINT zbxhist_range CHECK (%s)', concat_ws(' AND ',
        CASE WHEN from_clock > -2147483648 THEN format('first_clock >= %s', from_clock) END,
        CASE WHEN to_clock < 2147483648 THEN format('last_clock < %s', to_clock) END))
$$;

-- A number that differs when a packed day has been changed, and the newest transaction that has
-- changed it; 55006 while some transactions see other rows than others.
CREATE FUNCTION zbxhist_internal.day_version(day regclass, OUT version bigint, OUT newest xid8)
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_day_version';

-- The command that drops the views which keep relations from being dropped; null if there are none,
-- or others than plain ones.
-- All that depend on each other go in one command.  What else depends on a partition may be
-- worth more than a query.
CREATE FUNCTION zbxhist_internal.drop_views(VARIADIC relations regclass[]) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    WITH RECURSIVE found (view) AS (
        SELECT unnest(relations)
         UNION
        SELECT r.ev_class::regclass
          FROM found f
          JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = f.view AND d.classid = 'pg_rewrite'::regclass
          JOIN pg_rewrite r ON r.oid = d.objid)
    SELECT 'DROP VIEW ' || string_agg(k.oid::regclass::text, ', ' ORDER BY k.oid) || ';'
      FROM found f
      JOIN pg_class k ON k.oid = f.view AND k.oid <> ALL (relations)
    HAVING bool_and(k.relkind = 'v')
$$;

-- The packed days from before a change of columns whose rows wait in the parent, which one run of
-- maintenance unpacks, and packs again.
-- Rows that wait for such a day can be merged only after it has been packed
-- anew.  Until then it takes all its space, so a run does that to few.
CREATE FUNCTION zbxhist_internal.altered_days(parent regclass) RETURNS SETOF regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    altered  regclass[];
BEGIN
    IF zbxhist_internal.own_pages(parent) = 0 OR zbxhist_internal.why_not_packable(parent) IS NOT NULL THEN
        RETURN;
    END IF;
    altered := ARRAY(
        SELECT d.day
          FROM zbxhist.parent_config c
          JOIN zbxhist.packed_day d ON d.parent = c.parent
          JOIN pg_class p ON p.oid = c.parent
          JOIN pg_class k ON k.oid = d.day AND k.relowner = p.relowner
         WHERE c.parent = altered_days.parent AND c.routing AND d.partition IS NULL
           AND d.to_clock <= zbxhist_internal.clock_before(c.pack_after)
           AND NOT zbxhist_internal.has_same_columns(c.parent, d.day));
    IF altered <> '{}' THEN
        RETURN QUERY
            SELECT w.day
              FROM (SELECT d.day, d.from_clock,
                           coalesce(sum(d.nrows) OVER (ORDER BY d.from_clock DESC
                                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
                      FROM zbxhist_internal.waiting_days(parent) AS t (day)
                      JOIN zbxhist.packed_day d ON d.day = t.day
                     WHERE d.day = ANY (altered)) w
             WHERE w.before < 10000000
             ORDER BY w.from_clock DESC;
    END IF;
END
$$;

-- Creates the empty table of a packed day for a range of clocks.
-- The columns of the parent follow the six of a packed day; nothing is ever
-- stored in them.  They say what the packed rows are made of, and stay as they are
-- when the parent is altered: one that has been renamed has its former name.
-- Groups are not decoded as changes, so without a replica identity nothing can
-- follow them so and put its copy in the table's place.
CREATE FUNCTION zbxhist_internal.create_day_of_range(
    parent regclass, stem name, from_clock bigint, to_clock bigint, persistence "char")
RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET default_tablespace = ''
SET client_min_messages = warning SET max_parallel_maintenance_workers = 0 AS $$
DECLARE
    new_name CONSTANT name := zbxhist_internal.free_name('zbxhist_packed'::regnamespace, stem);
    source   record;
    columns  text;
    place    text;
    result   regclass;
BEGIN
    SELECT k.relowner, t.spcname
      INTO source
      FROM pg_class k
      LEFT JOIN pg_tablespace t ON t.oid = k.reltablespace
     WHERE k.oid = create_day_of_range.parent;
    SELECT string_agg(format(', %I %s', coalesce(c.packed_name, a.attname),
                             format_type(a.atttypid, a.atttypmod)), ''
                      ORDER BY a.attnum)
      INTO columns
      FROM pg_attribute a
      LEFT JOIN zbxhist_internal.packed_columns(zbxhist_internal.packed_table(create_day_of_range.parent)) c
                ON c.column_name = a.attname
     WHERE a.attrelid = create_day_of_range.parent AND a.attnum > 0 AND NOT a.attisdropped;
    source.spcname := coalesce(zbxhist_internal.due_tablespace(parent, to_clock), source.spcname);
    place := CASE WHEN source.spcname IS NOT NULL THEN format('TABLESPACE %I', source.spcname) ELSE '' END;
    EXECUTE format(
        'CREATE %sTABLE zbxhist_packed.%I ('
        'first_itemid bigint NOT NULL, first_clock integer NOT NULL, '
        'last_itemid bigint NOT NULL, last_clock integer NOT NULL, '
        'nrows integer NOT NULL, payload bytea NOT NULL%s, '
        'PRIMARY KEY (first_itemid, first_clock) WITH (fillfactor = 100)%s, %s) '
        'WITH (fillfactor = 100, toast_tuple_target = 8160) %s',
        CASE WHEN persistence = 'u' THEN 'UNLOGGED ' ELSE '' END, new_name, columns,
        CASE WHEN place <> '' THEN ' USING INDEX ' || place ELSE '' END,
        zbxhist_internal.day_constraint(from_clock, to_clock), place);
    result := format('zbxhist_packed.%I', new_name)::regclass;
    EXECUTE format('ALTER TABLE %s ALTER COLUMN payload SET STORAGE EXTERNAL, REPLICA IDENTITY NOTHING', result);
    PERFORM zbxhist_internal.own_alone(result, source.relowner);
    RETURN result;
END
$$;

-- Creates an empty table that can take the place of that of a packed day, or of several that cover
-- a range.
-- It has the columns with which the day was packed, whatever those of the
-- parent are now, and is stored as the day is, and where it is unless the policy
-- wants it elsewhere.  Constraints that its owner may have given to the day are not
-- evaluated by somebody else.
CREATE FUNCTION zbxhist_internal.create_day_like(parent regclass, day regclass, from_clock bigint, to_clock bigint)
RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET default_tablespace = ''
SET client_min_messages = warning SET max_parallel_maintenance_workers = 0 AS $$
DECLARE
    new_name CONSTANT name := (SELECT zbxhist_internal.free_name('zbxhist_packed'::regnamespace, k.relname) FROM pg_class k WHERE k.oid = day);
    place    CONSTANT name := zbxhist_internal.due_tablespace(parent, to_clock);
    source   record;
    result   regclass;
BEGIN
    SELECT k.relpersistence, coalesce(place, t.spcname) AS spcname, coalesce(place, p.spcname) AS index_spcname,
           CASE WHEN i.indisprimary THEN k.reloptions
                ELSE ARRAY(SELECT o FROM unnest(k.reloptions) o WHERE NOT starts_with(o, 'autovacuum_')) END AS reloptions,
           CASE WHEN i.indisprimary THEN x.reloptions ELSE '{fillfactor=100}' END AS index_options
      INTO STRICT source
      FROM pg_class k
      LEFT JOIN pg_tablespace t ON t.oid = k.reltablespace
      LEFT JOIN LATERAL (SELECT * FROM pg_index o WHERE o.indrelid = k.oid
                          ORDER BY o.indisprimary DESC LIMIT 1) i ON true
      LEFT JOIN pg_class x ON x.oid = i.indexrelid
      LEFT JOIN pg_tablespace p ON p.oid = x.reltablespace
     WHERE k.oid = create_day_like.day;
    EXECUTE concat_ws(' ',
        'CREATE', CASE WHEN source.relpersistence = 'u' THEN 'UNLOGGED' END,
        format('TABLE zbxhist_packed.%I (LIKE %s INCLUDING COMMENTS INCLUDING COMPRESSION INCLUDING STORAGE,',
               new_name, day),
        'PRIMARY KEY (first_itemid, first_clock)',
        'WITH (' || zbxhist_internal.format_options(source.index_options) || ')',
        'USING INDEX TABLESPACE ' || quote_ident(source.index_spcname), ',',
        zbxhist_internal.day_constraint(from_clock, to_clock), ')',
        'WITH (' || zbxhist_internal.format_options(source.reloptions) || ')',
        'TABLESPACE ' || quote_ident(source.spcname));
    result := format('zbxhist_packed.%I', new_name)::regclass;
    EXECUTE format('ALTER TABLE %s REPLICA IDENTITY NOTHING', result);
    PERFORM zbxhist_internal.own_alone(result, k.relowner) FROM pg_class k WHERE k.oid = parent;
    RETURN result;
END
$$;

-- Drops a packed day and returns the time that it waited for locks.  Who is reading packed days and
-- comes to this one next finds that it is gone.
CREATE FUNCTION zbxhist_internal.drop_packed_day(parent regclass, day regclass) RETURNS interval
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    packed  CONSTANT regclass := zbxhist_internal.packed_table(parent);
    waited  interval;
BEGIN
    PERFORM zbxhist_internal.wait_for_readers(day);
    IF packed IS NOT NULL THEN
        PERFORM zbxhist_internal.wait_for_readers(packed);
        PERFORM zbxhist_internal.lock_patiently(day);
        PERFORM zbxhist_internal.lock_exclusively(packed, mode => 'SHARE ROW EXCLUSIVE');
    END IF;
    waited := zbxhist_internal.lock_exclusively(day);
    -- what is listed is guarded
    DELETE FROM zbxhist.packed_day d WHERE d.day = drop_packed_day.day;
    PERFORM zbxhist_internal.execute_as_owner(parent, format('DROP TABLE %s', day));
    PERFORM zbxhist_internal.invalidate(parent);
    RETURN waited;
END
$$;
