-- sql/packed/columns.sql

-- The command that notes what new columns of a table contain in packed rows; NULL if nothing is to
-- be noted.
-- What a column contains that has been added since a day was packed is known to
-- the parent only until it is rewritten.  The settings make a text that means
-- the same to every session.
CREATE FUNCTION zbxhist_internal.missing_options(parent regclass, packed regclass) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601' SET extra_float_digits = 1 AS $$
    SELECT format('ALTER FOREIGN TABLE %s ', packed)
           || string_agg(format('ALTER COLUMN %I OPTIONS (ADD missing %L)', a.attname,
                                (a.attmissingval::text::text[])[1]), ', ')
      FROM pg_attribute a
      JOIN pg_attribute f ON f.attrelid = packed AND f.attname = a.attname
                         AND f.attnum > 0 AND NOT f.attisdropped
     WHERE a.attrelid = parent AND a.attnum > 0 AND NOT a.attisdropped AND a.atthasmissing
       AND NOT EXISTS (SELECT FROM unnest(f.attfdwoptions) o WHERE starts_with(o, 'missing='))
$$;

-- The first column that a partition has and its parent has not: rows of the parent do not fit it
-- then; NULL if there is none.
CREATE FUNCTION zbxhist_internal.own_column(parent regclass, partition regclass) RETURNS name
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (
        SELECT a.attname
          FROM pg_attribute a
         WHERE a.attrelid = own_column.partition AND a.attnum > 0 AND NOT a.attisdropped
           AND NOT EXISTS (SELECT FROM pg_attribute b
                            WHERE b.attrelid = own_column.parent AND b.attname = a.attname
                              AND NOT b.attisdropped)
         ORDER BY a.attnum LIMIT 1);
END
$$;

-- The columns of the foreign table that stands for packed days that no day has been packed with
-- yet.
-- The option goes with its column when that is dropped, and stays in a dump.
-- Where no column has it, packing has not noted any yet.
CREATE FUNCTION zbxhist_internal.new_columns(packed regclass) RETURNS SETOF name
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT f.attname
          FROM (SELECT a.attname, a.attinhcount, a.attnum, o.is_packed, bool_or(o.is_packed) OVER () AS is_known
                  FROM pg_attribute a
                  CROSS JOIN LATERAL (
                       SELECT EXISTS (SELECT FROM unnest(a.attfdwoptions) p
                                       WHERE starts_with(p, 'packed=')) AS is_packed) o
                 WHERE a.attrelid = packed AND a.attnum > 0 AND NOT a.attisdropped) f
         WHERE f.is_known AND NOT f.is_packed AND f.attinhcount > 0
         ORDER BY f.attnum;
END
$$;

-- The columns of the foreign table that stands for packed days that days have been packed with, and
-- their names there.
-- An option of the column keeps the name: it goes with the column when that is
-- dropped, and stays when it is renamed.
CREATE FUNCTION zbxhist_internal.packed_columns(packed regclass) RETURNS TABLE (column_name name, packed_name name)
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT a.attname, o.option_value::name
          FROM pg_attribute a
         CROSS JOIN LATERAL pg_options_to_table(a.attfdwoptions) o
         WHERE a.attrelid = packed AND a.attnum > 0 AND NOT a.attisdropped AND o.option_name = 'packed'
         ORDER BY a.attnum;
END
$$;

-- The columns of the foreign table that stands for packed days that no day has been packed with.
CREATE FUNCTION zbxhist_internal.unnoted_columns(packed regclass) RETURNS SETOF name
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT a.attname
      FROM pg_attribute a
     WHERE a.attrelid = packed AND a.attnum > 0 AND NOT a.attisdropped AND a.attinhcount > 0
       AND NOT EXISTS (SELECT FROM unnest(a.attfdwoptions) o WHERE starts_with(o, 'packed='))
$$;

-- The columns of a managed table, as they are or with the names that packed days have them under.
CREATE FUNCTION zbxhist_internal.import_columns(parent regclass, packed boolean) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT string_agg(CASE WHEN import_columns.packed
                           THEN format('s.%I AS %I', a.attname, coalesce(c.packed_name, a.attname))
                           ELSE quote_ident(a.attname) END, ', ' ORDER BY a.attnum)
      FROM pg_attribute a
      LEFT JOIN zbxhist_internal.packed_columns(zbxhist_internal.packed_table(parent)) c ON c.column_name = a.attname
     WHERE a.attrelid = parent AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
$$;

-- Notes that a day has been packed with the columns of the foreign table that stands for it.
-- Where some are new the caller has locked the foreign table, so nobody is reading packed days.  A
-- column that is renamed later keeps the name in packed days that is noted here.
-- What older days have under the name of a new column was dropped from the
-- table, and is given another name.
CREATE FUNCTION zbxhist_internal.note_columns(parent regclass, packed regclass, day regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM zbxhist_internal.execute_as_owner(note_columns.parent, format(
                'ALTER TABLE %s RENAME COLUMN %I TO %I', d.day, n,
                (SELECT left(n::text, 40) || '_dropped_' || (max(l.attnum) + count(*))
                   FROM pg_attribute l WHERE l.attrelid = d.day)))
       FROM zbxhist_internal.new_columns(packed) n
       JOIN zbxhist.packed_day d ON d.parent = note_columns.parent AND d.day <> note_columns.day
       JOIN pg_attribute a ON a.attrelid = d.day AND a.attname = n AND a.attnum > 6 AND NOT a.attisdropped;
    PERFORM zbxhist_internal.execute_as_owner(packed, format('ALTER FOREIGN TABLE %s %s', packed,
                string_agg(format('ALTER COLUMN %I OPTIONS (ADD packed %L)', u, u), ', ')))
       FROM zbxhist_internal.unnoted_columns(packed) u
     HAVING count(*) > 0;
END
$$;
