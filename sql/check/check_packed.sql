-- sql/check/check_packed.sql

CREATE FUNCTION zbxhist_internal.check_packed(parent regclass)
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    remedy CONSTANT text := format('CALL zbxhist.run_maintenance(%L);', parent);
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
            'the foreign table that stands for its packed days is missing: they are not read', remedy;
    END IF;
    RETURN QUERY
        SELECT 'error', 'two_packed_tables', i.inhrelid::regclass::text,
               format('both it and %s stand for the packed days of %s: their rows are read twice', packed, parent),
               format('DROP FOREIGN TABLE %s;', i.inhrelid::regclass)
          FROM pg_inherits i
          JOIN pg_foreign_table t ON t.ftrelid = i.inhrelid
          JOIN pg_foreign_table o ON o.ftrelid = packed AND o.ftserver = t.ftserver
         WHERE i.inhparent = parent AND i.inhrelid <> packed;
    RETURN QUERY
        SELECT 'warning', 'day_dropped', d.day::oid::text,
               format('the table of its packed day from %s on has been dropped',
                      zbxhist_internal.format_time(to_timestamp(d.from_clock))), remedy
          FROM zbxhist.packed_day d
         WHERE d.parent = check_packed.parent
           AND NOT EXISTS (SELECT FROM pg_class k WHERE k.oid = d.day);
    RETURN QUERY
        SELECT 'warning', 'owner', k.oid::regclass::text,
               format('it belongs to %s, its parent to %s', k.relowner::regrole, source.relowner::regrole),
               format('ALTER TABLE %s OWNER TO %s;', k.oid::regclass, source.relowner::regrole)
          FROM pg_class k
         WHERE k.relowner <> source.relowner
           AND (k.oid = packed
                OR k.oid IN (SELECT d.day FROM zbxhist.packed_day d WHERE d.parent = check_packed.parent));
    RETURN QUERY
        SELECT 'warning', 'unpack_unfinished', d.day::text,
               'an unpack has begun and has not come to its end', remedy
          FROM zbxhist.packed_day d
         WHERE d.parent = check_packed.parent AND d.partition IS NOT NULL AND policy.routing;
    -- who may not read the log is not told
    IF has_table_privilege('zbxhist.maintenance_log', 'SELECT') THEN
        RETURN QUERY
            SELECT 'error', 'damaged_day', d.day::text, format('it is damaged: %s', l.message),
                   format('SELECT * FROM zbxhist.verify(%L);', check_packed.parent)
              FROM zbxhist.packed_day d
             CROSS JOIN LATERAL (
                   SELECT g.message, g.sqlstate FROM zbxhist.maintenance_log g
                    WHERE g.parent = d.parent AND g.relation = d.day::text AND g.started_at > d.packed_at
                    ORDER BY g.id DESC LIMIT 1) l
             WHERE d.parent = check_packed.parent AND l.sqlstate = 'XX001';
    END IF;
    IF has_table_privilege('zbxhist.lost_values', 'SELECT') THEN
        RETURN QUERY
            SELECT 'info', 'lost_values', check_packed.parent::text,
                   'what could not be read of damaged packed days is kept in zbxhist.lost_values until somebody deletes it',
                   format('SELECT * FROM zbxhist.lost_values WHERE parent = %L::regclass;', check_packed.parent)
             WHERE EXISTS (SELECT FROM zbxhist.lost_values v WHERE v.parent = check_packed.parent);
    END IF;
    RETURN QUERY
        SELECT 'info', 'columns_altered', check_packed.parent::text,
               format('packed days up to that of %s have other columns than the table: late rows stay in the table itself, and packed ones cannot be updated',
                      to_char(to_timestamp(max(d.from_clock)) AT TIME ZONE 'UTC', 'YYYY-MM-DD')),
               format('They can be read.  To change them: CALL zbxhist.unpack(%L, %L);', check_packed.parent,
                      to_char(to_timestamp(max(d.from_clock)) AT TIME ZONE 'UTC', 'YYYY-MM-DD'))
          FROM zbxhist.packed_day d
          JOIN pg_class k ON k.oid = d.day
         WHERE d.parent = check_packed.parent AND d.partition IS NULL
           AND NOT zbxhist_internal.has_same_columns(check_packed.parent, d.day)
        HAVING count(*) > 0;
    IF policy.pack_after IS NULL OR NOT policy.routing THEN
        RETURN;
    END IF;
    RETURN QUERY SELECT * FROM zbxhist_internal.check_unpacked(policy);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.check_packed(regclass) IS
'The part of check that is about packed days (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.check_packed(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.check_packed(regclass) TO PUBLIC;
