-- The policy that leaves out absurd clocks: no INSERT of any kind fails or waits because of
-- it, and values left out are counted and reported with the names of items and hosts.
\a \t
LOAD 'zbxhist';
SET client_min_messages = warning;
SET TimeZone = 'UTC';
CREATE SCHEMA clocks;
SET search_path = clocks, public, zbxhist_partitions;
CREATE TABLE hosts (hostid bigint PRIMARY KEY, host text NOT NULL, name text NOT NULL);
CREATE TABLE items (itemid bigint PRIMARY KEY, hostid bigint NOT NULL, name text NOT NULL, key_ text NOT NULL);
INSERT INTO hosts VALUES (1, 'pump', 'Pump in the cellar');
INSERT INTO items VALUES (10, 1, 'Pressure', 'pressure'), (11, 1, 'Flow', 'flow');
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL DEFAULT 0, value double precision NOT NULL DEFAULT 0,
    ns integer NOT NULL DEFAULT 0, PRIMARY KEY (itemid, clock, ns));
SELECT extract(epoch FROM now())::integer AS now \gset
SELECT zbxhist.create_parent('history', '1 hour', '60 days', pack_after => '1 hour');
SELECT count(*) AS partitions FROM zbxhist.list_partitions('history') \gset
CREATE VIEW told AS SELECT itemid, sum(rows) AS rows, min(first_clock) AS first_clock,
       max(last_clock) AS last_clock FROM zbxhist.left_out WHERE parent = 'history'::regclass GROUP BY itemid;
