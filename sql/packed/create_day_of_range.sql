-- sql/packed/create_day_of_range.sql
--
-- The columns of the parent follow the six of a packed day, or the seven of a
-- table of runs; nothing is ever stored in them.  They say what the packed rows
-- are made of, and stay as they are when the parent is altered: one that has been
-- renamed has its former name.  By its column "run" a table of runs is known, and
-- it has no key.

CREATE FUNCTION zbxhist_internal.create_day_of_range(
    parent regclass,
    stem name,
    from_clock bigint,
    to_clock bigint,
    persistence "char",
    runs boolean DEFAULT false)
RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET default_tablespace = ''
SET client_min_messages = warning
SET max_parallel_maintenance_workers = 0
AS $$
DECLARE
    new_name CONSTANT name := zbxhist_internal.free_name('zbxhist_packed'::regnamespace, stem);
    payload  CONSTANT name := CASE WHEN runs THEN 'run' ELSE 'payload' END;
    source   record;
    columns  text;
    key      text;
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
    place := CASE WHEN source.spcname IS NOT NULL THEN format('TABLESPACE %I', source.spcname) ELSE '' END;
    key := CASE WHEN NOT runs THEN
               'PRIMARY KEY (first_itemid, first_clock) WITH (fillfactor = 100)'
               || CASE WHEN place <> '' THEN ' USING INDEX ' || place ELSE '' END || ', ' END;
    EXECUTE format(
        'CREATE %sTABLE zbxhist_packed.%I ('
        'first_itemid bigint NOT NULL, first_clock integer NOT NULL, '
        'last_itemid bigint NOT NULL, last_clock integer NOT NULL, '
        'nrows integer NOT NULL, %I bytea NOT NULL%s%s, %s%s) '
        'WITH (fillfactor = 100, toast_tuple_target = 8160) %s',
        CASE WHEN persistence = 'u' THEN 'UNLOGGED ' ELSE '' END, new_name, payload,
        CASE WHEN runs THEN ', batch bigint' ELSE '' END, columns, key,
        zbxhist_internal.day_constraint(from_clock, to_clock), place);
    result := format('zbxhist_packed.%I', new_name)::regclass;
    EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STORAGE EXTERNAL', result, payload);
    PERFORM zbxhist_internal.own_alone(result, source.relowner);
    RETURN result;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.create_day_of_range(regclass, name, bigint, bigint, "char", boolean) IS
'Creates the empty table of a packed day, or one for runs, for a range of clocks (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.create_day_of_range(regclass, name, bigint, bigint, "char", boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.create_day_of_range(regclass, name, bigint, bigint, "char", boolean) TO pg_database_owner;
