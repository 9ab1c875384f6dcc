-- sql/check/check_partitions.sql

CREATE FUNCTION zbxhist_internal.check_partitions(parent regclass)
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    source pg_class;
BEGIN
    SELECT * INTO STRICT source FROM pg_class k WHERE k.oid = parent;
    RETURN QUERY
        SELECT 'error', 'no_bounds', i.inhrelid::regclass::text,
               format('table inherits from %s without a constraint "zbxhist_clock" that zbxhist can read: no row is sent to it', parent),
               format('ALTER TABLE %s NO INHERIT %s; or give it the constraint CHECK (clock >= ... AND clock < ...)',
                      i.inhrelid::regclass, parent)
          FROM pg_inherits i
         WHERE i.inhparent = parent
           AND NOT EXISTS (SELECT FROM zbxhist.list_partitions(parent) p WHERE p.partition = i.inhrelid)
           AND i.inhrelid IS DISTINCT FROM zbxhist_internal.packed_table(parent);
    RETURN QUERY
        SELECT 'error', 'overlap', b.partition::text,
               format('its range overlaps that of %s', a.partition),
               'Move the rows of one of them away and drop it.'
          FROM zbxhist.list_partitions(parent) a
          JOIN zbxhist.list_partitions(parent) b
            ON b.from_clock < a.to_clock AND a.from_clock < b.to_clock
           AND (a.from_clock, a.partition::oid) < (b.from_clock, b.partition::oid);
    RETURN QUERY
        SELECT 'warning', 'owner', k.oid::regclass::text,
               format('it belongs to %s, its parent to %s', k.relowner::regrole, source.relowner::regrole),
               format('ALTER TABLE %s OWNER TO %s;', k.oid::regclass, source.relowner::regrole)
          FROM zbxhist.list_partitions(parent) p JOIN pg_class k ON k.oid = p.partition
         WHERE k.relowner <> source.relowner;
    RETURN QUERY
        SELECT 'warning', 'privileges', p.partition::text,
               'its privileges differ from those of its parent',
               format('SELECT zbxhist_internal.clone_grants(%L, %L);', parent, p.partition)
          FROM zbxhist.list_partitions(parent) p
         WHERE zbxhist_internal.describe_grants(p.partition) <> zbxhist_internal.describe_grants(parent);
    RETURN QUERY
        SELECT 'warning', 'indexes', p.partition::text,
               'its indexes differ from those of its parent',
               'Compare them with \d and create or drop what differs.'
          FROM zbxhist.list_partitions(parent) p
         WHERE zbxhist_internal.describe_indexes(p.partition) <> zbxhist_internal.describe_indexes(parent);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.check_partitions(regclass) IS
'The part of check that compares the partitions with their parent and each other (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.check_partitions(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.check_partitions(regclass) TO PUBLIC;
