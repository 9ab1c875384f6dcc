-- A packed day of one page is read without its index, whose catalog entries a new
-- connection would have to look up: with several groups in the page, in any
-- order, forwards and backwards.  (No two items have the same times, so that it is these groups alone.)
\a \t
SET client_min_messages = warning;
SET TimeZone = 'UTC';
CREATE SCHEMA one_page;
SET search_path = one_page, zbxhist_partitions;
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value double precision, ns integer, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE history_rest (LIKE history INCLUDING ALL);
CREATE TABLE plain AS
SELECT i::bigint AS itemid, 86400 + j * 600 AS clock, (i * j)::double precision AS value, i * 1000 + j AS ns
  FROM generate_series(1, 9) i, generate_series(0, 100) j;
SELECT zbxhist.create_parent(p, retention => '100 years', premake => 0), zbxhist.create_partition(p, '1970-01-02')
  FROM unnest('{history,history_rest}'::regclass[]) p;
-- item 5 is in two groups
INSERT INTO history SELECT * FROM plain WHERE (itemid, clock) < (5, 110000);
INSERT INTO history_rest SELECT * FROM plain WHERE (itemid, clock) >= (5, 110000);
CALL zbxhist.pack('history', '1970-01-02');
CALL zbxhist.pack('history_rest', '1970-01-02');
INSERT INTO zbxhist_packed.history_p19700102 SELECT * FROM zbxhist_packed.history_rest_p19700102;
-- the first is the last of the page now
UPDATE zbxhist_packed.history_p19700102 SET payload = payload WHERE first_itemid = 1;
SELECT ctid, first_itemid, last_itemid, nrows FROM zbxhist_packed.history_p19700102;

CREATE FUNCTION index_scans() RETURNS bigint LANGUAGE sql
RETURN pg_stat_get_xact_numscans('zbxhist_packed.history_p19700102_pkey'::regclass);
CREATE VIEW seen AS
SELECT r.* FROM generate_series(0, 11) i, (VALUES (86400, 172799), (86400, 109999), (110000, 172799), (100000, 120000), (86500, 86700), (86401, 86402)) v (first, final),
       LATERAL (SELECT 'up' AS way, first, itemid, clock, value, ns FROM zbxhist.range(NULL::history, i, first, final + 1)
                UNION ALL
                (SELECT 'down', first, itemid, clock, value, ns FROM history WHERE itemid = i AND clock BETWEEN first AND final ORDER BY clock DESC)) r;
CREATE VIEW expected AS
SELECT w.way, v.first, p.* FROM plain p, (VALUES (86400, 172799), (86400, 109999), (110000, 172799), (100000, 120000), (86500, 86700), (86401, 86402)) v (first, final),
       (VALUES ('up'), ('down')) w (way) WHERE p.clock BETWEEN v.first AND v.final;
-- (what has been counted so far is put away)
SELECT pg_stat_force_next_flush();
BEGIN;
SELECT count(*) FROM seen;
SELECT count(*) FROM ((TABLE seen EXCEPT ALL TABLE expected) UNION ALL (TABLE expected EXCEPT ALL TABLE seen)) x;
SELECT array_agg(clock ORDER BY n) = array_agg(clock ORDER BY clock) AS in_order FROM zbxhist.range(NULL::history, 5, 100000, 120000) WITH ORDINALITY r (itemid, clock, value, ns, n);
SELECT array_agg(clock) = array_agg(clock ORDER BY clock DESC) AS in_order FROM (SELECT clock FROM history WHERE itemid = 5 ORDER BY clock DESC LIMIT 90) x;
SELECT itemid, clock FROM history WHERE itemid = 5 AND clock < 110000 ORDER BY clock DESC LIMIT 1;
SELECT index_scans();
COMMIT;
-- a serializable transaction does not lock items that it has not read
SELECT pg_stat_force_next_flush();
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(*) FROM history WHERE itemid = 5;
SELECT index_scans() > 0 AS by_index;
SELECT count(*) FROM pg_locks WHERE mode = 'SIReadLock' AND locktype = 'relation' AND relation = 'zbxhist_packed.history_p19700102'::regclass AND pid = pg_backend_pid();
COMMIT;
-- of more than a page, the index
INSERT INTO history_rest SELECT i, 172800 + j, random(), j FROM generate_series(1, 50) i, generate_series(1, 100) j;
SELECT zbxhist.create_partition('history_rest', '1970-01-03');
CALL zbxhist.run_maintenance('history_rest');
CALL zbxhist.pack('history_rest', '1970-01-03');
SELECT count(*) FROM ONLY history_rest;
SELECT pg_stat_force_next_flush();
BEGIN;
SELECT count(*) FROM zbxhist.range(NULL::history_rest, 7, 172800, 259199);
SELECT pg_stat_get_xact_numscans('zbxhist_packed.history_rest_p19700103_pkey'::regclass) > 0 AS by_index;
COMMIT;
-- times that items share are found in the page, too; of more than a page, by one search
CREATE TABLE history_shared (LIKE history INCLUDING ALL);
SELECT zbxhist.create_parent('history_shared', retention => '100 years', premake => 0);
SELECT zbxhist.create_partition('history_shared', d) FROM unnest('{1970-01-02,1970-01-03}'::date[]) d;
INSERT INTO history_shared
SELECT i, 86400 + j * 600, j, abs(hashint4(j)) FROM generate_series(1, 5) i, generate_series(0, 99) j
UNION ALL
SELECT i, 172800 + j * 60, hashint4(i * j), abs(hashint4(j)) FROM generate_series(1, 9) i, generate_series(0, 999) j;
CREATE TABLE plain_shared AS TABLE history_shared;
CALL zbxhist.pack('history_shared', '1970-01-02');
CALL zbxhist.pack('history_shared', '1970-01-03');
SELECT (SELECT count(*) FROM zbxhist_packed.history_shared_p19700102 WHERE nrows = 0) AS one_page,
       (SELECT count(*) FROM zbxhist_packed.history_shared_p19700103 WHERE nrows = 0) AS pages;
SELECT pg_stat_force_next_flush();
BEGIN;
SELECT count(*) FROM ((SELECT i.* FROM generate_series(1, 5) n, zbxhist.range(NULL::history_shared, n, 86400, 172799) i
                       EXCEPT ALL TABLE plain_shared)) x;
SELECT sum(ns::bigint) = (SELECT sum(ns::bigint) FROM plain_shared WHERE clock < 172800) AS same FROM history_shared WHERE clock < 172800;
SELECT pg_stat_get_xact_numscans('zbxhist_packed.history_shared_p19700102_pkey'::regclass) AS index_scans;
SELECT sum(ns::bigint) = (SELECT sum(ns::bigint) FROM plain_shared WHERE itemid = 3 AND clock >= 172800) AS same
  FROM zbxhist.range(NULL::history_shared, 3, 172800, 259199);
SELECT pg_stat_get_xact_numscans('zbxhist_packed.history_shared_p19700103_pkey'::regclass) AS index_scans;
COMMIT;

SET zbxhist.allow_packed_drop = on;
DROP SCHEMA one_page CASCADE;
