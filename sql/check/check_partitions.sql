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
    RETURN QUERY
        SELECT 'error', 'overlap', b.partition::text,
               format('it is for the same time as %s.  The command makes it a table of its own; then insert its rows, about %s, into %s',
                      a.partition, zbxhist_internal.probable_rows(b.partition), parent),
               format('ALTER TABLE %s NO INHERIT %s;', b.partition, parent)
          FROM zbxhist.list_partitions(parent) a
          JOIN zbxhist.list_partitions(parent) b
            ON b.from_clock < a.to_clock AND a.from_clock < b.to_clock
           AND (a.from_clock, a.partition::oid) < (b.from_clock, b.partition::oid);
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
