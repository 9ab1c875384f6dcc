-- sql/check/check_maintenance.sql

CREATE FUNCTION zbxhist_internal.check_maintenance(parent regclass)
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    remedy CONSTANT text := 'CALL zbxhist.run_maintenance();';
    policy zbxhist.parent_config;
    ahead  record;
BEGIN
    SELECT * INTO policy FROM zbxhist.parent_config c WHERE c.parent = check_maintenance.parent;
    IF NOT policy.routing THEN
        RETURN;
    END IF;
    RETURN QUERY
        SELECT 'error', 'step_failed',
               zbxhist_internal.object_list(array_agg(coalesce(nullif(p.relation, ''), p.parent::text) ORDER BY p.relation)),
               format('maintenance fails (%s): %s', p.step, min(p.message)), remedy
          FROM zbxhist.step_problem p
         WHERE p.parent = check_maintenance.parent AND NOT zbxhist_internal.is_transient(p.sqlstate)
         GROUP BY p.step, p.sqlstate, replace(p.message, nullif(p.relation, ''), '');
    RETURN QUERY
        SELECT 'warning', 'waits_for_lock',
               zbxhist_internal.object_list(array_agg(coalesce(nullif(p.relation, ''), p.parent::text) ORDER BY p.relation)),
               format('maintenance has been waiting for more than a day (%s): a transaction has it locked, or began earlier and has not ended.  Look for long ones', p.step),
               zbxhist_internal.long_transactions()
          FROM zbxhist.step_problem p
         WHERE p.parent = check_maintenance.parent AND zbxhist_internal.is_transient(p.sqlstate)
           AND p.since < now() - interval '1 day'
           AND p.step NOT IN ('pack', 'unpack', 'truncate', 'take_up')
         GROUP BY p.step;
    IF NOT zbxhist_internal.is_overdue(parent, 'premake') THEN
        RETURN;
    END IF;
    SELECT count(*) FILTER (WHERE p.from_clock <= zbxhist_internal.current_clock()) AS present,
           count(*) FILTER (WHERE p.from_clock > zbxhist_internal.current_clock()) AS future,
           max(p.to_clock) AS covered_until
      INTO ahead
      FROM zbxhist.list_partitions(parent) p
     WHERE p.to_clock > zbxhist_internal.current_clock();
    IF ahead.present = 0 THEN
        RETURN QUERY SELECT 'error', 'no_current_partition', parent::text,
            'there is no partition for the present: new rows stay in the table itself', remedy;
    ELSIF policy.premake > 0 AND ahead.future = 0 THEN
        RETURN QUERY SELECT 'warning', 'no_partition_ahead', parent::text,
            format('there is no partition for the time from %s on',
                   zbxhist_internal.format_time(to_timestamp(ahead.covered_until))), remedy;
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.check_maintenance(regclass) IS
'The part of check that is about what maintenance has done (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.check_maintenance(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.check_maintenance(regclass) TO PUBLIC;
