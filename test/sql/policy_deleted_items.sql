-- deleted_items: values of items that Zabbix has deleted are left out when days are packed or
-- rewritten.  The policy is off by default, and deletes nothing if it is in doubt which items
-- exist.
\a \t
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'zbxhist';
SET TimeZone = 'UTC';
\set SHOW_CONTEXT never
-- one day for all of it
DO $$ BEGIN PERFORM pg_sleep(left_over + 1) FROM (SELECT 86400 - extract(epoch FROM now()) % 86400) AS day (left_over) WHERE left_over < 180; END $$;
CREATE SCHEMA deleted;
SET search_path = deleted, public, zbxhist_partitions;
CREATE TABLE history (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, value double precision DEFAULT '0.0000' NOT NULL, ns integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid,clock,ns));
CREATE TABLE trends (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, num integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid,clock));
CREATE TABLE mine (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid,clock));
CREATE TABLE items (itemid bigint PRIMARY KEY, hostid bigint NOT NULL, key_ varchar(2048) NOT NULL);
INSERT INTO items SELECT i, 1, 'key' FROM generate_series(1, 5) i;
SELECT zbxhist.create_parent('history', '6 hours', '30 days', premake => 0), zbxhist.create_parent('trends', '1 month'), zbxhist.create_parent('mine');
SELECT zbxhist.alter_parent(t, never_pack => true) FROM unnest('{history,trends}'::regclass[]) t;
SELECT floor(extract(epoch FROM now()) / 86400)::integer * 86400 AS today \gset
CREATE FUNCTION ago(days integer) RETURNS date LANGUAGE sql STABLE AS $$ SELECT (now() AT TIME ZONE 'UTC')::date - days $$;
SELECT count(zbxhist_internal.create_range('history', :today - d * 86400 + h * 21600, :today - d * 86400 + h * 21600 + 21600)) FROM generate_series(1, 6) d, generate_series(0, 3) h;
INSERT INTO history SELECT i, :today - d * 86400 + h * 21600 + s, i, 0 FROM generate_series(1, 6) d, generate_series(0, 3) h, generate_series(-2, 8) i, generate_series(1, 10) s;
CREATE VIEW days AS SELECT (:today - clock / 86400 * 86400) / 86400 AS ago, count(*), array_agg(DISTINCT itemid ORDER BY itemid) AS items FROM history GROUP BY 1;
CREATE VIEW log AS SELECT l.action, l.rows, regexp_replace(l.message, '^[^;]*', '') AS message FROM zbxhist.maintenance_log l WHERE l.parent = 'history'::regclass AND l.action IN ('pack', 'compact', 'repack') ORDER BY l.id;

-- the policy is off, and says so
SELECT parent, deleted_items FROM zbxhist.parents ORDER BY 1;
CALL zbxhist.pack('history', ago(6));
SELECT * FROM days ORDER BY ago DESC LIMIT 1;

-- words and tables that are none
SELECT zbxhist.alter_parent('history', deleted_items => 'delete');
SELECT zbxhist.alter_parent('mine', deleted_items => 'drop');
SELECT zbxhist.alter_parent('mine', deleted_items => 'keep');
SELECT deleted_items FROM zbxhist.parents WHERE parent = 'mine'::regclass;

-- switched on; other changes of the policy leave it
SELECT zbxhist.alter_parent('history', deleted_items => 'drop');
SELECT zbxhist.alter_parent('history', premake => 1);
SELECT deleted_items, premake FROM zbxhist.parents WHERE parent = 'history'::regclass;
CALL zbxhist.pack('history', ago(5));
SELECT * FROM days ORDER BY ago DESC LIMIT 2;
SELECT sum(nrows) = 200 AS counted FROM zbxhist.packed_day WHERE parent = 'history'::regclass AND from_clock >= :today - 5 * 86400;
SELECT count(*) FROM zbxhist.verify('history');

-- what was packed before, when it is written anew
CALL zbxhist.compact('history', ago(6));
SELECT * FROM days ORDER BY ago DESC LIMIT 1;
DELETE FROM items WHERE itemid = 5;
CALL zbxhist.repack('history', ago(6));
SELECT * FROM days ORDER BY ago DESC LIMIT 2;
SELECT action, sum(rows), message FROM log GROUP BY 1, 3 ORDER BY 1, 2;
SELECT count(*) FROM zbxhist.verify('history');
-- all of a day
BEGIN;
DELETE FROM items;
INSERT INTO items VALUES (99, 1, 'key');
COMMIT;
CALL zbxhist.pack('history', ago(4));
SELECT * FROM days ORDER BY ago DESC LIMIT 3;
INSERT INTO items SELECT i, 1, 'key' FROM generate_series(1, 4) i;

-- everything stays where it is in doubt, and check() says why
CREATE FUNCTION without_me(message text) RETURNS text LANGUAGE sql AS $$ SELECT regexp_replace(message, '\m' || current_user || '\M', '(me)', 'g') $$;
CREATE FUNCTION doubt() RETURNS TABLE (severity text, message text, hint text) LANGUAGE sql AS $$ SELECT c.severity, without_me(c.message), c.hint FROM zbxhist.check() c WHERE c.code = 'deleted_items' $$;
SELECT * FROM doubt();
TRUNCATE items;
SELECT * FROM doubt();
CALL zbxhist.pack('history', ago(2));
SELECT * FROM days WHERE ago = 2;
SELECT DISTINCT without_me(message) AS message FROM log WHERE message LIKE '%stay%';
CREATE ROLE zbxhist_deleted_owner;
INSERT INTO items VALUES (1, 1, 'key');
GRANT CREATE ON SCHEMA deleted TO zbxhist_deleted_owner;
ALTER TABLE items OWNER TO zbxhist_deleted_owner;
SELECT * FROM doubt();
CALL zbxhist.pack('history', ago(1));
SELECT * FROM days WHERE ago = 1;
DROP TABLE items;
SELECT * FROM doubt();
CREATE VIEW items AS SELECT 1::bigint AS itemid, 1 AS hostid, 'x'::text AS key_;
CALL zbxhist.compact('history', ago(1));
SELECT * FROM days WHERE ago = 1;
DROP VIEW items;
CREATE TABLE items (itemid bigint, hostid bigint, key_ text);
INSERT INTO items VALUES (1, 1, 'key');
CALL zbxhist.compact('history', ago(2));
SELECT * FROM days WHERE ago = 2;
ALTER TABLE items ADD PRIMARY KEY (itemid);
SELECT * FROM zbxhist_internal.kept_items('history');
SELECT * FROM doubt();
CREATE TABLE items_child () INHERITS (items);
SELECT * FROM zbxhist_internal.kept_items('history');
DROP TABLE items_child;
-- switched off again
SELECT zbxhist.alter_parent('history', deleted_items => 'keep');
SELECT * FROM zbxhist_internal.kept_items('history');

SET zbxhist.allow_packed_drop = on;
SET client_min_messages = warning;
DROP SCHEMA deleted CASCADE;
DROP ROLE zbxhist_deleted_owner;
ALTER DATABASE :"DBNAME" RESET session_preload_libraries;
