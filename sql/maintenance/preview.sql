-- sql/maintenance/preview.sql

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
        RETURN QUERY SELECT target, p.* FROM zbxhist_internal.preview_parent(target) p;
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist.preview(regclass) IS
'What the next maintenance would create, move, pack, merge, repack and drop, with rows (an estimate) and bytes';

REVOKE ALL ON FUNCTION zbxhist.preview(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.preview(regclass) TO PUBLIC;
