-- sql/zabbix/deletion.sql

-- The policy by which values of a managed table or rows of an audit log are deleted, or partitions
-- detached; no row if the table is neither.
CREATE FUNCTION zbxhist_internal.deletion_policy(parent regclass)
RETURNS TABLE (retention interval, deleted_until bigint, deleted_by interval, may_announce boolean)
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT c.retention, c.deleted_until, c.deleted_by, c.retention_action = 'drop'
          FROM zbxhist.parent_config c WHERE c.parent = deletion_policy.parent
         UNION ALL
        SELECT c.retention, c.deleted_until, c.deleted_by, false
          FROM zbxhist.auditlog_config c WHERE c.parent = deletion_policy.parent;
END
$$;

-- Returns the clock below which values are past retention (cutoff), and the one below which maintenance
-- may delete them or detach their partitions (allowed).  If that is lower: why a person must agree (problem), or, with
-- is_announced, why check() announces the deletion for a day before.
-- Values that expired since the last deletion may be deleted.  If these are more than two days, or a
-- third of a shorter retention, then the server's clock may be wrong, maintenance was off, a backup was
-- restored, or somebody has set another period.  Then a person must agree if the newest values would be
-- deleted, or more than a third of the time that has values.  Whoever set a shorter period in Zabbix has
-- decided; that is only announced.  If there are no values (is_empty), nothing says that the clock is right.
CREATE FUNCTION zbxhist_internal.deletion_limit(
    parent regclass, OUT cutoff bigint, OUT allowed bigint, OUT retention interval, OUT problem text, OUT is_announced boolean, OUT is_empty boolean)
LANGUAGE plpgsql VOLATILE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    policy  record;
    keeps   record;
    agreed  bigint;
    first   bigint;
    last    bigint;
    span    record;
BEGIN
    is_announced := false;
    SELECT p.* INTO policy FROM zbxhist_internal.deletion_policy(parent) p;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    keeps := zbxhist_internal.effective_retention(parent, policy.retention);
    cutoff := zbxhist_internal.clock_before(keeps.retention);
    IF cutoff IS NULL THEN
        RETURN;
    END IF;
    retention := keeps.retention;
    -- lower than every clock
    agreed := coalesce(policy.deleted_until, -2147483649);
    allowed := cutoff;
    IF policy.deleted_by = retention
       AND cutoff - agreed <= extract(epoch FROM least(interval '2 days', greatest(retention / 3, interval '1 hour'))) THEN
        RETURN;
    END IF;
    -- rows of the parent itself are older than its partitions
    IF zbxhist_internal.own_pages(parent) > 0 THEN
        SELECT greatest(s.oldest_clock, agreed) INTO first FROM zbxhist.parent_state s WHERE s.parent = deletion_limit.parent;
        SELECT min(r.from_clock) INTO last FROM zbxhist_internal.list_ranges(parent) r;
    END IF;
    SELECT coalesce(sum(p.to_clock - p.from_clock) FILTER (WHERE p.to_clock <= deletion_limit.cutoff), 0) AS going,
           coalesce(sum(p.to_clock - p.from_clock) FILTER (WHERE p.to_clock > deletion_limit.cutoff), 0) AS staying
      INTO span
      FROM (SELECT greatest(r.from_clock, r.to_clock - 31 * 86400) AS from_clock, r.to_clock
              FROM zbxhist_internal.list_ranges(parent) r
              LEFT JOIN zbxhist.packed_day d ON d.day = r.relation
             WHERE r.to_clock > agreed
               AND CASE WHEN r.is_packed THEN d.nrows > 0 ELSE zbxhist_internal.own_pages(r.relation) > 0 END
             UNION ALL
            SELECT first, least(last, deletion_limit.cutoff) WHERE first < least(last, deletion_limit.cutoff)
             UNION ALL
            SELECT greatest(first, deletion_limit.cutoff), last WHERE greatest(first, deletion_limit.cutoff) < last) p;
    is_empty := span.going + span.staying = 0;
    IF span.going = 0 OR span.staying > 0 AND 2 * span.going <= span.staying THEN
        RETURN;
    END IF;
    is_announced := policy.may_announce AND starts_with(keeps.source, 'zabbix') AND policy.deleted_by IS DISTINCT FROM retention;
    IF is_announced AND EXISTS (SELECT FROM zbxhist.parent_state s
                                 WHERE s.parent = deletion_limit.parent
                                   AND deletion_limit.cutoff - s.announced_cutoff BETWEEN 86400 AND 3 * 86400) THEN
        RETURN;
    END IF;
    allowed := least(cutoff, agreed);
    problem := CASE WHEN span.staying = 0 THEN 'the newest ones'
                    ELSE 'more than a third of the time for which there are values' END;
END
$$;

-- Returns the clock below which rows of a table may be deleted; NULL if none may, because there is no
-- retention, or it detaches partitions.
CREATE FUNCTION zbxhist_internal.deletion_clock(parent regclass) RETURNS bigint
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT d.allowed FROM zbxhist_internal.deletion_limit(parent) d
     WHERE NOT EXISTS (SELECT FROM zbxhist.parent_config c WHERE c.parent = deletion_clock.parent AND c.retention_action = 'detach')
$$;

