-- sql/check/packed.sql

-- Part of check(): packed days, and partitions that should be packed.
CREATE FUNCTION zbxhist_internal.check_packed(parent regclass) RETURNS SETOF zbxhist_internal.check_line
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp SET intervalstyle = postgres AS $$
DECLARE
    remedy CONSTANT text := 'CALL zbxhist.run_maintenance();';
    policy  zbxhist.parent_config;
    problem text;
BEGIN
    SELECT * INTO policy FROM zbxhist.parent_config c WHERE c.parent = check_packed.parent;
    RETURN QUERY
        SELECT 'error', 'no_packed_table', check_packed.parent::text,
               'its packed days cannot be read: the foreign table that stands for them is missing.  Maintenance creates it again', remedy
         WHERE zbxhist_internal.packed_table(parent) IS NULL
           AND EXISTS (SELECT FROM zbxhist.packed_day d JOIN pg_class k ON k.oid = d.day
                        WHERE d.parent = check_packed.parent);
    RETURN QUERY
        SELECT 'error', 'day_dropped', check_packed.parent::text,
               format('dropped with their tables: %s, with %s of the time from %s to %s.  A backup may have them.  Maintenance deletes their entries, and notes the loss in zbxhist.lost_values',
                      zbxhist_internal.count_of(count(*), 'packed day'), zbxhist_internal.count_of(sum(d.nrows)::bigint, 'value'),
                      zbxhist_internal.format_time(to_timestamp(min(d.from_clock))),
                      zbxhist_internal.format_time(to_timestamp(max(d.to_clock)))), remedy
          FROM zbxhist.packed_day d
         WHERE d.parent = check_packed.parent AND NOT d.unpacked
           AND NOT EXISTS (SELECT FROM pg_class k WHERE k.oid = d.day)
        HAVING count(*) > 0;
    RETURN QUERY
        SELECT 'warning', 'owner', k.oid::regclass::text,
               format('it belongs to %s, but its parent to %s: it can be read and written through the parent, but is not maintained.  A superuser or a member of both roles can run the command',
                      k.relowner::regrole, source.relowner::regrole),
               format('ALTER TABLE %s OWNER TO %s;', k.oid::regclass, source.relowner::regrole)
          FROM zbxhist_internal.foreign_children(check_packed.parent) c
          JOIN pg_class k ON k.oid = c
          JOIN pg_class source ON source.oid = check_packed.parent
         -- maintenance has tried, and lacks the rights
         WHERE EXISTS (SELECT FROM zbxhist.step_problem p
                        WHERE p.parent = check_packed.parent AND p.step = 'owner' AND p.message = 'postponed');
    RETURN QUERY
        SELECT 'error', 'damaged_day', d.day::text,
               format('it is damaged, found at %s: %s', zbxhist_internal.format_time(v.found_at), v.problem)
               || '.  A backup or standby may have an undamaged table.  The command turns all readable rows into a partition, and says what is lost',
               format('CALL zbxhist.salvage(%L::regclass);', d.day)
          FROM zbxhist.packed_day d
          JOIN pg_class k ON k.oid = d.day
          JOIN zbxhist.verified_day v ON v.day = d.day AND v.problem IS NOT NULL
         WHERE d.parent = check_packed.parent;
    RETURN QUERY
        SELECT 'warning', 'not_compacted', d.day::text,
               format('it cannot be compacted with the other packed tables of its day: %s', d.not_compacted),
               coalesce((SELECT zbxhist_internal.drop_views(VARIADIC array_agg(r.relation))
                           FROM zbxhist_internal.ranges_of_day(check_packed.parent, zbxhist_internal.format_day(d.from_clock)::date) r),
                        format('CALL zbxhist.compact(%L, %L);', check_packed.parent, zbxhist_internal.format_day(d.from_clock)))
          FROM zbxhist.packed_day d
          JOIN pg_class k ON k.oid = d.day
         WHERE d.parent = check_packed.parent AND d.not_compacted !~ '\(XX001\)$';
    IF has_table_privilege('zbxhist.lost_values', 'SELECT') THEN
        RETURN QUERY
            SELECT 'info', 'lost_values', check_packed.parent::text,
                   'values of damaged packed days that could not be read, or were dropped with their tables, are listed in zbxhist.lost_values until somebody deletes the rows',
                   format('SELECT * FROM zbxhist.lost_values WHERE parent = %L::regclass;', check_packed.parent)
             WHERE EXISTS (SELECT FROM zbxhist.lost_values v WHERE v.parent = check_packed.parent);
    END IF;
    RETURN QUERY
        SELECT 'info', 'columns_altered', check_packed.parent::text,
               format('%s of its packed days, up to that of %s, were packed before its columns were altered.  They can be read and changed; but their late and updated rows wait in the table itself until they are unpacked.  Begin with the latest',
                      count(*), zbxhist_internal.format_day(max(d.from_clock))),
               format('CALL zbxhist.unpack(%L, %L);', check_packed.parent, zbxhist_internal.format_day(max(d.from_clock)))
          FROM zbxhist.packed_day d
         WHERE d.parent = check_packed.parent AND d.partition IS NULL AND has_table_privilege(d.parent, 'SELECT')
           AND CASE WHEN zbxhist_internal.has_same_columns(d.parent, d.day) THEN false
                    ELSE zbxhist_internal.waiting_clock(d.parent, d.from_clock, d.to_clock, true) IS NOT NULL END
        HAVING count(*) > 0;
    RETURN QUERY
        SELECT 'warning', 'packed_tablespace', policy.parent::text,
               format('the tablespace for its packed days, "%s", does not exist, or its owner, %s, may not create tables in it: they are stored where the table is, or stay where they are%s',
                      policy.packed_tablespace, k.relowner::regrole,
                      CASE WHEN t.oid IS NOT NULL THEN '.  The owner of the tablespace or a superuser can run the command' END),
               CASE WHEN t.oid IS NOT NULL
                    THEN format('GRANT CREATE ON TABLESPACE %I TO %s;', policy.packed_tablespace, k.relowner::regrole)
                    ELSE format('SELECT zbxhist.alter_parent(%L, packed_tablespace => '''');', policy.parent) END
          FROM pg_class k
          LEFT JOIN pg_tablespace t ON t.spcname = policy.packed_tablespace
         WHERE k.oid = policy.parent AND NOT zbxhist_internal.may_create_in(k.relowner, policy.packed_tablespace);
    IF policy.pack_after IS NULL OR NOT policy.routing THEN
        RETURN;
    END IF;
    problem := zbxhist_internal.why_not_packable(parent);
    IF problem IS NOT NULL THEN
        RETURN QUERY SELECT 'info', 'not_packable', policy.parent::text,
            format('its partitions cannot be packed: %s.  They stay ordinary partitions, which does no harm', problem),
            format('SELECT zbxhist.alter_parent(%L, never_pack => true);', policy.parent);
        RETURN;
    END IF;
    RETURN QUERY
        SELECT 'info', 'not_packable',
               zbxhist_internal.object_list(array_agg(p.partition::text ORDER BY p.from_clock)),
               format('it cannot be packed: %s.  It stays an ordinary partition, which does no harm', min(u.problem)),
               NULL
          FROM zbxhist.list_partitions(policy.parent) p,
               zbxhist_internal.not_packable(policy.parent, p.partition) AS u (problem)
         WHERE p.to_clock <= zbxhist_internal.clock_before(policy.pack_after) AND u.problem IS NOT NULL
         GROUP BY replace(u.problem, p.partition::text, '');
END
$$;
