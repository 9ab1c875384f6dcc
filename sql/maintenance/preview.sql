-- sql/maintenance/preview.sql

-- Lists what the next maintenance of one managed table would do, in its order.
CREATE FUNCTION zbxhist_internal.preview_parent(parent regclass)
RETURNS TABLE (action text, partition text, from_clock bigint, to_clock bigint, rows bigint, bytes bigint)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    policy CONSTANT zbxhist.parent_config := (SELECT c FROM zbxhist.parent_config c WHERE c.parent = preview_parent.parent);
    cutoff CONSTANT bigint := zbxhist_internal.deletion_clock(parent);
    lowest CONSTANT bigint := coalesce(cutoff, -2147483648);
BEGIN
    IF NOT policy.routing OR (zbxhist_internal.why_unfit(parent)).problem IS NOT NULL THEN
        RETURN;
    END IF;
    RETURN QUERY
        SELECT w.* FROM (
            SELECT 'create', NULL, w.from_clock, w.to_clock, NULL::bigint, NULL::bigint
              FROM zbxhist_internal.wanted_ranges(policy) w) w
        UNION ALL
        SELECT w.* FROM (
            SELECT CASE s.step WHEN 'drop' THEN policy.retention_action
                               WHEN 'expire' THEN 'delete'
                               WHEN 'extend' THEN 'move'
                               WHEN 'repack' THEN CASE WHEN z.tablespace IS NULL THEN 'repack' ELSE 'set_tablespace' END
                               ELSE s.step END,
                   t.relation::text, coalesce(c.from_clock, r.from_clock, x.oldest),
                   CASE WHEN s.step IN ('truncate', 'expire') THEN cutoff ELSE coalesce(c.to_clock, r.to_clock, x.to_clock) END,
                   CASE WHEN s.step IN ('move', 'merge') THEN w.rows
                        WHEN s.step = 'compact' THEN c.rows
                        WHEN s.step = 'extend' THEN zbxhist_internal.count_waiting(preview_parent.parent, lowest, x.to_clock)
                        WHEN s.step = 'truncate' THEN (zbxhist_internal.waiting_rows(preview_parent.parent)).rows
                        WHEN s.step = 'expire' THEN zbxhist_internal.count_waiting(preview_parent.parent, -2147483648, cutoff)
                        WHEN s.step = 'pack' OR s.step = 'drop' AND NOT r.is_packed THEN zbxhist_internal.estimated_rows(t.relation)
                        WHEN r.is_packed THEN d.nrows END,
                   CASE WHEN s.step IN ('drop', 'pack', 'unpack', 'archive') THEN pg_total_relation_size(t.relation)
                        WHEN s.step = 'truncate' THEN pg_total_relation_size(preview_parent.parent)
                        ELSE coalesce(c.bytes, z.bytes) END
              FROM unnest('{split,move,extend,drop,pack,merge,unpack,compact,repack,archive,analyze,truncate,expire}'::text[])
                   WITH ORDINALITY s (step, place)
             -- all days that are due to be repacked, whatever the limit of one run; and packed days that will
             -- be unpacked and then detached
             CROSS JOIN LATERAL unnest(CASE s.step WHEN 'repack' THEN ARRAY(SELECT w.day FROM zbxhist_internal.wasteful_days(policy.parent) w)
                                                   ELSE zbxhist_internal.targets_of(policy.parent, s.step) END
                                       || CASE WHEN s.step = 'drop' AND policy.retention_action = 'detach'
                                               THEN ARRAY(SELECT e.relation FROM zbxhist_internal.expired(policy.parent) e WHERE e.is_packed) END)
                   WITH ORDINALITY t (relation, place)
              LEFT JOIN zbxhist_internal.list_ranges(policy.parent) r ON r.relation = t.relation
              LEFT JOIN zbxhist.packed_day d ON d.day = t.relation
              LEFT JOIN zbxhist_internal.compactable_days(policy.parent) c ON s.step = 'compact' AND c.days[1] = t.relation
              LEFT JOIN zbxhist_internal.wasteful_days(policy.parent) z ON s.step = 'repack' AND z.day = t.relation
              LEFT JOIN LATERAL (
                   SELECT n.to_clock, zbxhist_internal.waiting_clock(policy.parent, lowest, n.to_clock, false) AS oldest
                     FROM zbxhist_internal.next_existing_range(policy) n) x ON s.step = 'extend'
              LEFT JOIN LATERAL (SELECT zbxhist_internal.count_waiting(policy.parent, r.from_clock, r.to_clock) AS rows
                                  WHERE s.step IN ('move', 'merge')) w ON true
             WHERE (s.step <> 'move' OR coalesce(w.rows, 1) > 0)
               AND (s.step <> 'unpack' OR r.relation NOT IN (SELECT e.relation FROM zbxhist_internal.expired(policy.parent) e))
               -- if all rows are past retention, TRUNCATE removes them
               AND (s.step <> 'expire' OR zbxhist_internal.has_own_rows(preview_parent.parent, cutoff))
             ORDER BY s.place, t.place) w;
END
$$;

-- What the next maintenance would create, split, move, pack, merge, compact, repack, archive, move to
-- another tablespace (set_tablespace), analyze and drop, with estimated rows and with bytes; the same
-- action on several partitions of a day is one row.
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
                   to_timestamp(min(p.from_clock)), to_timestamp(max(p.to_clock)), sum(p.rows)::bigint, sum(p.bytes)::bigint
              FROM zbxhist_internal.preview_parent(target)
                   WITH ORDINALITY p (action, partition, from_clock, to_clock, rows, bytes, place),
                   LATERAL (SELECT CASE WHEN p.to_clock - p.from_clock < 86400 AND p.action <> 'split'
                                        THEN zbxhist_internal.format_day(p.from_clock) END AS day) d
             GROUP BY p.action, d.day, CASE WHEN d.day IS NULL THEN p.place END
             ORDER BY min(p.place);
    END LOOP;
END
$$;
