-- sql/packed/days.sql

-- Disk space of the values of a packed day, without indexes, free space map and visibility map: those
-- do not shrink by repacking.  Unlike pg_relation_size, it neither opens the table nor waits for a lock.
CREATE FUNCTION zbxhist_internal.day_bytes(day regclass) RETURNS bigint
LANGUAGE c VOLATILE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zbxhist_day_bytes';

-- Returns the clock at which a UTC day begins; raises an error if it is out of range.
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

-- Returns the version of a packed day, a number that each change changes, and the newest transaction that
-- changed it.  Raises 55006 while not all transactions see the same rows.
CREATE FUNCTION zbxhist_internal.day_version(day regclass, OUT version bigint, OUT newest xid8)
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_day_version';

-- Returns a command that drops the views which depend on relations; NULL if there are none, or if
-- something else depends on them, which may be more than a stored query.
-- One command drops all, because views may depend on each other.
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

-- Creates the empty table of a packed day for a range of clocks.  It will replace the table "former", and
-- is named after "stem" or else after that.
-- The columns of the parent follow the six of a packed day.  They are always empty, and describe the
-- packed rows; they do not change when the parent is altered, so a renamed column keeps its former name.
-- If "former" is itself a packed day, the columns are copied from it, and also the tablespace, unless the
-- policy says another one.  REPLICA IDENTITY NOTHING: changes of groups are of no use to a subscriber, and
-- tools that replace a table by a copy refuse one without identity.
CREATE FUNCTION zbxhist_internal.create_day(
    parent regclass, former regclass, from_clock bigint, to_clock bigint, stem name DEFAULT NULL)
RETURNS regclass
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET default_tablespace = ''
SET client_min_messages = warning SET max_parallel_maintenance_workers = 0 AS $$
DECLARE
    source   CONSTANT pg_class := (SELECT k FROM pg_class k WHERE k.oid = former);
    is_day   CONSTANT boolean := source.relnamespace = 'zbxhist_packed'::regnamespace;
    model    CONSTANT regclass := CASE WHEN is_day THEN former ELSE parent END;
    new_name CONSTANT name := zbxhist_internal.free_name('zbxhist_packed'::regnamespace, coalesce(stem, source.relname));
    columns  text;
    place    text;
    result   regclass;
BEGIN
    SELECT string_agg(format(', %I %s', coalesce(c.packed_name, a.attname),
                             format_type(a.atttypid, a.atttypmod)), ''
                      ORDER BY a.attnum)
      INTO columns
      FROM pg_attribute a
      LEFT JOIN zbxhist_internal.packed_columns(zbxhist_internal.packed_table(parent)) c
                ON c.column_name = a.attname AND NOT is_day
     WHERE a.attrelid = model AND a.attnum > CASE WHEN is_day THEN 6 ELSE 0 END AND NOT a.attisdropped;
    SELECT format('TABLESPACE %I', t.spcname) INTO place
      FROM pg_class k
      JOIN pg_tablespace t ON t.spcname = zbxhist_internal.due_tablespace(parent, to_clock) OR t.oid = k.reltablespace
     WHERE k.oid = model
     ORDER BY t.oid = k.reltablespace LIMIT 1;
    EXECUTE format(
        'CREATE %sTABLE zbxhist_packed.%I ('
        'first_itemid bigint NOT NULL, first_clock integer NOT NULL, '
        'last_itemid bigint NOT NULL, last_clock integer NOT NULL, '
        'nrows integer NOT NULL, payload bytea NOT NULL%s, '
        'PRIMARY KEY (first_itemid, first_clock) WITH (fillfactor = 100)%s, CONSTRAINT zbxhist_range CHECK (%s)) '
        'WITH (fillfactor = 100, toast_tuple_target = 8160) %s',
        CASE WHEN source.relpersistence = 'u' THEN 'UNLOGGED ' END, new_name, columns,
        ' USING INDEX ' || place,
        -- beyond the range of an integer the bound is open
        concat_ws(' AND ', CASE WHEN from_clock > -2147483648 THEN format('first_clock >= %s', from_clock) END,
                  CASE WHEN to_clock < 2147483648 THEN format('last_clock < %s', to_clock) END), place);
    result := format('zbxhist_packed.%I', new_name)::regclass;
    EXECUTE format('ALTER TABLE %s ALTER COLUMN payload SET STORAGE EXTERNAL, REPLICA IDENTITY NOTHING', result);
    PERFORM zbxhist_internal.own_alone(result, k.relowner) FROM pg_class k WHERE k.oid = parent;
    RETURN result;
END
$$;

-- Drops a packed day and returns the time that it waited for locks.  A session that is reading packed days
-- skips it if it has not reached it yet.
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
    -- the library refuses to drop a day that is listed
    DELETE FROM zbxhist.packed_day d WHERE d.day = drop_packed_day.day;
    PERFORM zbxhist_internal.execute_as_owner(parent, format('DROP TABLE %s', day));
    PERFORM zbxhist_internal.invalidate(parent);
    RETURN waited;
END
$$;
