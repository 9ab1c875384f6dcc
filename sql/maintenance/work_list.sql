-- sql/maintenance/work_list.sql

CREATE FUNCTION zbxhist_internal.work_list(parent regclass, step text)
RETURNS regclass[]
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    problem text;
    state   text;
    result  regclass[];
BEGIN
    PERFORM set_config('lock_timeout', zbxhist_internal.short_lock_timeout()::text, true);
    PERFORM zbxhist_internal.note_outcome(parent, step, NULL, 'done');
    result := CASE step
        WHEN 'move' THEN ARRAY(SELECT w FROM zbxhist_internal.waiting_partitions(parent) w
                                WHERE zbxhist_internal.may_wait(parent))
        WHEN 'split' THEN ARRAY(SELECT zbxhist_internal.partitions_to_split(parent))
        WHEN 'replace' THEN ARRAY(SELECT zbxhist_internal.places_to_replace(parent))
        WHEN 'align' THEN ARRAY(SELECT zbxhist_internal.unaligned_partitions(parent))
        WHEN 'index' THEN ARRAY(SELECT u.relation FROM zbxhist_internal.unfinished_indexes(parent) u
                                 WHERE u.is_dropped
                                 UNION SELECT zbxhist_internal.unindexed_partitions(parent))
        WHEN 'drop' THEN ARRAY(SELECT zbxhist_internal.expired_partitions(parent)
                                UNION ALL SELECT zbxhist_internal.expired_days(parent)
                                           WHERE zbxhist_internal.deletion_clock(parent) IS NOT NULL)
        WHEN 'pack' THEN ARRAY(SELECT zbxhist_internal.packable_partitions(parent))
        WHEN 'merge' THEN ARRAY(SELECT w FROM zbxhist_internal.waiting_days(parent) w
                                 WHERE zbxhist_internal.has_same_columns(work_list.parent, w))
        WHEN 'merge_runs' THEN ARRAY(SELECT d.day FROM zbxhist.packed_day d
                                      WHERE d.parent = work_list.parent AND d.runs
                                        AND pg_relation_size(d.day) > 0
                                      ORDER BY d.from_clock)
        WHEN 'repack' THEN ARRAY(SELECT w.day FROM zbxhist_internal.wasteful_days(parent) w
                                  WHERE zbxhist_internal.may_repack(parent))
        WHEN 'compact' THEN ARRAY(SELECT zbxhist_internal.days_to_compact(parent))
        WHEN 'unpack' THEN ARRAY(SELECT d.day FROM zbxhist.packed_day d
                                  WHERE d.parent = work_list.parent AND NOT d.runs
                                    AND (d.partition IS NOT NULL
                                         OR NOT EXISTS (SELECT FROM zbxhist.parent_config c
                                                      WHERE c.parent = work_list.parent AND c.routing)
                                         OR d.day IN (SELECT zbxhist_internal.altered_days(work_list.parent))
                                         -- it is detached as a partition
                                         OR zbxhist_internal.deletion_clock(work_list.parent) IS NULL
                                            AND d.day IN (SELECT zbxhist_internal.expired_days(work_list.parent)))
                                  ORDER BY d.from_clock)
        WHEN 'inspect' THEN ARRAY(SELECT zbxhist_internal.days_to_verify(parent))
        WHEN 'undo' THEN ARRAY(SELECT zbxhist_internal.own_children(parent))
    END;
    -- who may not give them to the owner of the table, see step_owner, may do nothing else
    IF result <> '{}' AND step IN ('split', 'replace', 'align', 'index', 'drop', 'pack', 'merge', 'merge_runs', 'repack') THEN
        result := ARRAY(SELECT w.relation FROM unnest(result) WITH ORDINALITY w (relation, place)
                         WHERE w.relation NOT IN (SELECT zbxhist_internal.foreign_children(parent))
                         ORDER BY w.place);
    END IF;
    RETURN result;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT, state = RETURNED_SQLSTATE;
    PERFORM zbxhist_internal.log_action(parent, step, NULL, NULL, NULL, started, NULL, state, problem);
    PERFORM zbxhist_internal.note_outcome(parent, step, NULL, 'failed', state, problem);
    RAISE WARNING 'zbxhist: % of % failed: %', step, parent, problem;
    RETURN '{}';
END
$$;

COMMENT ON FUNCTION zbxhist_internal.work_list(regclass, text) IS
'The partitions or packed days on which a step of maintenance has something to do; none, and a log entry, if that cannot be found out (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.work_list(regclass, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.work_list(regclass, text) TO pg_database_owner;
