-- Zabbix's audit log, partitioned natively by clock.
\a \t
SET client_min_messages = warning;
-- one month for all of it
DO $$ BEGIN PERFORM pg_sleep(left_over + 1) FROM (SELECT 86400 - extract(epoch FROM now()) % 86400) AS day (left_over) WHERE left_over < 180; END $$;
CREATE ROLE audit_owner;
CREATE ROLE audit_reader;
CREATE SCHEMA audit AUTHORIZATION audit_owner;
SET search_path = audit, public, zbxhist_partitions;
SET ROLE audit_owner;
CREATE TABLE history (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL,
    value double precision DEFAULT '0.0000' NOT NULL, ns integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE config (configid bigint PRIMARY KEY, hk_audit_mode integer DEFAULT 1 NOT NULL,
    hk_audit varchar(32) DEFAULT '31d' NOT NULL);
INSERT INTO config (configid) VALUES (1);
CREATE TABLE auditlog (
    auditid varchar(25) NOT NULL, userid bigint NULL, username varchar(100) DEFAULT '' NOT NULL,
    clock integer DEFAULT '0' NOT NULL, ip varchar(39) DEFAULT '' NOT NULL, action integer DEFAULT '0' NOT NULL,
    resourcetype integer DEFAULT '0' NOT NULL, resourceid bigint NULL, resource_cuid varchar(25) NULL,
    resourcename varchar(255) DEFAULT '' NOT NULL, recordsetid varchar(25) NOT NULL, details text DEFAULT '' NOT NULL,
    PRIMARY KEY (auditid));
CREATE INDEX auditlog_1 ON auditlog (userid, clock);
CREATE INDEX auditlog_2 ON auditlog (clock);
CREATE INDEX auditlog_3 ON auditlog (resourcetype, resourceid);
ALTER TABLE auditlog SET (autovacuum_vacuum_scale_factor = 0.1);
COMMENT ON COLUMN auditlog.details IS 'what was changed';
COMMENT ON TABLE auditlog IS 'it''s who did what';
CREATE STATISTICS auditlog_kinds (dependencies) ON action, resourcetype FROM auditlog;
GRANT SELECT ON auditlog TO audit_reader;
RESET ROLE;

-- 300 days of rows, and some of long ago.
CREATE VIEW moments AS
    SELECT i, extract(epoch FROM date_trunc('hour', now()))::bigint - 300 * 86400 + i * 8640 AS clock
      FROM generate_series(1, 3000) i;
INSERT INTO auditlog (auditid, userid, clock, action, resourcetype, resourceid, recordsetid)
SELECT 'c' || lpad(i::text, 24, '0'), i % 7, clock, i % 3, i % 5, i, 'c' || i FROM moments;
INSERT INTO auditlog (auditid, clock, recordsetid)
VALUES ('zz', extract(epoch FROM now()), ''), ('0', 5, ''), ('Zebra', extract(epoch FROM now()), ''), ('', 6, '');
CREATE TABLE twin (LIKE auditlog, PRIMARY KEY (auditid));
INSERT INTO twin SELECT * FROM auditlog;
CREATE FUNCTION differences() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT count(*) FROM ((TABLE auditlog EXCEPT ALL TABLE twin) UNION ALL (TABLE twin EXCEPT ALL TABLE auditlog)) d);
END $$;

