-- sql/packed/columns.sql

-- Returns the command that notes the values of new columns in packed rows; NULL if there is nothing to
-- note.
-- Rows packed before a column was added have its default of that time.  The parent's catalog has this
-- value (attmissingval) only until the table is rewritten.  The settings make its text the same in every
-- session.
CREATE FUNCTION zbxhist_internal.missing_options(parent regclass, packed regclass) RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601' SET extra_float_digits = 1 AS $$
BEGIN
    RETURN (
        SELECT format('ALTER FOREIGN TABLE %s ', packed)
               || string_agg(format('ALTER COLUMN %I OPTIONS (ADD missing %L)', a.attname,
                                    (a.attmissingval::text::text[])[1]), ', ')
          FROM pg_attribute a
          JOIN pg_attribute f ON f.attrelid = packed AND f.attname = a.attname
                             AND f.attnum > 0 AND NOT f.attisdropped
         WHERE a.attrelid = parent AND a.attnum > 0 AND NOT a.attisdropped AND a.atthasmissing
           AND NOT EXISTS (SELECT FROM unnest(f.attfdwoptions) o WHERE starts_with(o, 'missing=')));
END
$$;

-- Returns the first column that a partition has and its parent lacks; NULL if there is none.  Rows of the
-- parent cannot be stored in such a partition.
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

-- The columns of the packed table that were added since the last day was packed.
-- A column with which a day was packed has the option "packed", which is dumped, and dropped with the
-- column.  If no column has it, nothing was packed yet, and there are no new columns.
CREATE FUNCTION zbxhist_internal.new_columns(packed regclass) RETURNS SETOF name
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT u FROM zbxhist_internal.unnoted_columns(packed) u
         WHERE EXISTS (SELECT FROM zbxhist_internal.packed_columns(packed));
END
$$;

-- The columns of the packed table with which days were packed, and their names in packed days.
-- The option "packed" of the column keeps that name when the column is renamed.
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

-- The columns of the packed table without the option "packed".
CREATE FUNCTION zbxhist_internal.unnoted_columns(packed regclass) RETURNS SETOF name
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT a.attname
          FROM pg_attribute a
         WHERE a.attrelid = packed AND a.attnum > 0 AND NOT a.attisdropped AND a.attinhcount > 0
           AND NOT EXISTS (SELECT FROM unnest(a.attfdwoptions) o WHERE starts_with(o, 'packed='))
         ORDER BY a.attnum;
END
$$;

-- Returns the list of columns of a managed table; with "packed", under their names in packed days.
CREATE FUNCTION zbxhist_internal.import_columns(parent regclass, packed boolean) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT string_agg(CASE WHEN import_columns.packed
                           THEN format('s.%I AS %I', a.attname, coalesce(c.packed_name, a.attname))
                           ELSE quote_ident(a.attname) END, ', ' ORDER BY a.attnum)
      FROM pg_attribute a
      LEFT JOIN zbxhist_internal.packed_columns(zbxhist_internal.packed_table(parent)) c ON c.column_name = a.attname
     WHERE a.attrelid = parent AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
$$;

-- Notes that a day was packed with the columns of the packed table, see packed_columns.
-- If there are new columns, the caller has locked the foreign table, so nobody reads packed days.  If an
-- older day has a column with the name of a new one, that column was dropped from the table since; it is
-- renamed.
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
