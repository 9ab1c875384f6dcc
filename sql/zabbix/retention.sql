-- sql/zabbix/retention.sql

-- Returns the retention of a table and where it comes from or, if there is none, why; with "overridden",
-- as if Zabbix overrode the storage periods of items.
-- The storage period set in Zabbix counts only while it overrides those of the items (hk_*_global).
-- Otherwise each item has its own, so no partition can be dropped.
CREATE FUNCTION zbxhist_internal.effective_retention(
    parent regclass, policy_retention interval, overridden boolean DEFAULT false, OUT retention interval,
    OUT source text, OUT problem text)
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    table_schema name;
    table_name   name;
    option       text;
    overrides    record;
    period       record;
    length       interval;
BEGIN
    IF policy_retention IS NOT NULL THEN
        retention := policy_retention;
        source := 'policy';
        RETURN;
    END IF;
    source := 'none';
    SELECT n.nspname, k.relname INTO table_schema, table_name
      FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace
     WHERE k.oid = parent;
    option := CASE WHEN table_name LIKE 'trends%' THEN 'hk_trends'
                   WHEN table_name LIKE 'history%' THEN 'hk_history'
                   WHEN table_name LIKE 'auditlog%' THEN 'hk_audit' END;
    IF option IS NULL THEN
        problem := 'the policy has no retention and the table is none of Zabbix';
        RETURN;
    END IF;
    -- the audit log has no items, so its period always counts
    overrides := zbxhist_internal.zabbix_setting(table_schema, option || CASE option WHEN 'hk_audit' THEN '' ELSE '_global' END);
    period := zbxhist_internal.zabbix_setting(table_schema, option);
    length := zbxhist_internal.parse_period(period.value);
    IF overrides.source IS NULL THEN
        problem := format('schema %I has no Zabbix settings', table_schema);
    ELSIF overrides.value IS NULL OR period.value IS NULL THEN
        problem := format('cannot read %s', period.source) || coalesce(': ' || period.problem, '');
    ELSIF option <> 'hk_audit' AND overrides.value <> '1' AND NOT coalesce(overridden AND length > interval '0', false) THEN
        problem := format('%s is %s: Zabbix does not override the storage periods of the items',
                          overrides.source, overrides.value);
    ELSIF length IS NULL THEN
        problem := format('%s is "%s", which is not a period', period.source, period.value);
    ELSIF length = interval '0' THEN
        problem := format('%s is 0, which says nothing about rows already stored', period.source);
    ELSE
        retention := justify_hours(length);
        source := 'zabbix: ' || period.source;
    END IF;
END
$$;

-- Returns the clock below which rows of a managed table are past retention; NULL if there is none.
CREATE FUNCTION zbxhist_internal.cutoff_clock(parent regclass) RETURNS bigint
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (
        SELECT zbxhist_internal.clock_before(r.retention)
          FROM zbxhist.parent_config c,
               zbxhist_internal.effective_retention(c.parent, c.retention) r
         WHERE c.parent = cutoff_clock.parent);
END
$$;

-- Estimates what the next maintenance would delete from a table with some retention: partitions and
-- packed days, and rows of the table itself; nothing if retention detaches partitions.
CREATE FUNCTION zbxhist_internal.deletion(
    parent regclass, retention interval, OUT partitions bigint, OUT rows bigint, OUT bytes bigint, OUT oldest bigint)
LANGUAGE plpgsql VOLATILE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
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

-- Describes what the next maintenance would delete from a table with some retention; NULL if nothing.
CREATE FUNCTION zbxhist_internal.describe_deletion(parent regclass, retention interval) RETURNS text
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('about %s rows%s, %s, the oldest of %s', d.rows,
                  CASE d.partitions WHEN 0 THEN '' WHEN 1 THEN ', a whole partition'
                       ELSE format(', %s whole partitions', d.partitions) END,
                  pg_size_pretty(d.bytes),
                  to_char(to_timestamp(d.oldest) AT TIME ZONE 'UTC', 'YYYY-MM-DD'))
      FROM zbxhist_internal.deletion(parent, retention) d
     WHERE d.rows > 0 OR d.partitions > 0
$$;
