-- sql/migrate/source.sql

-- Raises an error unless the rows of a table can be imported into a managed one.
-- The source is read with the rights of the parent's owner.
CREATE FUNCTION zbxhist_internal.verify_source(source regclass, parent regclass) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    owner  CONSTANT oid := (SELECT k.relowner FROM pg_class k WHERE k.oid = parent);
    kind   CONSTANT "char" := (SELECT k.relkind FROM pg_class k WHERE k.oid = source);
    item record;
BEGIN
    PERFORM zbxhist_internal.refuse('42P01', 'source must be a table that exists')
      WHERE kind IS NULL;
    PERFORM zbxhist_internal.refuse('42809', format('cannot import %s: it is not a table', source))
      WHERE kind NOT IN ('r', 'p', 'f');
    PERFORM zbxhist_internal.refuse('42809', format('cannot import %s: it is managed by zbxhist', source))
      WHERE source = parent OR source IN (SELECT zbxhist_internal.own_children(parent))
         OR EXISTS (SELECT FROM zbxhist.parent_config c
                        WHERE c.parent = source OR zbxhist_internal.packed_table(c.parent) = source)
         OR EXISTS (SELECT FROM zbxhist.packed_day d WHERE d.day = source);
    PERFORM zbxhist_internal.refuse('42809', format('cannot import %s: table %s inherits from it', source, parent))
      WHERE EXISTS (WITH RECURSIVE ancestor AS (
                        SELECT i.inhparent FROM pg_inherits i WHERE i.inhrelid = parent
                         UNION
                        SELECT i.inhparent FROM pg_inherits i JOIN ancestor a ON i.inhrelid = a.inhparent)
                    SELECT FROM ancestor a WHERE a.inhparent = source);
    PERFORM zbxhist_internal.refuse('42501', format('the owner of table %s may not read table %s', parent, source),
        hint => format('GRANT SELECT ON %s TO %I;', source, pg_get_userbyid(owner)))
      WHERE NOT has_table_privilege(owner, source, 'SELECT');
    PERFORM zbxhist_internal.refuse('0A000', format('cannot import %s: it has row security', source),
        hint => format('ALTER TABLE %s DISABLE ROW LEVEL SECURITY;', source))
      WHERE row_security_active(source) OR EXISTS (SELECT FROM pg_class k WHERE k.oid = source AND k.relrowsecurity);
    PERFORM zbxhist_internal.refuse('0A000', format('cannot import into %s: trigger "%s" would not fire for rows that are packed straight away', parent, t.tgname),
        hint => format('ALTER TABLE %s DISABLE TRIGGER %I;', parent, t.tgname))
       FROM pg_trigger t
      WHERE t.tgrelid = parent AND NOT t.tgisinternal AND t.tgenabled <> 'D' AND t.tgtype & 4 <> 0  -- of INSERT
        AND t.tgfoid <> 'zbxhist.route()'::regprocedure
        AND t.oid NOT IN (SELECT o.oid FROM zbxhist_internal.tool_triggers(parent) o);
    -- a small table is read quickly without an index
    PERFORM zbxhist_internal.refuse('55000', format('cannot import %s: it has no index that begins with the clock, and would be read once for each day', source),
        hint => format('CREATE INDEX ON %s USING brin (clock);', source))
      WHERE kind = 'r' AND pg_relation_size(source) > 8388608
        AND NOT EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = source)
        AND NOT EXISTS (SELECT FROM pg_index x JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = x.indkey[0]
                         WHERE x.indrelid = source AND x.indisvalid AND a.attname = 'clock');
    FOR item IN
        SELECT p.attname, format_type(p.atttypid, p.atttypmod) AS type, s.atttypid IS NULL AS is_missing,
               s.atttypid <> p.atttypid OR s.atttypmod <> p.atttypmod AS is_other, format_type(s.atttypid, s.atttypmod) AS its
          FROM pg_attribute p
          LEFT JOIN pg_attribute s ON s.attrelid = source AND s.attname = p.attname AND s.attnum > 0 AND NOT s.attisdropped
         WHERE p.attrelid = parent AND p.attnum > 0 AND NOT p.attisdropped AND p.attgenerated = ''
         ORDER BY p.attnum
    LOOP
        IF item.is_missing THEN
            PERFORM zbxhist_internal.refuse('42703', format('table %s has no column "%s"', source, item.attname));
        ELSIF item.is_other THEN
            PERFORM zbxhist_internal.refuse('42804', format('column "%s" of table %s is of type %s, not %s',
                item.attname, source, item.its, item.type),
                hint => format('ALTER TABLE %s ALTER COLUMN %I TYPE %s;', source, item.attname, item.type));
        END IF;
    END LOOP;
END
$$;

-- Returns the query that reads the rows of a slice in a range of clocks.
CREATE FUNCTION zbxhist_internal.source_query(
    slice zbxhist.import_slice, columns text, from_clock bigint, to_clock bigint) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('SELECT %s FROM %s s WHERE s.clock >= %s AND s.clock <= %s', columns, (slice).source, from_clock, to_clock - 1)
$$;

-- The first and last clock of each day of which a table has rows; of a hypertable, of each chunk.
CREATE FUNCTION zbxhist_internal.source_days(source regclass, parent regclass) RETURNS TABLE (low bigint, high bigint)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    query text := format('SELECT min(clock) AS low, max(clock) AS high, count(*) AS n FROM %s', source);
    days  json;
    lost  bigint;
BEGIN
    IF source IN (SELECT zbxhist_internal.hypertables()) AND to_regclass('timescaledb_information.chunks') IS NOT NULL THEN
        query := (SELECT format('SELECT min(c.range_start_integer) AS low, max(c.range_end_integer) - 1 AS high, 0 AS n'
                                ' FROM timescaledb_information.chunks c, LATERAL (SELECT c.range_start_integer) t (clock)'
                                ' WHERE c.hypertable_schema = %L AND c.hypertable_name = %L', n.nspname, k.relname)
                    FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace WHERE k.oid = source);
    END IF;
    days := zbxhist_internal.execute_as_owner(parent, format(
        'SELECT json_agg(json_build_array(low, high, n)) FROM (%s GROUP BY clock - clock %% 86400) d', query));
    lost := (SELECT sum((d ->> 2)::bigint) FROM json_array_elements(days) d WHERE d ->> 0 IS NULL);
    PERFORM zbxhist_internal.refuse('23502', format('cannot import %s: rows without a clock: %s', source, lost),
        hint => format('SELECT * FROM %s WHERE clock IS NULL;', source))
      WHERE lost > 0;
    RETURN QUERY SELECT (d ->> 0)::bigint, (d ->> 1)::bigint FROM json_array_elements(days) d;
END
$$;

-- Returns the checksum of two sets of rows together, as in src/packed/import.c.
CREATE FUNCTION zbxhist_internal.add_checksums(one bigint, other bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT (coalesce(one, 0) + coalesce(other, 0)) & ((1::bigint << 62) - 1)
$$;

-- Runs a query with the rights of a table's owner; returns the number of its rows and a checksum of their
-- values that does not depend on the order.
CREATE FUNCTION zbxhist_internal.checksum_rows(relation regclass, query text, OUT nrows bigint, OUT checksum bigint)
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_checksum_rows';