-- Notes that values of a table below a clock may be deleted, and by which retention.
CREATE FUNCTION zbxhist_internal.agree_to_deletion(parent regclass, until bigint, retention interval) RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
    UPDATE zbxhist.parent_config c SET deleted_until = until, deleted_by = agree_to_deletion.retention
     WHERE c.parent = agree_to_deletion.parent;
    UPDATE zbxhist.auditlog_config c SET deleted_until = until, deleted_by = agree_to_deletion.retention
     WHERE c.parent = agree_to_deletion.parent
$$;

-- Notes that values that are past the retention of a policy now may be deleted.
CREATE FUNCTION zbxhist_internal.agree_to_retention(policy zbxhist.parent_config) RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT zbxhist_internal.agree_to_deletion(policy.parent, zbxhist_internal.clock_before(r.retention), r.retention)
      FROM zbxhist_internal.effective_retention(policy.parent, policy.retention) r
$$;

-- Notes at the beginning of a run up to where it may delete, and since when check() announces a deletion.
-- To save writes it notes the former at most every six hours, which does no harm.
CREATE FUNCTION zbxhist_internal.note_deletion(parent regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    reach CONSTANT record := zbxhist_internal.deletion_limit(parent);
BEGIN
    IF reach.problem IS NULL AND reach.is_empty IS NOT TRUE THEN
        PERFORM zbxhist_internal.agree_to_deletion(parent, reach.cutoff, reach.retention)
           FROM zbxhist_internal.deletion_policy(parent) c
          WHERE reach.cutoff IS NOT NULL
            AND (c.deleted_by IS DISTINCT FROM reach.retention OR c.deleted_until IS NULL
                 OR abs(reach.cutoff - c.deleted_until) > extract(epoch FROM least(interval '6 hours', reach.retention / 12)));
    END IF;
    UPDATE zbxhist.parent_state s
       SET announced_cutoff = CASE WHEN reach.problem IS NULL OR NOT reach.is_announced THEN NULL
                                   WHEN reach.cutoff - s.announced_cutoff BETWEEN 0 AND 3 * 86400 THEN s.announced_cutoff
                                   ELSE reach.cutoff END
     WHERE s.parent = note_deletion.parent
       AND (s.announced_cutoff IS NOT NULL OR reach.is_announced);
END
$$;

-- Lets maintenance delete, or detach, the values of a managed table, or the rows of an audit log, that are
-- older than a time.  All of them must be past retention.  If maintenance deletes nothing before somebody
-- agrees, check() prints this call.
CREATE FUNCTION zbxhist.accept_deletion(parent regclass, until timestamptz) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    reach record;
BEGIN
    PERFORM zbxhist_internal.refuse('22004', 'until must not be null') WHERE until IS NULL;
    PERFORM FROM zbxhist.parent_config c WHERE c.parent = accept_deletion.parent FOR UPDATE;
    PERFORM zbxhist_internal.require_parent(parent)
      WHERE NOT EXISTS (SELECT FROM zbxhist.auditlog_config c WHERE c.parent = accept_deletion.parent);
    PERFORM zbxhist_internal.require_owner(parent);
    reach := zbxhist_internal.deletion_limit(parent);
    PERFORM zbxhist_internal.refuse('55000', format('maintenance deletes no values of table %s', parent),
        detail => 'There is no retention.')
      WHERE reach.cutoff IS NULL;
    PERFORM zbxhist_internal.refuse('22023', format('values from before %s are not all past retention', until),
        detail => format('Those from before %s are.', zbxhist_internal.format_time(to_timestamp(reach.cutoff))))
      WHERE floor(extract(epoch FROM until)) > reach.cutoff;
    PERFORM zbxhist_internal.agree_to_deletion(parent, floor(extract(epoch FROM until))::bigint, reach.retention);
END
$$;

-- Part of check(): values that maintenance does not delete before somebody agrees, or before a day.
CREATE FUNCTION zbxhist_internal.check_deletion(parent regclass) RETURNS SETOF zbxhist_internal.check_line
LANGUAGE sql VOLATILE STRICT PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp SET intervalstyle = postgres AS $$
    SELECT CASE WHEN d.is_announced THEN 'warning' ELSE 'error' END,
           CASE WHEN d.is_announced THEN 'deletion_ahead' ELSE 'deletion_stopped' END, parent::text,
           format(CASE WHEN d.is_announced
                       THEN 'the storage period in Zabbix is now %1$s: in a day maintenance deletes older values, %2$s, which are %3$s.  To keep them, set a longer period.  With the command, the next maintenance deletes them'
                       ELSE 'maintenance %4$s nothing, because the values older than %1$s are %3$s%5$s.  Is the clock of the server right, was maintenance off for long, or is this a restored backup?  The command agrees' END,
                  d.retention, lost, d.problem, CASE WHEN lost IS NULL THEN 'detaches' ELSE 'deletes' END, ': ' || lost),
           format('SELECT zbxhist.accept_deletion(%L, until => %L);', parent, zbxhist_internal.format_time(to_timestamp(d.cutoff)))
      FROM zbxhist_internal.deletion_limit(parent) d
     CROSS JOIN LATERAL zbxhist_internal.describe_deletion(parent, d.retention) lost
     WHERE d.problem IS NOT NULL
$$;