CREATE FUNCTION stored(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    result bigint;
BEGIN
    EXECUTE query;
    GET DIAGNOSTICS result = ROW_COUNT;
    RETURN result;
END $$;

-- without the policy they stay in the table itself; those ahead are never past retention
INSERT INTO history (itemid, clock) VALUES (10, 0), (10, 2147483647), (10, :now);
SELECT count(*) FROM ONLY history;
SELECT count(*) FROM told;
SELECT severity, code, object, message, regexp_replace(hint, '\d{10}', 'CLOCK') AS hint FROM zbxhist.check() WHERE code = 'clocks_ahead';
DO $$ BEGIN EXECUTE (SELECT hint FROM zbxhist.check() WHERE code = 'clocks_ahead'); END $$;
SELECT count(*) FROM ONLY history;
DELETE FROM history;

-- with it they come to no table: literals, the trigger, COPY, ON CONFLICT, RETURNING, add
SELECT zbxhist.alter_parent('history', max_age => '30 days', max_ahead => '1 day');
SELECT max_age, max_ahead, out_of_range FROM zbxhist.parents WHERE parent = 'history'::regclass;
SELECT stored(format('INSERT INTO history (itemid, clock) VALUES (10, 0), (10, 2147483647), (11, 86400), (10, %s), (11, %1$s)', :now));
SELECT stored(format('INSERT INTO history (itemid, clock) SELECT 10, c FROM unnest(ARRAY[-5, 5, %s]) c', :now + 1));
COPY history (itemid, clock) FROM STDIN;
12	1
12	2
\.
SELECT stored(format('INSERT INTO history (itemid, clock) VALUES (10, 7), (10, %s), (10, %s) ON CONFLICT DO NOTHING', :now, :now + 2));
INSERT INTO history (itemid, clock) VALUES (10, 8), (13, 2147483600) RETURNING itemid, clock;
SELECT zbxhist.add(NULL::history, '{10,10}', ARRAY[9, :now + 3], '{0,0}', '{1,1}'::double precision[]);
-- the ends of what is stored
INSERT INTO history (itemid, clock) VALUES (14, :now - 29 * 86400), (14, :now - 31 * 86400), (14, :now + 86000), (14, :now + 90000);
SELECT count(*) FROM history;
SELECT itemid, count(*), sum((clock < :now - 30 * 86400 OR clock > :now + 86400)::integer) AS absurd FROM history GROUP BY itemid ORDER BY itemid;
SELECT itemid, rows, CASE WHEN itemid < 14 THEN first_clock END AS first_clock, CASE WHEN itemid < 14 THEN last_clock END AS last_clock FROM told ORDER BY itemid;
SELECT count(*) = :partitions AS same_partitions FROM zbxhist.list_partitions('history');
CREATE FUNCTION explained(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE) ' || query LOOP
        RETURN NEXT line;
    END LOOP;
END $$;
SELECT * FROM explained('INSERT INTO history (itemid, clock) VALUES (10, 11), (10, 12)') AS e (line) WHERE line ~ 'Left Out|Partitions';
-- what is rolled back was not left out
BEGIN;
INSERT INTO history (itemid, clock) VALUES (15, 0);
SAVEPOINT s;
INSERT INTO history (itemid, clock) VALUES (16, 0);
ROLLBACK TO s;
COMMIT;
SELECT itemid, rows FROM told WHERE itemid > 14 ORDER BY itemid;
-- a role that may insert needs no more
CREATE ROLE regress_zbxhist_writer;
GRANT USAGE ON SCHEMA clocks TO regress_zbxhist_writer;
GRANT INSERT ON history TO regress_zbxhist_writer;
SET ROLE regress_zbxhist_writer;
INSERT INTO history (itemid, clock) VALUES (17, 0);
SELECT code, message FROM zbxhist.check() WHERE code = 'clocks' OR message ~ 'clocks' AND code <> 'not_seen';
RESET ROLE;
-- of many items 31 are told by name
DELETE FROM zbxhist.left_out;
SELECT stored('INSERT INTO history (itemid, clock) SELECT i, 1 FROM generate_series(100, 199) i');
SELECT count(*), count(itemid), sum(rows) FROM zbxhist.left_out;

-- who it was
DELETE FROM zbxhist.left_out;
INSERT INTO history (itemid, clock) VALUES (10, 1), (10, 2), (11, 3), (10, 2147483647);
INSERT INTO history (itemid, clock) VALUES (10, 4), (77, 5);
SELECT severity, code, object, message, hint FROM zbxhist.check() WHERE code = 'clocks';
BEGIN;
SELECT zbxhist.alter_parent('history', any_clock => true);
SELECT message FROM zbxhist.check() WHERE code = 'clocks';
ROLLBACK;
-- maintenance adds up, and forgets after a day
UPDATE zbxhist.left_out SET noted_at = date_trunc('hour', now()) WHERE parent = 'history'::regclass;
CALL zbxhist.run_maintenance('history');
SELECT itemid, rows, first_clock, last_clock FROM zbxhist.left_out ORDER BY itemid;
SELECT count(*) FROM ONLY history WHERE clock < :now - 30 * 86400;
UPDATE zbxhist.left_out SET noted_at = now() - interval '25 hours';
SELECT count(*) FROM zbxhist.check() WHERE code = 'clocks';
CALL zbxhist.run_maintenance('history');
SELECT count(*) FROM zbxhist.left_out;

-- kept for a day
SELECT zbxhist.alter_parent('history', out_of_range => 'keep');
INSERT INTO history (itemid, clock, value) VALUES (10, 20, 1.5), (11, :now + 10, 2);
INSERT INTO history (itemid, clock, value) SELECT 10, 21, 2.5;
CALL zbxhist.run_maintenance('history');
SELECT itemid, rows, (kept::history).* FROM zbxhist.left_out ORDER BY first_clock;
-- any clock again
SELECT zbxhist.alter_parent('history', any_clock => true);
SELECT max_age, max_ahead FROM zbxhist.parents WHERE parent = 'history'::regclass;
INSERT INTO history SELECT (kept::history).* FROM zbxhist.left_out;
SELECT count(*) FROM ONLY history WHERE clock < 100;
DELETE FROM zbxhist.left_out;

-- while undo brings rows back nothing is left out
DELETE FROM history;
SELECT zbxhist.alter_parent('history', max_age => '2 days', max_ahead => '2 hours', out_of_range => 'drop');
INSERT INTO history (itemid, clock) VALUES (10, 0), (11, :now), (10, 2147483647);
UPDATE zbxhist.parent_config SET routing = false WHERE parent = 'history'::regclass;
SELECT zbxhist_internal.invalidate('history');
INSERT INTO history (itemid, clock) VALUES (12, 0);
SELECT itemid FROM history ORDER BY itemid;
UPDATE zbxhist.parent_config SET routing = true WHERE parent = 'history'::regclass;
CALL zbxhist.undo('history');
SELECT itemid, clock = 0 AS is_absurd FROM history ORDER BY itemid;

-- a value that is left out is not checked
CREATE TABLE history_uint (itemid bigint NOT NULL, clock integer NOT NULL DEFAULT 0, value numeric(20) NOT NULL DEFAULT 0,
    ns integer NOT NULL DEFAULT 0, PRIMARY KEY (itemid, clock, ns), CONSTRAINT sane CHECK (clock > 1000000000));
SELECT zbxhist.create_parent('history_uint', '1 hour', '60 days');
INSERT INTO history_uint (itemid, clock) VALUES (7, 1);
SELECT zbxhist.alter_parent('history_uint', max_age => '30 days');
INSERT INTO history_uint (itemid, clock) VALUES (7, 1);
SELECT count(*) FROM history_uint;
CALL zbxhist.undo('history_uint');

-- setup has it for all tables, and for those that an upgrade of Zabbix creates
CREATE SCHEMA clocks_zabbix;
CREATE TABLE clocks_zabbix.history (LIKE history INCLUDING ALL);
CREATE TABLE clocks_zabbix.trends_uint (itemid bigint NOT NULL, clock integer NOT NULL DEFAULT 0, num integer NOT NULL DEFAULT 0, PRIMARY KEY (itemid, clock));
SELECT detail ~ 'values older than 40 days left out; values more than 1 day ahead left out' AS said FROM zbxhist.setup('clocks_zabbix', history_retention => '60 days', trends_retention => '60 days', max_age => '40 days', max_ahead => '1 day') WHERE action = 'create_parent';
CREATE TABLE clocks_zabbix.history_bin (LIKE history INCLUDING ALL);
SET search_path = clocks_zabbix, clocks, zbxhist_partitions;
CALL zbxhist.run_maintenance();
SELECT parent, max_age, max_ahead FROM zbxhist.parents WHERE parent::text IN ('history', 'history_bin', 'trends_uint') ORDER BY parent::text;
INSERT INTO trends_uint (itemid, clock) VALUES (1, 3600);
INSERT INTO history_bin (itemid, clock) VALUES (1, 3600);
SELECT count(*) FROM ONLY trends_uint NATURAL FULL JOIN history_bin;
SELECT action, detail ~ 'values older than 90 days left out' AS said FROM zbxhist.setup('clocks_zabbix', max_age => '90 days') WHERE action ~ 'parent';
SELECT zbxhist.setup('clocks_zabbix', max_ahead => '1 second');
SET search_path = clocks, public, zbxhist_partitions;
DELETE FROM zbxhist.managed_schema WHERE schema_name = 'clocks_zabbix';
DROP SCHEMA clocks_zabbix CASCADE;
DROP SCHEMA clocks CASCADE;
SELECT zbxhist_internal.forget_dropped();
SELECT count(*) FROM zbxhist.left_out;
DROP ROLE regress_zbxhist_writer;
