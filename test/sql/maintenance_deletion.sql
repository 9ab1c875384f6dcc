-- Much is deleted at once only if a person agrees: after a wrong clock, a pause of
-- maintenance, a typo in a retention.
\a \t
SET TimeZone = 'UTC';
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE TABLE history (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, value double precision DEFAULT '0.0000' NOT NULL, ns integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid,clock,ns));
-- the clock of the server is what is set here
SELECT pg_get_functiondef('zbxhist_internal.current_clock'::regproc) AS original \gset
CREATE OR REPLACE FUNCTION zbxhist_internal.current_clock() RETURNS bigint LANGUAGE sql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$ SELECT current_setting('deletion.present')::bigint $$;
CREATE FUNCTION present(moment timestamptz) RETURNS void LANGUAGE sql AS $$ SELECT set_config('deletion.present', extract(epoch FROM moment)::bigint::text, false) $$;
CREATE VIEW days AS SELECT to_timestamp(clock)::date AS day, count(*) FROM history GROUP BY 1 ORDER BY 1;
CREATE VIEW asks AS SELECT severity, code, object, regexp_replace(message, 'about \d+ rows|\d+ [kM]?B|\d+ bytes', 'N', 'g') AS message, hint FROM zbxhist.check() WHERE code ~ '^deletion';
CREATE FUNCTION write(first date, last date) RETURNS void LANGUAGE sql AS $$
    SELECT zbxhist.create_partition('history', d::date) FROM generate_series(first, last, interval '1 day') d
     WHERE NOT EXISTS (SELECT FROM zbxhist.list_partitions('history') p WHERE extract(epoch FROM d) BETWEEN p.from_clock AND p.to_clock - 1
                        UNION ALL SELECT FROM zbxhist.packed_day p WHERE extract(epoch FROM d) BETWEEN p.from_clock AND p.to_clock - 1);
    INSERT INTO history SELECT 1, extract(epoch FROM h), 1, 0 FROM generate_series(first::timestamptz, last + interval '23 hours', interval '1 hour') h $$;
SELECT present('2024-05-10 12:00');
SELECT zbxhist.create_parent('history', retention => '30 days', pack_after => '2 days');
SELECT 1 FROM write('2024-05-01', '2024-05-10');
CALL zbxhist.run_maintenance('history');

-- day by day, what is past retention goes, even the last
SELECT present('2024-06-01 12:00');
CALL zbxhist.run_maintenance('history');
TABLE asks;
SELECT min(day), count(*) FROM days;
SELECT present('2024-06-02 12:00');
CALL zbxhist.run_maintenance('history');
SELECT min(day), count(*) FROM days;

-- a clock that is ahead for a moment, while values with the right one and with its own come
SELECT 1 FROM write('2024-05-11', '2024-06-02');
SELECT present('2025-07-10 12:00');
INSERT INTO history VALUES (1, extract(epoch FROM '2025-07-10 12:00'::timestamptz), 1, 0);
SELECT action, count(*) FROM zbxhist.preview('history') WHERE action IN ('drop', 'delete', 'truncate') GROUP BY 1;
CALL zbxhist.run_maintenance('history');
CALL zbxhist.run_maintenance('history');
SELECT min(day), count(*) FROM days;
TABLE asks;
-- is not remembered
SELECT present('2024-06-03 12:00');
CALL zbxhist.run_maintenance('history');
TABLE asks;
SELECT min(day), count(*) FROM days;

-- maintenance that was off for long, or a backup that was restored, and all that there is would go
DELETE FROM history WHERE clock > extract(epoch FROM '2025-01-01'::timestamptz);
SELECT present('2024-08-03 12:00');
CALL zbxhist.run_maintenance('history');
TABLE asks;
SELECT zbxhist.accept_deletion('history', NULL);
SELECT zbxhist.accept_deletion('history', '2024-07-20');
SELECT zbxhist.accept_deletion('history', '2024-05-06');
CALL zbxhist.run_maintenance('history');
SELECT min(day), count(*) FROM days;
SELECT hint FROM asks \gexec
TABLE asks;
CALL zbxhist.run_maintenance('history');
SELECT min(day), count(*) FROM days;

-- a part of a table goes after a pause as it does without
SELECT 1 FROM write('2024-07-10', '2024-08-03');
CALL zbxhist.run_maintenance('history');
SELECT present('2024-08-14 12:00');
CALL zbxhist.run_maintenance('history');
TABLE asks;
SELECT min(day), count(*) FROM days;