-- Who may, and what is refused.
GRANT USAGE ON SCHEMA audit TO audit_reader;
SET ROLE audit_reader;
SELECT * FROM zbxhist.partition_auditlog('audit.auditlog');
RESET ROLE;
SELECT * FROM zbxhist.partition_auditlog(NULL);
SELECT * FROM zbxhist.partition_auditlog('auditlog', partition_interval => '7 minutes');
SELECT * FROM zbxhist.partition_auditlog('auditlog', retention => '-1 days');
SELECT * FROM zbxhist.partition_auditlog('history');
CREATE VIEW in_the_way AS SELECT auditid FROM auditlog;
SELECT * FROM zbxhist.partition_auditlog('auditlog');
DROP VIEW in_the_way;
CREATE UNIQUE INDEX in_the_way ON auditlog (clock, auditid);
SELECT * FROM zbxhist.partition_auditlog('auditlog');
DROP INDEX in_the_way;
ALTER TABLE auditlog ENABLE ROW LEVEL SECURITY;
SELECT * FROM zbxhist.partition_auditlog('auditlog');
ALTER TABLE auditlog DISABLE ROW LEVEL SECURITY;
SET client_min_messages = error;
CREATE PUBLICATION in_the_way FOR TABLE auditlog;
CREATE PUBLICATION of_all FOR ALL TABLES;
SELECT * FROM zbxhist.partition_auditlog('auditlog');
ALTER PUBLICATION in_the_way DROP TABLE audit.auditlog; DROP PUBLICATION of_all;
DROP PUBLICATION in_the_way;
SET client_min_messages = warning;
CALL zbxhist.undo('auditlog');
-- Zabbix keeps everything: nothing is deleted unasked
UPDATE config SET hk_audit_mode = 0;
SELECT * FROM zbxhist.partition_auditlog('auditlog');
UPDATE config SET hk_audit_mode = 1;
-- nor what a typo says
\set VERBOSITY sqlstate
SELECT * FROM zbxhist.partition_auditlog('auditlog', retention => '1 hour');
\set VERBOSITY default

-- In place: the same files, rows, privileges, names of indexes.
SELECT auditlog, action, regexp_replace(detail, 'about \d+(, \d+ kB)?', 'about N', 'g') FROM zbxhist.partition_auditlog('auditlog', dry_run => true);
SELECT relkind FROM pg_class WHERE oid = 'auditlog'::regclass;
SELECT pg_relation_filenode('auditlog') AS filenode \gset
SELECT action, count(*) FROM zbxhist.partition_auditlog('auditlog') GROUP BY action ORDER BY action;
SELECT pg_relation_filenode('auditlog_old') = :filenode AS is_in_place;
SELECT differences();
-- 17 has a privilege more
SELECT relname, relkind, relispartition, relowner::regrole, replace(relacl::text, 'Dxtm', 'Dxt') AS relacl, reloptions
  FROM pg_class WHERE relnamespace IN ('audit'::regnamespace, 'zbxhist_partitions'::regnamespace) AND relname ~ '^auditlog_(old|others)$|^auditlog(_\d|_pkey)?$' ORDER BY relname COLLATE "C";
SELECT relowner::regrole, replace(relacl::text, 'Dxtm', 'Dxt') AS relacl, reloptions, relname ~ '^auditlog_p\d{6}$' AS is_named
  FROM pg_class k JOIN pg_inherits i ON i.inhrelid = k.oid AND i.inhparent = 'auditlog'::regclass AND relname ~ '_p';
SELECT col_description('auditlog'::regclass, attnum) FROM pg_attribute WHERE attrelid = 'auditlog'::regclass AND attname = 'details';
SELECT obj_description('auditlog'::regclass, 'pg_class');
SELECT count(*) AS tables, count(DISTINCT stxrelid) AS with_statistics, array_agg(DISTINCT format('%s %s', stxkeys, stxkind)) AS statistics,
       count(*) FILTER (WHERE stxowner <> 'audit_owner'::regrole OR stxnamespace NOT IN ('audit'::regnamespace, 'zbxhist_partitions'::regnamespace)) AS wrong
  FROM (SELECT 'auditlog'::regclass AS relation UNION ALL SELECT inhrelid FROM pg_inherits WHERE inhparent = 'auditlog'::regclass) t
  LEFT JOIN pg_statistic_ext s ON s.stxrelid = t.relation;
-- the present is in the table that was there, the next month in one of its own
SELECT count(*) FILTER (WHERE from_clock <= extract(epoch FROM now()) AND to_clock > extract(epoch FROM now())) AS present,
       count(*) FILTER (WHERE from_clock = extract(epoch FROM date_trunc('month', now() AT TIME ZONE 'UTC') + interval '1 month')) AS next,
       count(*)
  FROM zbxhist_internal.list_ranges('auditlog');
