-- sql/check/check_partitions.sql

CREATE FUNCTION zbxhist_internal.check_partitions(parent regclass)
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
        SELECT 'error', 'no_bounds', i.inhrelid::regclass::text,
               format('it inherits from %s, but zbxhist cannot read for which time it is: it has no constraint "zbxhist_clock" CHECK (clock >= ... AND clock < ...).  No row is sent to it.  The command makes it a table of its own, with its rows',
                      parent),
               format('ALTER TABLE %s NO INHERIT %s;', i.inhrelid::regclass, parent)
          FROM pg_inherits i
         WHERE i.inhparent = parent
           AND NOT EXISTS (SELECT FROM zbxhist.list_partitions(parent) p WHERE p.partition = i.inhrelid)
           AND i.inhrelid IS DISTINCT FROM zbxhist_internal.packed_table(parent);
    -- of a partition and a packed day, it is the partition that is in the way
    RETURN QUERY
        SELECT 'error', 'overlap', b.relation::text,
               CASE WHEN b.is_packed
                    THEN format('it is for the same time as %s, and both are packed: an INSERT, UPDATE or DELETE may miss rows of the one or the other.  The command makes a partition of one, which check() then tells how to do away with',
                                a.relation)
                    ELSE format('it is for the same time as %s.  The command makes it a table of its own; then insert its rows, about %s, into %s',
                                a.relation, zbxhist_internal.probable_rows(b.relation), parent) END,
               CASE WHEN b.is_packed
                    THEN format('CALL zbxhist.unpack(%L, %L);', parent,
                                zbxhist_internal.format_day(greatest(a.from_clock, b.from_clock)))
                    ELSE format('ALTER TABLE %s NO INHERIT %s;', b.relation, parent) END
          FROM zbxhist_internal.list_ranges(parent) a
          JOIN zbxhist_internal.list_ranges(parent) b
            ON b.from_clock < a.to_clock AND a.from_clock < b.to_clock
           AND (NOT a.is_packed, a.from_clock, a.relation::oid) < (NOT b.is_packed, b.from_clock, b.relation::oid)
         WHERE NOT EXISTS (SELECT FROM zbxhist.packed_day d
                            WHERE d.day = a.relation AND d.partition = b.relation);
    IF zbxhist_internal.is_overdue(parent, 'align', 'index') THEN
        RETURN QUERY SELECT * FROM zbxhist_internal.check_alignment(parent);
    END IF;
    RETURN QUERY SELECT * FROM zbxhist_internal.check_indexes(parent);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.check_partitions(regclass) IS
'The part of check that compares the partitions with their parent and each other (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.check_partitions(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.check_partitions(regclass) TO PUBLIC;
