-- sql/check/check_unpacked.sql

CREATE FUNCTION zbxhist_internal.check_unpacked(policy zbxhist.parent_config)
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    problem CONSTANT text := zbxhist_internal.why_not_packable(policy.parent);
    cutoff  CONSTANT numeric := extract(epoch FROM clock_timestamp() AT TIME ZONE 'UTC' - policy.pack_after);
BEGIN
    IF problem IS NOT NULL THEN
        RETURN QUERY SELECT 'info', 'not_packable', policy.parent::text,
            format('its partitions cannot be packed: %s', problem),
            format('SELECT zbxhist.alter_parent(%L, never_pack => true);', policy.parent);
        RETURN;
    END IF;
    RETURN QUERY
        SELECT 'info', 'not_packable', p.partition::text,
               format('it cannot be packed: %s', zbxhist_internal.not_packable(policy.parent, p.partition)),
               'It stays an ordinary partition, which does no harm.'
          FROM zbxhist.list_partitions(policy.parent) p
         WHERE p.to_clock <= cutoff AND zbxhist_internal.not_packable(policy.parent, p.partition) IS NOT NULL;
    -- who may not read the log is told of it, but not the reason
    RETURN QUERY
        SELECT 'warning', 'not_packed', e.partition::text,
               format('it could have been packed since %s%s',
                      zbxhist_internal.format_time(to_timestamp(b.to_clock) + policy.pack_after),
                      ': ' || l.message),
               format('Older transactions or their locks are in the way: see pg_stat_activity, then CALL zbxhist.run_maintenance(%L);', policy.parent)
          FROM zbxhist_internal.packable_partitions(policy.parent) AS e (partition)
          CROSS JOIN LATERAL zbxhist.partition_bounds(e.partition) b
          LEFT JOIN LATERAL (
               SELECT g.message FROM zbxhist_internal.last_problem(policy.parent, e.partition) AS g (message)) l ON true
         WHERE b.to_clock <= cutoff - 86400 AND policy.created_at < now() - interval '1 day'
         ORDER BY b.from_clock LIMIT 3;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.check_unpacked(zbxhist.parent_config) IS
'The part of check that is about partitions that ought to be packed and are not (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.check_unpacked(zbxhist.parent_config) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.check_unpacked(zbxhist.parent_config) TO PUBLIC;
