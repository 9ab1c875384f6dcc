-- Zabbix's audit log, partitioned natively by the time in its ids.
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

-- Ids are the milliseconds in base 36, here made in another way.
CREATE FUNCTION base36(bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    rest bigint := $1;
    word text := '';
BEGIN
    FOR i IN 1 .. 8 LOOP
        word := substr('0123456789abcdefghijklmnopqrstuvwxyz', (rest % 36)::integer + 1, 1) || word;
        rest := rest / 36;
    END LOOP;
    RETURN word;
END $$;
SELECT count(*) FILTER (WHERE zbxhist_internal.cuid_of(c) <> 'c' || base36(1000 * c)) AS wrong,
       count(*) FILTER (WHERE zbxhist_internal.cuid_clock('c' || base36(1000 * c + c % 1000) || 'xyz') <> c) AS wrong_clocks
  FROM generate_series(0, 2147483647, 7654321::bigint) c;
SELECT zbxhist_internal.cuid_of(-5), zbxhist_internal.cuid_clock('C00000000'), zbxhist_internal.cuid_clock('');

-- 300 days of rows, noted within the second; some with ids that are none of Zabbix's.
CREATE VIEW moments AS
    SELECT i, extract(epoch FROM date_trunc('hour', now()))::bigint - 300 * 86400 + i * 8640 AS clock
      FROM generate_series(1, 3000) i;
INSERT INTO auditlog (auditid, userid, clock, action, resourcetype, resourceid, recordsetid)
SELECT 'c' || base36(1000 * clock + i % 1000) || lpad(i::text, 16, '0'), i % 7, clock, i % 3, i % 5, i, 'c' || i FROM moments;
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

-- In place: the same files, rows, privileges, names of indexes.
SELECT auditlog, action, regexp_replace(detail, 'about \d+, \d+ kB', 'about N') FROM zbxhist.partition_auditlog('auditlog', dry_run => true);
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
  FROM (SELECT 'auditlog'::regclass AS relation UNION ALL SELECT partition FROM zbxhist_internal.auditlog_partitions('auditlog')) t
  LEFT JOIN pg_statistic_ext s ON s.stxrelid = t.relation;
SELECT tableoid::regclass, auditid FROM auditlog WHERE auditid !~ '^c' ORDER BY auditid COLLATE "C";
-- the present is in the table that was there, the next month in one of its own
SELECT count(*) FILTER (WHERE from_clock <= extract(epoch FROM now()) AND to_clock > extract(epoch FROM now())) AS present,
       count(*) FILTER (WHERE from_clock = extract(epoch FROM date_trunc('month', now() AT TIME ZONE 'UTC') + interval '1 month')) AS next,
       count(*) FILTER (WHERE from_clock IS NULL) AS others, count(*)
  FROM zbxhist_internal.auditlog_partitions('auditlog');
-- as Zabbix writes, and PostgreSQL checks
\set VERBOSITY sqlstate
INSERT INTO auditlog SELECT * FROM twin LIMIT 1;
INSERT INTO auditlog (auditid, recordsetid) VALUES ('zz', '');
\set VERBOSITY default
INSERT INTO auditlog (auditid, clock, recordsetid)
SELECT 'c' || base36(1000 * extract(epoch FROM now() + d * interval '1 day')::bigint) || 'new', extract(epoch FROM now()), ''
  FROM unnest('{0,32,70,5000}'::integer[]) d;
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

-- Maintenance: of ids that are none of Zabbix's, rows past retention; partitions whole.
CALL zbxhist.run_maintenance('auditlog');
DELETE FROM twin WHERE auditid IN ('0', '');
SELECT differences();
SELECT action, count(*) BETWEEN 1 AND 20 AS some FROM zbxhist.partition_auditlog('auditlog', partition_interval => '7 days', premake => 20) GROUP BY action ORDER BY action;
SELECT bool_and(from_clock = lag) AS without_gap
  FROM (SELECT from_clock, lag(to_clock) OVER (ORDER BY from_clock) AS lag
          FROM zbxhist_internal.auditlog_partitions('auditlog')) p WHERE lag IS NOT NULL AND from_clock IS NOT NULL;
-- as if months had gone by: the first partition ends earlier, and is past retention
DO $$
DECLARE
    bound CONSTANT text := zbxhist_internal.cuid_of(extract(epoch FROM now())::bigint - 100 * 86400);
    until CONSTANT text := (SELECT zbxhist_internal.cuid_of(to_clock) FROM zbxhist_internal.auditlog_partitions('audit.auditlog') LIMIT 1);
BEGIN
    ALTER TABLE auditlog DETACH PARTITION auditlog_old;
    CREATE TABLE auditlog_kept (LIKE auditlog_old INCLUDING ALL);
    WITH moved AS (DELETE FROM auditlog_old WHERE auditid >= bound RETURNING *) INSERT INTO auditlog_kept SELECT * FROM moved;
    EXECUTE format('ALTER TABLE auditlog ATTACH PARTITION auditlog_old FOR VALUES FROM (%L) TO (%L)', zbxhist_internal.cuid_of(0), bound);
    EXECUTE format('ALTER TABLE auditlog ATTACH PARTITION auditlog_kept FOR VALUES FROM (%L) TO (%L)', bound, until);
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
           + (SELECT count(*) FROM zbxhist_internal.auditlog_partitions('auditlog')) AS no_more
  FROM (VALUES ('clock', format('clock >= %s AND clock <= %s', extract(epoch FROM now())::bigint - 20 * 86400, extract(epoch FROM now())::bigint)),
               ('user', 'userid = 3'), ('resource', 'resourcetype = 2 AND resourceid = 702'), ('recordset', 'recordsetid = ''c1500''')) f(name, filter),
       LATERAL (SELECT 'SELECT * FROM %s WHERE ' || filter || ' ORDER BY clock DESC LIMIT 1001') q(query) ORDER BY name;
-- but of one row the clock is not
UPDATE auditlog SET clock = extract(epoch FROM now()) - 86400 WHERE auditid = (SELECT min(auditid) FROM auditlog WHERE auditid LIKE 'c%');
SELECT partition, action FROM zbxhist.preview('auditlog');
CALL zbxhist.run_maintenance('auditlog');
SELECT count(*) FROM auditlog_old;
UPDATE auditlog_old SET clock = 0;
CALL zbxhist.run_maintenance();
SELECT to_regclass('auditlog_old');
DELETE FROM twin WHERE auditid LIKE 'c%' AND clock < extract(epoch FROM now()) - 100 * 86400;
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

-- What is said once is kept, also when something else is changed; Zabbix keeps all by now.
SELECT action FROM zbxhist.partition_auditlog('auditlog', retention => '100 years') WHERE action <> 'create';
SELECT action, detail ~ '100 years' AS is_kept FROM zbxhist.partition_auditlog('auditlog', partition_interval => '1 year', premake => 0) WHERE action <> 'create';
SELECT * FROM zbxhist.partition_auditlog('auditlog', follow_zabbix => true);
SELECT action, detail ~ 'hk_audit' AS follows FROM zbxhist.partition_auditlog('auditlog', follow_zabbix => true, accept_deletion => true) WHERE action <> 'create';
SELECT * FROM zbxhist.partition_auditlog('auditlog', retention => '10000 years');
SELECT * FROM zbxhist.partition_auditlog('auditlog', partition_interval => '1 month 1 day');
-- the partition for other ids has been taken away, and comes back
ALTER TABLE auditlog DETACH PARTITION auditlog_others;
CALL zbxhist.run_maintenance('auditlog');
SELECT zbxhist_internal.auditlog_others('auditlog');
INSERT INTO auditlog SELECT * FROM auditlog_others;
DROP TABLE auditlog_others;
SELECT differences();
-- policies that hide rows: nothing is dropped, or copied without them
ALTER TABLE auditlog_kept ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CALL zbxhist.undo('auditlog');
SELECT zbxhist_internal.has_auditlog_rows('auditlog_kept', 0);
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
    SELECT count(*) FROM zbxhist_internal.auditlog_partitions('audit.auditlog') p JOIN pg_class k ON k.oid = p.partition
     WHERE k.relowner <> 'audit_heir'::regrole
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
SELECT attcollation = 'pg_catalog.default'::regcollation AS is_default FROM pg_attribute WHERE attrelid = 'auditlog'::regclass AND attname = 'auditid';
SELECT count(*) FROM zbxhist.auditlog_config;
-- and again, by an index made before
CREATE UNIQUE INDEX CONCURRENTLY prepared ON auditlog (auditid COLLATE "C");
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
-- the key that Zabbix's manual prepares for partitions
ALTER TABLE "I ""q".auditlog DROP CONSTRAINT auditlog_pkey, ADD PRIMARY KEY (auditid, clock);
SELECT action FROM zbxhist.partition_auditlog('"I ""q".auditlog', retention => '100 years', partition_interval => '12 months');
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'p' AND conrelid IN ('"I ""q".auditlog'::regclass, 'auditlog_old'::regclass, 'auditlog_others'::regclass);
INSERT INTO "I ""q".auditlog VALUES ('c00000000x', 2), ('zz', 3);
CALL zbxhist.undo('"I ""q".auditlog');
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'p' AND conrelid = '"I ""q".auditlog'::regclass;
SELECT * FROM "I ""q".auditlog ORDER BY clock;
DROP SCHEMA "I ""q" CASCADE;
RESET search_path;
DROP SCHEMA audit CASCADE;
DROP OWNED BY audit_owner, audit_heir;
DROP ROLE audit_owner, audit_reader, audit_heir;
