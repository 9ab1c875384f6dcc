-- sql/check/check_packed.sql

CREATE FUNCTION zbxhist_internal.check_packed(parent regclass)
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    remedy CONSTANT text := 'CALL zbxhist.run_maintenance();';
    packed CONSTANT regclass := zbxhist_internal.packed_table(parent);
    source pg_class;
    policy zbxhist.parent_config;
BEGIN
    SELECT * INTO STRICT source FROM pg_class k WHERE k.oid = parent;
    SELECT * INTO policy FROM zbxhist.parent_config c WHERE c.parent = check_packed.parent;
    IF packed IS NULL AND EXISTS (SELECT FROM zbxhist.packed_day d
                                   JOIN pg_class k ON k.oid = d.day
                                  WHERE d.parent = check_packed.parent) THEN
        RETURN QUERY SELECT 'error', 'no_packed_table', parent::text,
            'its packed days cannot be read: the foreign table that stands for them is missing.  Maintenance makes it anew', remedy;
    END IF;
    RETURN QUERY
        SELECT 'error', 'two_packed_tables', i.inhrelid::regclass::text,
               format('both it and %s stand for the packed days of %s: their rows are read twice', packed, parent),
               format('ALTER FOREIGN TABLE %s NO INHERIT %s;', i.inhrelid::regclass, parent)
          FROM pg_inherits i
          JOIN pg_foreign_table t ON t.ftrelid = i.inhrelid
          JOIN pg_foreign_table o ON o.ftrelid = packed AND o.ftserver = t.ftserver
         WHERE i.inhparent = parent AND i.inhrelid <> packed;
    RETURN QUERY
        SELECT 'error', 'day_dropped', zbxhist_internal.object_list(array_agg(d.day::oid::text ORDER BY d.from_clock)),
               format('the table of a packed day of %s has been dropped, with %s values of the time from %s to %s.  A backup may have them.  Maintenance forgets the day, and notes that in zbxhist.lost_values',
                      check_packed.parent, CASE WHEN bool_or(d.runs) THEN 'an unknown number of' ELSE sum(d.nrows)::text END,
                      zbxhist_internal.format_time(to_timestamp(min(d.from_clock))),
                      zbxhist_internal.format_time(to_timestamp(max(d.to_clock)))), remedy
          FROM zbxhist.packed_day d
         WHERE d.parent = check_packed.parent AND NOT d.unpacked
           AND NOT (d.runs AND d.from_clock > zbxhist_internal.current_clock())
           AND NOT EXISTS (SELECT FROM pg_class k WHERE k.oid = d.day)
        HAVING count(*) > 0;
    RETURN QUERY
        SELECT 'warning', 'owner', k.oid::regclass::text,
               format('it belongs to %s, its parent to %s: it is read and written to through the parent, but not maintained',
                      k.relowner::regrole, source.relowner::regrole),
               format('ALTER TABLE %s OWNER TO %s;', k.oid::regclass, source.relowner::regrole)
          FROM zbxhist_internal.foreign_children(check_packed.parent) c
          JOIN pg_class k ON k.oid = c
         WHERE zbxhist_internal.is_overdue(check_packed.parent, 'owner')
            -- who maintains has looked, and may not
            OR EXISTS (SELECT FROM zbxhist.step_problem p
                        WHERE p.parent = check_packed.parent AND p.step = 'owner' AND p.message = 'postponed');
    RETURN QUERY
        SELECT 'warning', 'unpack_unfinished', d.day::text,
               'an unpack of it was begun and has not come to its end for more than a day'
               || CASE WHEN p.since IS NULL THEN ''
                       ELSE ': a transaction has it locked, or began earlier and has not ended.  Look for long ones' END,
               CASE WHEN p.since IS NULL THEN remedy ELSE zbxhist_internal.long_transactions() END
          FROM zbxhist.packed_day d
          LEFT JOIN zbxhist.step_problem p ON p.parent = d.parent AND p.step = 'unpack' AND p.relation = d.day::text
         WHERE d.parent = check_packed.parent AND d.partition IS NOT NULL AND policy.routing
           AND zbxhist_internal.is_overdue(check_packed.parent, 'unpack')
           AND zbxhist_internal.is_transient(p.sqlstate);
    RETURN QUERY
        SELECT 'error', 'damaged_day', d.day::text,
               CASE WHEN v.day IS NOT NULL
                    THEN format('it is damaged, found at %s: %s', zbxhist_internal.format_time(v.found_at), v.problem)
                    ELSE format('it is damaged, met by a query at %s', zbxhist_internal.format_time(m.met_at)) END,
               format('SELECT * FROM zbxhist.verify(%L);', check_packed.parent)
          FROM zbxhist.packed_day d
          JOIN pg_class k ON k.oid = d.day
          LEFT JOIN zbxhist.verified_day v ON v.day = d.day AND v.problem IS NOT NULL
          LEFT JOIN zbxhist_internal.met_damage() m ON m.day = d.day
         WHERE d.parent = check_packed.parent AND (v.day IS NOT NULL OR m.day IS NOT NULL);
    RETURN QUERY
        SELECT 'warning', 'not_compacted', d.day::text,
               format('it cannot be made one with the other packed tables of its day: %s', d.not_compacted),
               format('CALL zbxhist.compact(%L, %L);', check_packed.parent, zbxhist_internal.format_day(d.from_clock))
          FROM zbxhist.packed_day d
          JOIN pg_class k ON k.oid = d.day
         WHERE d.parent = check_packed.parent AND d.not_compacted !~ '\(XX001\)$';
    IF has_table_privilege('zbxhist.lost_values', 'SELECT') THEN
        RETURN QUERY
            SELECT 'info', 'lost_values', check_packed.parent::text,
                   'what could not be read of damaged packed days, or was dropped with their tables, is told in zbxhist.lost_values until somebody deletes that',
                   format('SELECT * FROM zbxhist.lost_values WHERE parent = %L::regclass;', check_packed.parent)
             WHERE EXISTS (SELECT FROM zbxhist.lost_values v WHERE v.parent = check_packed.parent);
    END IF;
    RETURN QUERY
        SELECT 'info', 'columns_altered', check_packed.parent::text,
               format('packed before its columns were altered: %s of its packed days, up to that of %s.  They can be read and changed; but until they are unpacked, their late and updated rows stay in the table itself, for maintenance is not to pack it, or cannot.  Begin with the latest',
                      count(*), zbxhist_internal.format_day(max(d.from_clock))),
               format('CALL zbxhist.unpack(%L, %L);', check_packed.parent, zbxhist_internal.format_day(max(d.from_clock)))
          FROM zbxhist.packed_day d
          JOIN pg_class k ON k.oid = d.day
         WHERE d.parent = check_packed.parent AND d.partition IS NULL
           AND (policy.pack_after IS NULL OR zbxhist_internal.why_not_packable(check_packed.parent) IS NOT NULL)
           AND NOT zbxhist_internal.has_same_columns(check_packed.parent, d.day)
        HAVING count(*) > 0;
    IF policy.pack_after IS NOT NULL AND policy.routing THEN
        RETURN QUERY SELECT * FROM zbxhist_internal.check_unpacked(policy);
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.check_packed(regclass) IS
'The part of check that is about packed days (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.check_packed(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.check_packed(regclass) TO PUBLIC;
