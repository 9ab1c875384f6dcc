-- sql/maintenance/preview.sql
--
-- What is to be done to several partitions of one day is one row.

CREATE FUNCTION zbxhist.preview(parent regclass DEFAULT NULL)
RETURNS TABLE (table_name regclass, action text, partition text,
               from_time timestamptz, to_time timestamptz, rows bigint, bytes bigint)
LANGUAGE plpgsql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target regclass;
BEGIN
    IF parent IS NOT NULL
       AND NOT EXISTS (SELECT FROM zbxhist.parent_config c WHERE c.parent = preview.parent) THEN
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

COMMENT ON FUNCTION zbxhist.preview(regclass) IS
'What the next maintenance would create, split, replace, move, pack, merge, compact, repack and drop, with rows (an estimate) and bytes; a row for all partitions of a day';

REVOKE ALL ON FUNCTION zbxhist.preview(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.preview(regclass) TO PUBLIC;
