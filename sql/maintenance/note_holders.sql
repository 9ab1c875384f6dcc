-- sql/maintenance/note_holders.sql

CREATE FUNCTION zbxhist_internal.note_holders(parent regclass, partition regclass)
RETURNS void
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    UPDATE zbxhist.step_problem p
       SET holders = zbxhist_internal.lock_holders(partition, zbxhist_internal.packed_table(note_holders.parent))
     WHERE p.parent = note_holders.parent AND p.step = 'pack' AND p.relation = partition::text
$$;

COMMENT ON FUNCTION zbxhist_internal.note_holders(regclass, regclass) IS
'Notes who keeps a partition from being packed after he has been waited for (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.note_holders(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.note_holders(regclass, regclass) TO pg_database_owner;
