-- sql/maintenance/preview.sql

-- What some steps of the next maintenance of a managed table would do.
CREATE FUNCTION zbxhist_internal.preview_steps(policy zbxhist.parent_config, steps text[])
RETURNS TABLE (action text, partition text, from_time timestamptz, to_time timestamptz, rows bigint, bytes bigint)
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE s.step WHEN 'drop' THEN policy.retention_action ELSE s.step END,
           r.relation::text, to_timestamp(r.from_clock), to_timestamp(r.to_clock),
           CASE WHEN s.step IN ('move', 'merge') THEN w.rows
                WHEN s.step = 'pack' OR s.step = 'drop' AND NOT r.is_packed THEN zbxhist_internal.estimated_rows(r.relation)
                WHEN r.is_packed THEN d.nrows END,
           CASE WHEN s.step IN ('drop', 'pack', 'unpack', 'archive') THEN pg_total_relation_size(r.relation) END
      FROM unnest(steps) WITH ORDINALITY s (step, place)
     -- a packed day is unpacked to be detached
     CROSS JOIN LATERAL unnest(zbxhist_internal.targets_of(policy.parent, s.step)
                               || CASE WHEN s.step = 'drop' AND policy.retention_action = 'detach'
                                       THEN ARRAY(SELECT e.relation FROM zbxhist_internal.expired(policy.parent) e WHERE e.is_packed) END)
           WITH ORDINALITY t (relation, place)
      JOIN zbxhist_internal.list_ranges(policy.parent) r ON r.relation = t.relation
      LEFT JOIN zbxhist.packed_day d ON d.day = t.relation
      LEFT JOIN LATERAL (SELECT zbxhist_internal.count_waiting(policy.parent, r.from_clock, r.to_clock) AS rows
                          WHERE s.step IN ('move', 'merge')) w ON true
     WHERE (s.step <> 'move' OR coalesce(w.rows, 1) > 0)
       AND (s.step <> 'unpack' OR r.relation NOT IN (SELECT e.relation FROM zbxhist_internal.expired(policy.parent) e))
     ORDER BY s.place, t.place
$$;

-- What the next maintenance of one managed table would do.
CREATE FUNCTION zbxhist_internal.preview_parent(parent regclass)
RETURNS TABLE (action text, partition text, from_time timestamptz, to_time timestamptz, rows bigint, bytes bigint)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    policy zbxhist.parent_config;
    cutoff CONSTANT bigint := zbxhist_internal.deletion_clock(parent);
    extend record;
BEGIN
    SELECT * INTO STRICT policy FROM zbxhist.parent_config c WHERE c.parent = preview_parent.parent;
    IF NOT policy.routing OR (zbxhist_internal.why_unfit(parent)).problem IS NOT NULL THEN
        RETURN;
    END IF;
    RETURN QUERY
        SELECT 'create', NULL::text, to_timestamp(w.from_clock), to_timestamp(w.to_clock),
               NULL::bigint, NULL::bigint
          FROM zbxhist_internal.wanted_ranges(policy) w;
    RETURN QUERY SELECT * FROM zbxhist_internal.preview_steps(policy, '{split,move}');
    extend := zbxhist_internal.next_existing_range(policy);
    IF extend.from_clock IS NOT NULL THEN
        RETURN QUERY
            SELECT 'move', NULL::text,
                   to_timestamp(greatest(cutoff, zbxhist_internal.waiting_clock(parent, coalesce(cutoff, -2147483648), extend.to_clock, false))),
                   to_timestamp(extend.to_clock),
                   zbxhist_internal.count_waiting(parent, coalesce(cutoff, -2147483648), extend.to_clock),
                   NULL::bigint;
    END IF;
    RETURN QUERY SELECT * FROM zbxhist_internal.preview_steps(policy, '{drop,pack,merge,unpack}');
    RETURN QUERY
        SELECT 'compact', c.days[1]::text, to_timestamp(c.from_clock), to_timestamp(c.to_clock), c.rows, c.bytes
          FROM zbxhist_internal.days_to_compact(preview_parent.parent) AS t (day)
          JOIN zbxhist_internal.compactable_days(preview_parent.parent) c ON c.days[1] = t.day
         ORDER BY c.from_clock DESC;
    RETURN QUERY
        SELECT CASE WHEN w.tablespace IS NULL THEN 'repack' ELSE 'set_tablespace' END,
               d.day::text, to_timestamp(d.from_clock), to_timestamp(d.to_clock),
               d.nrows, w.bytes
          FROM zbxhist_internal.wasteful_days(preview_parent.parent) w
          JOIN zbxhist.packed_day d ON d.day = w.day;
    RETURN QUERY SELECT * FROM zbxhist_internal.preview_steps(policy, '{archive}');
    RETURN QUERY
        SELECT 'analyze', NULL::text, NULL::timestamptz, NULL::timestamptz, NULL::bigint, NULL::bigint
         WHERE zbxhist_internal.wants_analyze(parent);
    IF zbxhist_internal.own_pages(parent) > 0 AND NOT zbxhist_internal.has_own_rows(parent, cutoff) THEN
        RETURN QUERY
            SELECT 'truncate', NULL::text, NULL::timestamptz, to_timestamp(cutoff),
                   w.rows, pg_total_relation_size(parent)
              FROM zbxhist_internal.waiting_rows(parent) w;
    ELSIF zbxhist_internal.own_pages(parent) BETWEEN 1 AND 131072
          AND zbxhist_internal.waiting_clock(parent, -2147483648, cutoff, false) IS NOT NULL THEN
        RETURN QUERY
            SELECT 'delete', NULL::text, NULL::timestamptz, to_timestamp(cutoff),
                   zbxhist_internal.count_waiting(parent, -2147483648, cutoff), NULL::bigint;
    END IF;
