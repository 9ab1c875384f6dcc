-- sql/check/check_unpacked.sql

CREATE FUNCTION zbxhist_internal.check_unpacked(policy zbxhist.parent_config)
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    problem CONSTANT text := zbxhist_internal.why_not_packable(policy.parent);
    cutoff  CONSTANT bigint := zbxhist_internal.clock_before(policy.pack_after);
BEGIN
    IF problem IS NOT NULL THEN
        RETURN QUERY SELECT 'info', 'not_packable', policy.parent::text,
            format('its partitions cannot be packed: %s.  They stay ordinary partitions, which does no harm', problem),
            format('SELECT zbxhist.alter_parent(%L, never_pack => true%s);', policy.parent,
                   CASE policy.ingest WHEN 'runs' THEN ', ingest => ''heap''' ELSE '' END);
        RETURN;
    END IF;
    RETURN QUERY
        SELECT 'info', 'not_packable',
               zbxhist_internal.object_list(array_agg(p.partition::text ORDER BY p.from_clock)),
               format('it cannot be packed: %s.  It stays an ordinary partition, which does no harm', min(u.problem)),
               NULL
          FROM zbxhist.list_partitions(policy.parent) p,
               zbxhist_internal.not_packable(policy.parent, p.partition) AS u (problem)
         WHERE p.to_clock <= cutoff AND u.problem IS NOT NULL
         GROUP BY replace(u.problem, p.partition::text, '');
    RETURN QUERY
        SELECT 'warning', 'not_packed',
               zbxhist_internal.object_list(array_agg(e.partition::text ORDER BY e.partition::text)),
               'it should have been packed more than a day ago: a transaction has it locked, or began earlier and has not ended.  Look for long ones',
               zbxhist_internal.long_transactions()
          FROM zbxhist_internal.packable_partitions(policy.parent) AS e (partition)
          JOIN zbxhist.step_problem p ON p.parent = policy.parent AND p.step = 'pack'
                                     AND p.relation = e.partition::text
         WHERE p.since < now() - interval '1 day' AND zbxhist_internal.is_transient(p.sqlstate)
        HAVING count(*) > 0;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.check_unpacked(zbxhist.parent_config) IS
'The part of check that is about partitions that ought to be packed and are not (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.check_unpacked(zbxhist.parent_config) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.check_unpacked(zbxhist.parent_config) TO PUBLIC;
