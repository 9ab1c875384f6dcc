-- sql/maintenance/forget_dropped.sql

CREATE FUNCTION zbxhist_internal.forget_dropped()
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    DELETE FROM zbxhist.parent_config c
     WHERE NOT EXISTS (SELECT FROM pg_class k WHERE k.oid = c.parent);
    DELETE FROM zbxhist.parent_state s
     WHERE NOT EXISTS (SELECT FROM zbxhist.parent_config c WHERE c.parent = s.parent);
    DELETE FROM zbxhist.partition_state s
     WHERE NOT EXISTS (SELECT FROM zbxhist.parent_config c WHERE c.parent = s.parent);
    DELETE FROM zbxhist.packed_day d
     WHERE NOT EXISTS (SELECT FROM pg_class k WHERE k.oid = d.parent);
    DELETE FROM zbxhist.step_problem p
     WHERE NOT EXISTS (SELECT FROM pg_class k WHERE k.oid = p.parent);
    DELETE FROM zbxhist.import_slice i
     WHERE NOT EXISTS (SELECT FROM pg_class k WHERE k.oid = i.source)
        OR NOT EXISTS (SELECT FROM zbxhist.parent_config c WHERE c.parent = i.parent);
    DELETE FROM zbxhist.lost_values v
     WHERE NOT EXISTS (SELECT FROM pg_class k WHERE k.oid = v.parent);
    DELETE FROM zbxhist.verified_day v
     WHERE NOT EXISTS (SELECT FROM zbxhist.packed_day d WHERE d.day = v.day);
    SELECT zbxhist_internal.forget_damage(m.day) FROM zbxhist_internal.met_damage() m
     WHERE NOT EXISTS (SELECT FROM zbxhist.packed_day d WHERE d.day = m.day);
    DELETE FROM zbxhist.stray_mark m
     WHERE NOT EXISTS (SELECT FROM zbxhist.parent_config c WHERE c.parent = m.parent)
$$;

COMMENT ON FUNCTION zbxhist_internal.forget_dropped() IS
'Forgets managed tables that have been dropped (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.forget_dropped() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.forget_dropped() TO pg_database_owner;
