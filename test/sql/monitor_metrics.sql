-- metrics: names that templates rely on, figures that agree with the views, for
-- whoever monitors, without waiting for anybody.
-- as after setup: no session is told about it
\a \t
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'zbxhist';
SET TimeZone = 'UTC';
-- one day for all of it
DO $$ BEGIN PERFORM pg_sleep(left_over + 1) FROM (SELECT 86400 - extract(epoch FROM now()) % 86400) AS day (left_over) WHERE left_over < 180; END $$;
CREATE SCHEMA metered;
SET search_path = metered, public, zbxhist_partitions;

-- nothing is managed, and no maintenance has been
DELETE FROM zbxhist.check_summary;
SELECT zbxhist.metrics() -> 'tables', zbxhist.metrics() -> 'maintenance';

CREATE TABLE history (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, value double precision DEFAULT '0.0000' NOT NULL, ns integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid,clock,ns));
CREATE TABLE trends (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, num integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid,clock));
SELECT zbxhist.create_parent('history', '1 day', '10 days', pack_after => '1 day', move_existing => true),
       zbxhist.create_parent('trends', '1 month');
SELECT zbxhist.create_partition('history', (now() AT TIME ZONE 'UTC')::date - 4) IS NOT NULL AS is_made;
SELECT floor(extract(epoch FROM now()) / 86400)::integer * 86400 AS today \gset
INSERT INTO history SELECT i, :today - 4 * 86400 + i, i, i FROM generate_series(1, 432) i;
INSERT INTO history SELECT i, :today + i, i, i FROM generate_series(1, 10) i;
INSERT INTO history VALUES (1, :today - 30 * 86400, 1, 1);
SELECT zbxhist.metrics() -> 'check';
CALL zbxhist.run_maintenance();
CALL zbxhist.run_maintenance();
SELECT zbxhist.metrics() AS m \gset

-- the names
SELECT string_agg(k, ' ' ORDER BY k) FROM jsonb_object_keys(:'m'::jsonb) k;
SELECT string_agg(k, ' ' ORDER BY k) FROM jsonb_object_keys(:'m'::jsonb -> 'maintenance') k;
SELECT string_agg(k, ' ' ORDER BY k) FROM jsonb_object_keys(:'m'::jsonb -> 'check') k;
SELECT string_agg(k, ' ' ORDER BY k) FROM jsonb_object_keys(:'m'::jsonb -> 'tables' -> 0) k;

-- the figures
CREATE TEMP VIEW tables AS
SELECT t.* FROM jsonb_to_recordset(zbxhist.metrics() -> 'tables')
    AS t ("schema" text, "table" text, "interval" bigint, retention bigint, partitions bigint, partitions_ahead bigint,
          runway bigint, packed_days bigint, packed_values bigint, packed_bytes bigint, bytes_per_value numeric,
          heap_bytes bigint, parent_bytes bigint, bytes bigint, rows_waiting bigint, oldest_value bigint,
          next_drop bigint, since_success bigint, last_error text, values_per_second numeric);
SELECT "schema", "table", "interval", retention, packed_days, packed_values, values_per_second,
       runway > 0 AS has_runway, bytes = packed_bytes + heap_bytes + parent_bytes AS adds_up,
       since_success BETWEEN 0 AND 600 AS is_recent, last_error
  FROM tables ORDER BY "table";
SELECT t.partitions = s.partitions AND t.packed_days = s.packed_days AND t.partitions_ahead = s.partitions_ahead
       AND t.rows_waiting = s.rows_waiting AND to_timestamp(t.next_drop) IS NOT DISTINCT FROM s.next_drop AS agrees
  FROM tables t JOIN zbxhist.status s ON s.parent = format('metered.%I', t."table")::regclass ORDER BY t."table";
SELECT sum((e.value)::text::integer) = (SELECT count(*) FROM zbxhist.check()) AS all_lines
  FROM jsonb_each(zbxhist.metrics() -> 'check') e WHERE e.key <> 'time';

-- rows in the table itself count, too: to him who may not read them as maintenance has found them
CREATE TABLE history_log (LIKE history INCLUDING ALL);
INSERT INTO history_log VALUES (2, :today - 40 * 86400, 1, 1), (1, :today - 20 * 86400, 1, 1);
SELECT zbxhist.create_parent('history_log', '1 hour', pack_after => '1 hour');
CREATE TEMP VIEW of_log AS
SELECT (t ->> 'oldest_value')::bigint AS oldest, (t ->> 'values_per_second')::numeric AS per_second,
       (t -> 'partitions') = to_jsonb(s.partitions) AND (t -> 'packed_days') = to_jsonb(s.packed_days) AS agrees,
       (t ->> 'runway')::bigint > 3600 AS has_runway
  FROM jsonb_array_elements(zbxhist.metrics() -> 'tables') t, zbxhist.status s
 WHERE t ->> 'table' = 'history_log' AND s.parent = 'history_log'::regclass;
SELECT oldest - :today AS oldest, per_second, agrees, has_runway FROM of_log;
CREATE ROLE zbxhist_metrics_reader;
GRANT pg_monitor TO zbxhist_metrics_reader;
GRANT SELECT ON of_log TO zbxhist_metrics_reader;
GRANT USAGE ON SCHEMA metered TO zbxhist_metrics_reader;
SET ROLE zbxhist_metrics_reader;
SELECT (t ->> 'oldest_value') FROM jsonb_array_elements(zbxhist.metrics() -> 'tables') t WHERE t ->> 'table' = 'history_log';
RESET ROLE;
CALL zbxhist.run_maintenance('history_log');
SET ROLE zbxhist_metrics_reader;
SELECT (t ->> 'oldest_value')::bigint - :today FROM jsonb_array_elements(zbxhist.metrics() -> 'tables') t WHERE t ->> 'table' = 'history_log';
RESET ROLE;
DROP OWNED BY zbxhist_metrics_reader;
DROP ROLE zbxhist_metrics_reader;
-- the hours to come have no values yet
SELECT zbxhist_internal.create_range('history_log', :today - 7200, :today - 3600) IS NOT NULL AS made;
INSERT INTO history_log SELECT 3, :today - 7200 + i, i, 0 FROM generate_series(1, 720) i;
CALL zbxhist.pack('history_log', (now() AT TIME ZONE 'UTC')::date - 1);
SELECT oldest - :today AS oldest, per_second, agrees, has_runway FROM of_log;
SET zbxhist.allow_packed_drop = on;
SET client_min_messages = warning;
DROP TABLE history_log CASCADE;
RESET client_min_messages;

-- who monitors may ask, nobody else
CREATE ROLE zbxhist_metrics_reader;
SET ROLE zbxhist_metrics_reader;
SELECT zbxhist.metrics();
RESET ROLE;
GRANT pg_monitor TO zbxhist_metrics_reader;
SET ROLE zbxhist_metrics_reader;
SELECT jsonb_array_length(zbxhist.metrics() -> 'tables');
-- but sees less in check(), which says so
SELECT severity, code, object, message, hint FROM zbxhist.check() WHERE code = 'not_seen';
RESET ROLE;
DROP ROLE zbxhist_metrics_reader;

SET zbxhist.allow_packed_drop = on;
SET client_min_messages = warning;
DROP SCHEMA metered CASCADE;