-- as Zabbix writes, and PostgreSQL checks
\set VERBOSITY sqlstate
INSERT INTO auditlog SELECT * FROM twin LIMIT 1;
INSERT INTO auditlog (auditid, clock, recordsetid) VALUES ('0', 5, '');
\set VERBOSITY default
INSERT INTO auditlog (auditid, clock, recordsetid)
SELECT 'c' || d || 'new', extract(epoch FROM now() + d * interval '1 day'), ''
  FROM unnest('{0,32,70,3000}'::integer[]) d;
INSERT INTO twin SELECT * FROM auditlog WHERE auditid LIKE 'c%new';
SELECT differences();
-- an upgrade of Zabbix, and its housekeeper
CREATE INDEX auditlog_4 ON auditlog (recordsetid);
BEGIN;
DELETE FROM auditlog WHERE auditid IN (SELECT auditid FROM auditlog WHERE clock < 5 ORDER BY auditid LIMIT 5000);
COMMIT;

-- Safe to repeat; the policy can be changed.
SELECT action, count(*) FROM zbxhist.partition_auditlog('auditlog') GROUP BY action ORDER BY action;
SELECT action, count(*) FROM zbxhist.partition_auditlog('auditlog', premake => 3) GROUP BY action ORDER BY action;
SELECT tableoid::regclass::text ~ '_p\d{6}$' AS in_partition, count(*) FROM auditlog WHERE auditid LIKE 'c%new' GROUP BY 1 ORDER BY 1;
SELECT differences();
SELECT severity, code, object, hint FROM zbxhist.check() WHERE object = 'audit.auditlog';
SELECT table_name, action FROM zbxhist.preview('auditlog');

-- Maintenance drops whole partitions.
CALL zbxhist.run_maintenance('auditlog');
SELECT differences();
SELECT action, count(*) BETWEEN 1 AND 20 AS some FROM zbxhist.partition_auditlog('auditlog', partition_interval => '7 days', premake => 20) GROUP BY action ORDER BY action;
SELECT bool_and(from_clock = lag) AS without_gap
  FROM (SELECT from_clock, lag(to_clock) OVER (ORDER BY from_clock) AS lag
          FROM zbxhist_internal.list_ranges('auditlog')) p WHERE lag IS NOT NULL;
-- as if months had gone by: the first partition ends earlier, and is past retention
DO $$
DECLARE
    bound CONSTANT bigint := extract(epoch FROM now())::bigint - 100 * 86400;
    until CONSTANT bigint := (SELECT min(to_clock) FROM zbxhist_internal.list_ranges('audit.auditlog'));
BEGIN
    ALTER TABLE auditlog DETACH PARTITION auditlog_old;
    CREATE TABLE auditlog_kept (LIKE auditlog_old INCLUDING ALL);
    WITH moved AS (DELETE FROM auditlog_old WHERE clock >= bound RETURNING *) INSERT INTO auditlog_kept SELECT * FROM moved;
    EXECUTE format('ALTER TABLE auditlog ATTACH PARTITION auditlog_old FOR VALUES FROM (MINVALUE) TO (%s)', bound);
    EXECUTE format('ALTER TABLE auditlog ATTACH PARTITION auditlog_kept FOR VALUES FROM (%s) TO (%s)', bound, until);