END
$$;

-- What the next maintenance would create, split, move, pack, merge, compact, repack, archive, write
-- in another tablespace (set_tablespace), analyze and drop, with rows (an estimate) and bytes; a
-- row for all partitions of a day.
--
-- What is to be done to several partitions of one day is one row.
CREATE FUNCTION zbxhist.preview(parent regclass DEFAULT NULL)
RETURNS TABLE (
    table_name regclass, action text, partition text, from_time timestamptz, to_time timestamptz, rows bigint,
    bytes bigint)
LANGUAGE plpgsql VOLATILE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    target regclass;
BEGIN
    RETURN QUERY
        SELECT c.parent, p.*
          FROM zbxhist.auditlog_config c
         CROSS JOIN LATERAL (
               SELECT 'create', NULL, to_timestamp(m.from_clock), to_timestamp(m.to_clock), NULL::bigint, NULL::bigint
                 FROM zbxhist_internal.wanted_ranges(zbxhist_internal.auditlog_policy(c)) m
                UNION ALL
               SELECT 'drop', a.relation::text, to_timestamp(a.from_clock), to_timestamp(a.to_clock),
                      zbxhist_internal.estimated_rows(a.relation), pg_total_relation_size(a.relation)
                 FROM zbxhist_internal.list_ranges(c.parent) a
                WHERE a.relation IN (SELECT e.relation FROM zbxhist_internal.expired(c.parent) e)) p
         WHERE c.parent = coalesce(preview.parent, c.parent);
    IF parent IS NOT NULL
       AND NOT EXISTS (SELECT FROM zbxhist.parent_config c WHERE c.parent = preview.parent
                        UNION ALL SELECT FROM zbxhist.auditlog_config c WHERE c.parent = preview.parent) THEN
        PERFORM zbxhist_internal.require_parent(parent);
    END IF;
    IF parent IS NULL THEN
        RETURN QUERY
            SELECT n, 'take_up', NULL::text, NULL::timestamptz, NULL::timestamptz,
                   zbxhist_internal.estimated_rows(n), pg_total_relation_size(n)
              FROM zbxhist_internal.new_tables() n;
    END IF;
    FOREACH target IN ARRAY zbxhist_internal.parent_list() LOOP
        CONTINUE WHEN target <> parent;
        RETURN QUERY
            SELECT target, p.action,
                   CASE count(*) WHEN 1 THEN min(p.partition) ELSE format('%s partitions of %s', count(*), d.day) END,
                   min(p.from_time), max(p.to_time), sum(p.rows)::bigint, sum(p.bytes)::bigint
              FROM zbxhist_internal.preview_parent(target)
                   WITH ORDINALITY p (action, partition, from_time, to_time, rows, bytes, place),
                   LATERAL (SELECT CASE WHEN extract(epoch FROM p.to_time - p.from_time) < 86400 AND p.action <> 'split'
                                        THEN to_char(p.from_time AT TIME ZONE 'UTC', 'YYYY-MM-DD') END AS day) d
             GROUP BY p.action, d.day, CASE WHEN d.day IS NULL THEN p.place END
             ORDER BY min(p.place);
    END LOOP;
END
$$;
