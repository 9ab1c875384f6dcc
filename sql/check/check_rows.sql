-- sql/check/check_rows.sql

CREATE FUNCTION zbxhist_internal.check_rows(parent regclass)
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    remedy    CONSTANT text := 'CALL zbxhist.run_maintenance();';
    policy    zbxhist.parent_config;
    shown     record;
    postponed boolean;
BEGIN
    SELECT * INTO policy FROM zbxhist.parent_config c WHERE c.parent = check_rows.parent;
    IF zbxhist_internal.own_pages(parent) = 0 OR NOT has_table_privilege(parent, 'SELECT')
       OR NOT policy.routing THEN
        RETURN;
    END IF;
    SELECT min(b.from_clock) AS oldest, count(*) AS partitions INTO shown
      FROM zbxhist_internal.waiting_partitions(parent) AS w (partition),
           zbxhist.partition_bounds(w.partition) b;
    IF shown.partitions > 0 AND zbxhist_internal.is_overdue(parent, 'move') THEN
        RETURN QUERY SELECT 'warning', 'rows_in_parent', parent::text,
            format('the table itself holds rows that belong to partitions, the oldest of them from %s on',
                   zbxhist_internal.format_time(to_timestamp(shown.oldest))), remedy;
    END IF;
    IF zbxhist_internal.own_pages(parent) < 10000 AND zbxhist_internal.is_overdue(parent, 'merge') THEN
        RETURN QUERY
            SELECT 'warning', 'late_rows', check_rows.parent::text,
                   format('%s rows of packed days wait in the table itself', sum(w.rows)), remedy
              FROM zbxhist.packed_day d
             CROSS JOIN LATERAL zbxhist_internal.count_waiting(check_rows.parent, d.from_clock, d.to_clock) AS w (rows)
             WHERE d.parent = check_rows.parent
               AND d.day IN (SELECT zbxhist_internal.waiting_days(check_rows.parent))
               AND zbxhist_internal.has_same_columns(check_rows.parent, d.day)
            HAVING sum(w.rows) > 100000;
    END IF;
    RETURN QUERY
        SELECT 'warning', 'duplicates', s.parent::text,
               format('rows that stay in the table itself, because there is another row with the same key in a partition or packed day%2$s: %1$s.  The command shows both: keep the right one',
                      s.duplicates,
                      CASE WHEN EXISTS (SELECT FROM zbxhist.packed_day d WHERE d.parent = s.parent)
                           THEN ', or 65535 of the same item and second' ELSE '' END),
               format('SELECT tableoid::regclass, * FROM %s WHERE (itemid, clock) IN (SELECT itemid, clock FROM ONLY %1$s) ORDER BY itemid, clock;', s.parent)
          FROM zbxhist.parent_state s
         WHERE s.parent = check_rows.parent AND s.duplicates > 0;
    IF zbxhist_internal.own_pages(parent) > 8192 AND zbxhist_internal.is_overdue(parent, 'truncate')
       AND NOT zbxhist_internal.has_own_rows(parent, zbxhist_internal.deletion_clock(parent)) THEN
        SELECT p.message = 'postponed' INTO postponed
          FROM zbxhist.step_problem p WHERE p.parent = check_rows.parent AND p.step = 'truncate';
        RETURN QUERY SELECT 'warning', 'not_truncated', parent::text,
            format('nothing in the table itself is needed any more, but its %s have not been freed for more than a day',
                   pg_size_pretty(pg_total_relation_size(parent)))
            || CASE WHEN postponed THEN ': to make sure of that takes too long until it is vacuumed' ELSE '' END,
            CASE WHEN postponed THEN format('VACUUM %s;', parent) ELSE remedy END;
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.check_rows(regclass) IS
'The part of check that is about rows in the parent itself (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.check_rows(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.check_rows(regclass) TO PUBLIC;
