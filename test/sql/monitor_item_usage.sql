-- item_usage() counts the same values as a query, shows names if the caller may read them, and
-- never runs code of others.
\a \t
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'zbxhist';
SET TimeZone = 'UTC';
-- one day for all of it
DO $$ BEGIN PERFORM pg_sleep(left_over + 1) FROM (SELECT 86400 - extract(epoch FROM now()) % 86400) AS day (left_over) WHERE left_over < 180; END $$;
CREATE SCHEMA usage;
SET search_path = usage, public, zbxhist_partitions;
\set SHOW_CONTEXT never
CREATE TABLE history (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, value double precision DEFAULT '0.0000' NOT NULL, ns integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid,clock,ns));
CREATE TABLE history_text (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, value text DEFAULT '' NOT NULL, ns integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid,clock,ns));
CREATE TABLE trends (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, num integer DEFAULT '0' NOT NULL, value_avg double precision DEFAULT '0' NOT NULL, PRIMARY KEY (itemid,clock));
SELECT zbxhist.create_parent('history', '1 day', '30 days'), zbxhist.create_parent('history_text', '1 day', '30 days'),
       zbxhist.create_parent('trends', '1 month');
SELECT (zbxhist.create_partition(t, (now() AT TIME ZONE 'UTC')::date - d)) IS NOT NULL AS is_made
  FROM unnest('{history,history_text}'::regclass[]) t, generate_series(1, 3) d;
SELECT floor(extract(epoch FROM now()) / 86400)::integer * 86400 AS today \gset

-- nothing there
SELECT count(*) FROM zbxhist.item_usage('history');

-- three days, of which two will be packed; item 1 has most values, 7 those that do
-- not compress; and one row that is in the parent itself
INSERT INTO history SELECT i, :today - d * 86400 + s * 60, (hashint4(i * 7919 + s) % 1000)::float8 / 7, d
  FROM generate_series(0, 3) d, generate_series(1, 20) i, generate_series(1, CASE WHEN i = 1 THEN 1400 ELSE 100 END) s;
INSERT INTO history VALUES (5, :today - 40 * 86400, 5, 5);
-- values out of line count, too
INSERT INTO history_text SELECT 7, :today - d * 86400 + s, (SELECT string_agg(md5(s::text || g::text || d::text), '') FROM generate_series(1, 200) g), 0
  FROM generate_series(0, 2) d, generate_series(1, 20) s;
INSERT INTO history_text SELECT 8, :today - d * 86400 + s, 'short', 0 FROM generate_series(0, 2) d, generate_series(1, 20) s;
INSERT INTO trends SELECT i, :today - h * 3600, 60, h FROM generate_series(1, 5) i, generate_series(0, 20 - 2 * i) h;
CALL zbxhist.pack('history', (now() AT TIME ZONE 'UTC')::date - 3);
CALL zbxhist.pack('history', (now() AT TIME ZONE 'UTC')::date - 2);
CALL zbxhist.pack('history_text', (now() AT TIME ZONE 'UTC')::date - 2);

