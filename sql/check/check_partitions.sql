-- sql/check/check_partitions.sql

CREATE FUNCTION zbxhist_internal.check_partitions(parent regclass)
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    past CONSTANT text := CASE WHEN zbxhist_internal.deletion_clock(parent) IS NULL THEN ''
                               ELSE format('; what is past retention stays in it: to have that back in %s, insert it', parent) END;
BEGIN
    RETURN QUERY
        SELECT 'error', 'no_bounds', i.inhrelid::regclass::text,
               format('it inherits from %s, but zbxhist cannot read for which time it is: it has no constraint "zbxhist_clock" CHECK (clock >= ... AND clock < ...).  No row is sent to it.  ', parent)
               || CASE WHEN b.command IS NOT NULL THEN 'The command gives it the one that it had'
                       WHEN k.relkind = 'r' THEN format('The command moves its rows, about %s, to the partitions that they belong to, and makes it a table of its own',
                                                         zbxhist_internal.probable_rows(i.inhrelid)) || past
                       ELSE format('The command makes it a table of its own: its rows are read in %s no more.  ALTER FOREIGN TABLE %s INHERIT %1$s; has them back',
                                   parent, i.inhrelid::regclass) END,
               CASE WHEN b.command IS NOT NULL THEN b.command
                    WHEN k.relkind = 'r' THEN format('CALL zbxhist.absorb(%L, %L);', parent, i.inhrelid::regclass)
                    ELSE format('ALTER FOREIGN TABLE %s NO INHERIT %s;', i.inhrelid::regclass, parent) END
          FROM pg_inherits i
          JOIN pg_class k ON k.oid = i.inhrelid
         CROSS JOIN LATERAL (SELECT zbxhist_internal.lost_bounds(parent, i.inhrelid)) b (command)
         WHERE i.inhparent = parent
           AND NOT EXISTS (SELECT FROM zbxhist.list_partitions(parent) p WHERE p.partition = i.inhrelid)
           AND i.inhrelid IS DISTINCT FROM zbxhist_internal.packed_table(parent);
    RETURN QUERY
        SELECT 'error', 'overlap', o.relation::text,
               format('it is for the same time as %s', zbxhist_internal.object_list(o.others::text[]))
               || CASE WHEN o.is_packed
                       THEN ', and it is packed: an INSERT, UPDATE or DELETE may miss rows of the one or the other.  The command makes a partition of it, which check() then tells how to do away with'
                       ELSE format(': an INSERT, UPDATE or DELETE may miss rows of the one or the other.  The command moves its rows, about %s, there, and makes it a table of its own',
                                   zbxhist_internal.probable_rows(o.relation)) || past END,
               CASE WHEN o.is_packed
                    THEN format('CALL zbxhist.unpack(%L, %L);', parent, zbxhist_internal.format_day(o.from_clock))
                    ELSE format('CALL zbxhist.absorb(%L, %L);', parent, o.relation) END
          FROM zbxhist_internal.overlapping(parent) o;
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
