-- sql/zabbix/deletion.sql

CREATE FUNCTION zbxhist_internal.deletion(
    parent regclass,
    retention interval,
    OUT partitions bigint,
    OUT rows bigint,
    OUT bytes bigint,
    OUT oldest bigint)
LANGUAGE plpgsql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    cutoff CONSTANT bigint := zbxhist_internal.clock_before(retention);
    own    record;
BEGIN
    IF EXISTS (SELECT FROM zbxhist.parent_config c WHERE c.parent = deletion.parent AND c.retention_action = 'detach') THEN
        partitions := 0;
        rows := 0;
        bytes := 0;
        RETURN;
    END IF;
    SELECT count(*), sum(CASE WHEN p.is_packed THEN d.nrows
                              ELSE zbxhist_internal.probable_rows(p.relation) END),
           sum(pg_total_relation_size(p.relation)), min(p.from_clock)
      INTO partitions, rows, bytes, oldest
      FROM zbxhist_internal.list_ranges(parent) p
      LEFT JOIN zbxhist.packed_day d ON d.day = p.relation
     WHERE p.to_clock <= cutoff AND d.unpacked IS NOT TRUE;
    own := zbxhist_internal.rows_before(parent, cutoff);
    rows := coalesce(rows, 0) + coalesce(own.rows, 0);
    bytes := coalesce(bytes, 0)
             + coalesce(pg_total_relation_size(parent)
                        * least(1, own.rows / nullif(zbxhist_internal.probable_rows(parent), 0)::numeric), 0);
    oldest := least(oldest, own.oldest);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.deletion(regclass, interval) IS
'About how much of a table the next maintenance would delete if it kept rows for a time: whole partitions and packed days, and rows of the table itself; nothing if retention detaches partitions (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.deletion(regclass, interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.deletion(regclass, interval) TO PUBLIC;