-- a typo
\set VERBOSITY sqlstate
SELECT zbxhist.alter_parent('history', retention => '1 hour');
SELECT zbxhist.alter_parent('history', retention => '60 days');
SELECT zbxhist.alter_parent('history', premake => 2);
SELECT zbxhist.alter_parent('history', retention => '20 days');
SELECT retention, premake FROM zbxhist.parent_config;
SELECT zbxhist.alter_parent('history', retention => '20 days', accept_deletion => true);
CALL zbxhist.run_maintenance('history');
SELECT min(day), count(*) FROM days;
SELECT zbxhist.alter_parent('history', retention => '1 day', retention_action => 'detach');
SELECT zbxhist.alter_parent('history', retention_action => 'drop');
SELECT zbxhist.alter_parent('history', retention => '20 days', retention_action => 'drop');
-- of a table with rows of its own
CREATE TABLE own (LIKE history INCLUDING ALL);
INSERT INTO own SELECT 1, extract(epoch FROM h), 1, 0 FROM generate_series('2024-08-01'::timestamptz, '2024-08-14', interval '1 hour') h;
SELECT zbxhist.create_parent('own', retention => '1 hour', pack_after => '1 day');
SELECT zbxhist.create_parent('own', retention => '5 days', pack_after => '1 day', accept_deletion => true);
CALL zbxhist.run_maintenance('own');
SELECT to_timestamp(min(clock)), count(*) FROM own;
SELECT present('2025-08-14 12:00');
CALL zbxhist.run_maintenance('own');
SELECT to_timestamp(min(clock)), count(*) FROM own;
SELECT object, message FROM asks;
SELECT present('2024-08-14 12:00');
-- nor are partitions detached at once, for which packed days would be unpacked
CREATE TABLE apart (LIKE history INCLUDING ALL);
SELECT zbxhist.create_parent('apart', retention => '30 days', pack_after => '1 day');
SELECT zbxhist.alter_parent('apart', retention_action => 'detach');
SELECT zbxhist.create_partition('apart', d) FROM unnest('{2024-08-10,2024-08-11}'::date[]) d;
INSERT INTO apart SELECT 1, extract(epoch FROM h), 1, 0 FROM generate_series('2024-08-10'::timestamptz, '2024-08-11 23:00', interval '1 hour') h;
CALL zbxhist.run_maintenance('apart');
SELECT present('2025-08-14 12:00');
CALL zbxhist.run_maintenance('apart');
SELECT count(*) FROM apart;
SELECT count(*) FROM zbxhist.packed_day WHERE parent = 'apart'::regclass;
SELECT message FROM asks WHERE object = 'public.apart';
SELECT hint FROM asks WHERE object = 'public.apart' \gexec
CALL zbxhist.run_maintenance('apart');
SELECT count(*) FROM apart;
SELECT count(*) FROM zbxhist_partitions.apart_p20240810;
SELECT present('2024-08-14 12:00');

\set VERBOSITY default
-- a retention that Zabbix has counts as said, a day later
CREATE SCHEMA zabbix;
CREATE TABLE zabbix.config (configid bigint, hk_history_mode integer, hk_history_global integer, hk_history text, hk_trends_mode integer, hk_trends_global integer, hk_trends text, db_extension text);
INSERT INTO zabbix.config VALUES (1, 0, 1, '30d', 0, 1, '365d', '');
CREATE TABLE zabbix.history (LIKE history INCLUDING ALL);
INSERT INTO zabbix.history SELECT 1, extract(epoch FROM h), 1, 0 FROM generate_series('2024-08-01'::timestamptz, '2024-08-14', interval '1 hour') h;
SELECT zbxhist.create_parent('zabbix.history', pack_after => '1 day', move_existing => true);
CALL zbxhist.run_maintenance('zabbix.history');
UPDATE zabbix.config SET hk_history = '3d';
CALL zbxhist.run_maintenance('zabbix.history');
SELECT to_timestamp(min(clock)), count(*) FROM zabbix.history;
SELECT * FROM asks WHERE object = 'zabbix.history';
SELECT present('2024-08-15 11:00');
CALL zbxhist.run_maintenance('zabbix.history');
SELECT to_timestamp(min(clock)), count(*) FROM zabbix.history;
SELECT present('2024-08-15 12:00');
CALL zbxhist.run_maintenance('zabbix.history');
SELECT to_timestamp(min(clock)), count(*) FROM zabbix.history;
SELECT * FROM asks WHERE object = 'zabbix.history';
-- but not a clock that is ahead, too
UPDATE zabbix.config SET hk_history = '1d';
CALL zbxhist.run_maintenance('zabbix.history');
SELECT present('2024-09-15 12:00');
CALL zbxhist.run_maintenance('zabbix.history');
CALL zbxhist.run_maintenance('zabbix.history');
SELECT to_timestamp(min(clock)), count(*) FROM zabbix.history;
SET zbxhist.allow_packed_drop = on;
DROP TABLE history, own, apart, zbxhist_partitions.apart_p20240810, zbxhist_partitions.apart_p20240811, zabbix.history CASCADE;
DROP SCHEMA zabbix CASCADE;
DROP VIEW asks;
-- forgets them
CALL zbxhist.run_maintenance();
:original;
