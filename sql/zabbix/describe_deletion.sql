-- sql/zabbix/describe_deletion.sql

CREATE FUNCTION zbxhist_internal.describe_deletion(parent regclass, retention interval)
RETURNS text
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT format('about %s rows%s, %s, the oldest of %s', d.rows,
                  CASE d.partitions WHEN 0 THEN '' WHEN 1 THEN ', a whole partition'
                       ELSE format(', %s whole partitions', d.partitions) END,
                  pg_size_pretty(d.bytes),
                  to_char(to_timestamp(d.oldest) AT TIME ZONE 'UTC', 'YYYY-MM-DD'))
      FROM zbxhist_internal.deletion(parent, retention) d
     WHERE d.rows > 0 OR d.partitions > 0
$$;

COMMENT ON FUNCTION zbxhist_internal.describe_deletion(regclass, interval) IS
'What the next maintenance would delete of a table if it kept rows for a time, in words; NULL if nothing (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.describe_deletion(regclass, interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.describe_deletion(regclass, interval) TO PUBLIC;