-- its numbers are those of a query, in all ranges, whatever days they cut
CREATE FUNCTION differences(parent regclass, from_clock integer, to_clock integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    result bigint;
BEGIN
    EXECUTE format(
        'SELECT count(*) FROM (SELECT itemid, count(*) AS n FROM %s WHERE clock >= $1 AND clock < $2 GROUP BY itemid) q'
        ' FULL JOIN zbxhist.item_usage($3, $1, $2, NULL) u USING (itemid)'
        ' WHERE q.n IS DISTINCT FROM u.values OR u.bytes <= 0', parent)
       INTO result USING from_clock, to_clock, parent;
    RETURN result;
END $$;
SELECT t, r, differences(t, :today + (r).f, :today + (r).u)
  FROM unnest('{history,history_text,trends}'::regclass[]) t,
       (VALUES (-100 * 86400, 86400), (-2 * 86400 + 30000, -86400 + 600), (-2 * 86400, -2 * 86400 + 61), (-3 * 86400, -3 * 86400)) AS r (f, u)
 ORDER BY 1, 2;
SELECT sum(values) = (SELECT count(*) FROM history) AS all_values, count(*) FROM zbxhist.item_usage('history');

-- the largest first; the bytes add up to the disk's
SELECT itemid, values FROM zbxhist.item_usage('history', max_items => 2);
SELECT abs(sum(u.bytes) - (SELECT sum(p.bytes) + pg_total_relation_size('history') FROM zbxhist.partitions p
                            WHERE p.parent = 'history'::regclass AND p.state <> 'future')) < 100 AS adds_up,
       abs(sum(percent) - 100) < 1 AS is_whole
  FROM zbxhist.item_usage('history', max_items => NULL) u;
SELECT itemid, values, bytes_per_value > 4000 AS is_large, percent > 50 AS is_most FROM zbxhist.item_usage('history_text');
SELECT itemid, bytes > 5 * 6000 FROM zbxhist.item_usage('history_text', :today - 2 * 86400, :today - 86400, 1);
SELECT itemid, bytes > 10 * 6400 FROM zbxhist.item_usage('history_text', :today - 86400, max_items => 1);
-- times, and what is beyond all clocks
SELECT sum(values) FROM zbxhist.item_usage('history', to_timestamp(:today - 86400 + 59.5), to_timestamp(:today - 86400 + 120));
SELECT (SELECT sum(values) FROM zbxhist.item_usage('history', '-infinity'::timestamptz)) = count(*),
       (SELECT count(*) FROM zbxhist.item_usage('history', 'infinity'::timestamptz)) FROM history;

-- names, in Zabbix's tables
CREATE TABLE hosts (hostid bigint PRIMARY KEY, host varchar(128) NOT NULL, name varchar(128) NOT NULL);
CREATE TABLE items (itemid bigint PRIMARY KEY, hostid bigint NOT NULL, name varchar(255) NOT NULL, key_ varchar(2048) NOT NULL);
INSERT INTO hosts VALUES (10, 'web01', 'Web server <1>'), (11, 'db01', '');
INSERT INTO items VALUES (7, 10, 'Log', 'log[/var/log/messages]'), (8, 11, 'Version', 'version'), (9, 10, 'None', 'none');
SELECT itemid, host, item, item_key FROM zbxhist.item_usage('history_text') ORDER BY itemid;
SELECT itemid, host, item, item_key FROM zbxhist.item_usage('history_text', to_timestamp(0)) ORDER BY itemid;

-- whoever may read the table and its partitions may ask, by numbers of values alone for
-- packed days' tables; names are for whoever may read those
CREATE ROLE zbxhist_usage_reader;
GRANT USAGE ON SCHEMA usage TO zbxhist_usage_reader;
SET ROLE zbxhist_usage_reader;
SELECT * FROM zbxhist.item_usage('history_text');
RESET ROLE;
GRANT SELECT ON history_text TO zbxhist_usage_reader;
GRANT SELECT ON items TO zbxhist_usage_reader;
-- who may read the table, but not its partitions
SELECT sum(bytes) AS all_bytes, sum(values) AS all_values FROM zbxhist.item_usage('history', max_items => NULL) \gset
GRANT SELECT ON history TO zbxhist_usage_reader;
SET ROLE zbxhist_usage_reader;
SELECT abs(sum(bytes) - :all_bytes) < 100 AS all_bytes, sum(values) = :all_values AS all_values
  FROM zbxhist.item_usage('history', max_items => NULL);
SELECT sum(values) FROM zbxhist.item_usage('history', :today - 86400 + 60, :today - 86400 + 121);
RESET ROLE;
-- gives the partitions the grants of the parent
CALL zbxhist.run_maintenance();
SET ROLE zbxhist_usage_reader;
SELECT itemid, host, item, values FROM zbxhist.item_usage('history_text') ORDER BY itemid;
RESET ROLE;
GRANT SELECT (hostid, name, host) ON hosts TO zbxhist_usage_reader;
REVOKE SELECT ON items FROM zbxhist_usage_reader;
SET ROLE zbxhist_usage_reader;
SELECT itemid, host, item FROM zbxhist.item_usage('history_text') ORDER BY itemid;
RESET ROLE;

-- tables of somebody who counts for nothing there are not taken for Zabbix's,
-- nor is a view, which would run its owner's code
ALTER TABLE items OWNER TO zbxhist_usage_reader;
SELECT itemid, host, item FROM zbxhist.item_usage('history_text') ORDER BY itemid;
DROP TABLE items;
CREATE VIEW items AS SELECT 7::bigint AS itemid, 1 / 0 AS hostid, 'x'::text AS name, 'y'::text AS key_;
SELECT itemid, host, item FROM zbxhist.item_usage('history_text') ORDER BY itemid;
DROP VIEW items;
-- without an index on the key, or with a column that is not Zabbix's
CREATE TABLE items (itemid bigint, hostid bigint NOT NULL, name text NOT NULL, key_ text NOT NULL);
INSERT INTO items VALUES (7, 10, 'Log', 'log');
SELECT itemid, host, item FROM zbxhist.item_usage('history_text', max_items => 1);
CREATE UNIQUE INDEX ON items (itemid) WHERE itemid > 0;
SELECT itemid, host, item FROM zbxhist.item_usage('history_text', max_items => 1);
ALTER TABLE items ADD PRIMARY KEY (itemid);
SELECT itemid, host, item FROM zbxhist.item_usage('history_text', max_items => 1);
ALTER TABLE items ALTER COLUMN name TYPE json USING to_json(name);
SELECT itemid, host, item FROM zbxhist.item_usage('history_text', max_items => 1);

-- arguments that are wrong
SELECT * FROM zbxhist.item_usage('history', max_items => -1);
SELECT * FROM zbxhist.item_usage(NULL, 1, 2);
SELECT * FROM zbxhist.item_usage('history', 2, 1);
SELECT * FROM zbxhist.item_usage('history', now(), now() - interval '1 day');
SELECT * FROM zbxhist.item_usage('hosts');
-- no hint that would be refused
CREATE TABLE referred (itemid bigint NOT NULL, clock integer NOT NULL, PRIMARY KEY (itemid, clock));
CREATE TABLE referring (itemid bigint, clock integer, FOREIGN KEY (itemid, clock) REFERENCES referred);
SELECT * FROM zbxhist.item_usage('referred');
DROP TABLE referring;
SELECT * FROM zbxhist.item_usage('referred');
DROP TABLE referred;
SELECT count(*) FROM zbxhist.item_usage('history', max_items => 0);
-- a damaged day is an error, not a wrong number
DO $$ BEGIN EXECUTE (SELECT format('UPDATE %s SET payload = set_byte(payload, 20, get_byte(payload, 20) # 1)', partition) FROM zbxhist.partitions WHERE parent = 'history_text'::regclass AND kind = 'packed'); END $$;
\set VERBOSITY sqlstate
SELECT * FROM zbxhist.item_usage('history_text');
\set VERBOSITY default
SET zbxhist.allow_packed_drop = on;
SET client_min_messages = warning;
DROP SCHEMA usage CASCADE;
DROP ROLE zbxhist_usage_reader;
ALTER DATABASE :"DBNAME" RESET session_preload_libraries;