END $$;
ALTER TABLE auditlog_kept OWNER TO audit_owner;
-- What the frontend and the API ask for reads what it does of a plain table, in which the same rows are
-- in somewhat fewer pages, and a page of each partition.
CREATE INDEX ON twin (userid, clock);
CREATE INDEX ON twin (clock);
CREATE INDEX ON twin (resourcetype, resourceid);
CREATE INDEX ON twin (recordsetid);
ANALYZE auditlog, twin;
CREATE FUNCTION pages(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE query;
    EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ' || query INTO plan;
    RETURN (plan -> 0 -> 'Plan' ->> 'Shared Hit Blocks')::bigint + (plan -> 0 -> 'Plan' ->> 'Shared Read Blocks')::bigint;
END $$;
SELECT name, pages(format(query, 'auditlog')) <= 1.5 * pages(format(query, 'twin'))
           + (SELECT count(*) FROM pg_inherits WHERE inhparent = 'auditlog'::regclass) AS no_more
  FROM (VALUES ('clock', format('clock >= %s AND clock <= %s', extract(epoch FROM now())::bigint - 20 * 86400, extract(epoch FROM now())::bigint)),
               ('user', 'userid = 3'), ('resource', 'resourcetype = 2 AND resourceid = 702'), ('recordset', 'recordsetid = ''c1500''')) f(name, filter),
       LATERAL (SELECT 'SELECT * FROM %s WHERE ' || filter || ' ORDER BY clock DESC LIMIT 1001') q(query) ORDER BY name;
-- a clock that no partition has, and past retention
ALTER TABLE auditlog DETACH PARTITION auditlog_old;
INSERT INTO auditlog (auditid, clock, recordsetid) VALUES ('gone', 7, '');
SELECT tableoid::regclass FROM auditlog WHERE auditid = 'gone';
DELETE FROM auditlog WHERE auditid = 'gone';
DO $$ BEGIN EXECUTE format('ALTER TABLE audit.auditlog ATTACH PARTITION zbxhist_partitions.auditlog_old FOR VALUES FROM (MINVALUE) TO (%s)',
    (SELECT min(from_clock) FROM zbxhist_internal.list_ranges('audit.auditlog'))); END $$;
-- the clock was ahead: a mass drop is for a person to agree to
UPDATE zbxhist.auditlog_config SET deleted_until = NULL;
DO $$ BEGIN EXECUTE (SELECT 'TRUNCATE ' || string_agg(relation::text, ', ') FROM zbxhist_internal.list_ranges('audit.auditlog')
    WHERE from_clock > extract(epoch FROM now())); END $$;
DELETE FROM auditlog WHERE clock > extract(epoch FROM now() + interval '1 day');
DELETE FROM twin WHERE clock > extract(epoch FROM now() + interval '1 day');
SELECT partition, action FROM zbxhist.preview('auditlog');
CALL zbxhist.run_maintenance('auditlog');
SELECT differences();
SELECT severity, code, regexp_replace(hint, '''\d[^'']*''', '''time''') FROM zbxhist.check() WHERE object = 'audit.auditlog' AND severity = 'error';
SELECT zbxhist.accept_deletion('auditlog', now() - interval '31 days 1 hour');
SELECT partition, action FROM zbxhist.preview('auditlog');
CALL zbxhist.run_maintenance();
SELECT to_regclass('auditlog_old');
DELETE FROM twin WHERE clock < extract(epoch FROM now()) - 100 * 86400;
SELECT differences();
SELECT action, relation FROM zbxhist.maintenance_log WHERE parent = 'auditlog'::regclass AND action = 'drop';
-- who says nothing of retention keeps all
UPDATE config SET hk_audit = 'never';
SELECT severity, code, message, hint FROM zbxhist.check() WHERE object = 'audit.auditlog' AND severity = 'warning';
CALL zbxhist.run_maintenance('auditlog');
SELECT differences();
-- Zabbix's own housekeeping of it may be off by now
UPDATE config SET hk_audit = '31d', hk_audit_mode = 0;
SELECT count(*) FROM zbxhist.check() WHERE object = 'audit.auditlog';

-- The first partition ends with its month: a typo is asked about before.
UPDATE config SET hk_audit = '40d', hk_audit_mode = 1;
DO $$ BEGIN PERFORM FROM zbxhist.partition_auditlog('auditlog', retention => '1 hour');
    EXCEPTION WHEN OBJECT_NOT_IN_PREREQUISITE_STATE THEN RAISE WARNING '%', SQLERRM; END $$;
SELECT retention FROM zbxhist.auditlog_config;
SELECT action FROM zbxhist.partition_auditlog('auditlog', retention => '39 days', accept_deletion => true) WHERE action <> 'create';
SELECT action FROM zbxhist.partition_auditlog('auditlog', retention => '50 days') WHERE action <> 'create';
SELECT action FROM zbxhist.partition_auditlog('auditlog', follow_zabbix => true) WHERE action <> 'create';
UPDATE config SET hk_audit = '31d', hk_audit_mode = 0;

-- What is said once is kept, also when something else is changed; Zabbix keeps all by now.
SELECT action FROM zbxhist.partition_auditlog('auditlog', retention => '100 years') WHERE action <> 'create';
SELECT action, detail ~ '100 years' AS is_kept FROM zbxhist.partition_auditlog('auditlog', partition_interval => '1 year', premake => 0) WHERE action <> 'create';
SELECT * FROM zbxhist.partition_auditlog('auditlog', follow_zabbix => true);
SELECT action, detail ~ 'hk_audit' AS follows FROM zbxhist.partition_auditlog('auditlog', follow_zabbix => true, accept_deletion => true) WHERE action <> 'create';
SELECT * FROM zbxhist.partition_auditlog('auditlog', retention => '10000 years');
SELECT * FROM zbxhist.partition_auditlog('auditlog', partition_interval => '1 month 1 day');
-- the partition for other clocks has been taken away, and comes back
ALTER TABLE auditlog DETACH PARTITION auditlog_others;
CALL zbxhist.run_maintenance('auditlog');
SELECT partdefid::regclass FROM pg_partitioned_table WHERE partrelid = 'auditlog'::regclass;
INSERT INTO auditlog SELECT * FROM auditlog_others;
DROP TABLE auditlog_others;
SELECT differences();
-- policies that hide rows: nothing is copied without them
ALTER TABLE auditlog_kept ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CALL zbxhist.undo('auditlog');
ALTER TABLE auditlog_kept DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY;
CREATE VIEW in_the_way AS SELECT auditid FROM auditlog;
CALL zbxhist.undo('auditlog');
DROP VIEW in_the_way;
-- without the policy, as after the extension was dropped and created again
DELETE FROM zbxhist.auditlog_config;
SELECT action FROM zbxhist.partition_auditlog('auditlog', retention => '100 years') WHERE action <> 'create';
SELECT differences();

-- Another owner: maintenance gives it the partitions, if it may
CREATE ROLE audit_heir;
GRANT USAGE, CREATE ON SCHEMA audit TO audit_heir;
ALTER TABLE auditlog OWNER TO audit_heir;
SELECT current_database() AS database, current_user AS me \gset
ALTER DATABASE :"database" OWNER TO audit_heir;
CREATE FUNCTION foreign_partitions() RETURNS bigint LANGUAGE sql AS $$
    SELECT count(*) FROM pg_inherits p JOIN pg_class k ON k.oid = p.inhrelid
     WHERE p.inhparent = 'audit.auditlog'::regclass AND k.relowner <> 'audit_heir'::regrole
$$;
SET ROLE audit_heir;
CALL zbxhist.run_maintenance('audit.auditlog');
RESET ROLE;
SELECT foreign_partitions() > 0 AS are_left;
SELECT severity, code, object, message FROM zbxhist.check() WHERE object = 'audit.auditlog' AND severity = 'error';
CALL zbxhist.run_maintenance('auditlog');
SELECT foreign_partitions();
SELECT count(*) > 0 AS is_logged, count(DISTINCT relation) = count(*) AS once FROM zbxhist.maintenance_log WHERE parent = 'auditlog'::regclass AND action = 'owner';
SET ROLE audit_heir;
CALL zbxhist.run_maintenance('audit.auditlog');
SELECT action, count(*) > 0 FROM zbxhist.partition_auditlog('audit.auditlog', partition_interval => '1 month', premake => 30) GROUP BY action ORDER BY action;
RESET ROLE;
ALTER DATABASE :"database" OWNER TO :"me";
SELECT foreign_partitions();
SELECT differences();
SELECT count(*) FROM zbxhist.check() WHERE object = 'audit.auditlog' AND severity = 'error';

-- Back to a plain table.
CALL zbxhist.undo('auditlog');
SELECT differences();
SELECT relname, relkind, relowner::regrole, replace(relacl::text, 'Dxtm', 'Dxt') AS relacl
  FROM pg_class WHERE relnamespace IN ('audit'::regnamespace, 'zbxhist_partitions'::regnamespace) AND relname ~ '^auditlog' ORDER BY relname COLLATE "C";
SELECT obj_description('auditlog'::regclass, 'pg_class'), stxkind FROM pg_statistic_ext WHERE stxrelid = 'auditlog'::regclass;
SELECT count(*) FROM zbxhist.auditlog_config;
-- and again, by an index made before
ALTER TABLE auditlog DROP CONSTRAINT auditlog_pkey, ADD PRIMARY KEY (auditid);
CREATE UNIQUE INDEX CONCURRENTLY prepared ON auditlog (auditid, clock);
SELECT action, count(*) FROM zbxhist.partition_auditlog('auditlog', accept_deletion => true) GROUP BY action ORDER BY action;
SELECT differences();
-- as an upgrade of Zabbix to 6.0 does
DROP TABLE auditlog;
SELECT count(*) FROM zbxhist.check() WHERE object ~ 'auditlog';
CALL zbxhist.run_maintenance();
SELECT count(*) FROM zbxhist.auditlog_config;

-- names of any kind
CREATE SCHEMA "I ""q";
CREATE TABLE "I ""q".auditlog (auditid varchar(25) PRIMARY KEY, clock integer DEFAULT 0 NOT NULL);
INSERT INTO "I ""q".auditlog VALUES ('c00000000x', 1);
SELECT action FROM zbxhist.partition_auditlog('"I ""q".auditlog', retention => '100 years', partition_interval => '12 months');
CALL zbxhist.undo('"I ""q".auditlog');
TABLE "I ""q".auditlog;
-- partitioned by hand, with the key that Zabbix's manual prepares
DROP TABLE "I ""q".auditlog;
CREATE TABLE "I ""q".auditlog (auditid varchar(25), clock integer DEFAULT 0 NOT NULL, PRIMARY KEY (auditid, clock)) PARTITION BY RANGE (clock);
CREATE TABLE "I ""q".by_hand PARTITION OF "I ""q".auditlog FOR VALUES FROM (0) TO (86400);
INSERT INTO "I ""q".auditlog VALUES ('c00000000x', 1);
SELECT severity, code, object, hint FROM zbxhist.check() WHERE code = 'auditlog_unknown';
CREATE TABLE "I ""q".history (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL, ns integer NOT NULL);
SELECT zbxhist.create_parent('"I ""q".history', pack_after => '1 day');
SELECT severity, code, object, hint FROM zbxhist.check() WHERE code = 'auditlog_unknown';
SELECT action FROM zbxhist.partition_auditlog('"I ""q".auditlog', retention => '100 years', partition_interval => '12 months');
SELECT severity, code, object, hint FROM zbxhist.check() WHERE code = 'auditlog_unknown';
INSERT INTO "I ""q".auditlog VALUES ('c00000000x', 2), ('zz', 86401), ('zz', extract(epoch FROM now()));
SELECT tableoid::regclass::text ~ '_others$' AS in_others, count(*) FROM "I ""q".auditlog GROUP BY 1 ORDER BY 1;
CALL zbxhist.run_maintenance('"I ""q".auditlog');
SELECT relnamespace::regnamespace FROM pg_class WHERE relname = 'by_hand';
CALL zbxhist.undo('"I ""q".history');
CALL zbxhist.undo('"I ""q".auditlog');
UPDATE "I ""q".auditlog SET clock = 86402 WHERE clock > 86402;
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'p' AND conrelid = '"I ""q".auditlog'::regclass;
SELECT * FROM "I ""q".auditlog ORDER BY clock;
DROP SCHEMA "I ""q" CASCADE;
RESET search_path;
DROP SCHEMA audit CASCADE;
DROP OWNED BY audit_owner, audit_heir;
DROP ROLE audit_owner, audit_reader, audit_heir;
