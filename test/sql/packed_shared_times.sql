-- Items with the same clock and ns, such as those that depend on one master item, share them
-- in a packed day.  Values stay the same, a change concerns only its item, and damage of
-- shared times is reported for each item concerned.
\a \t
\set VERBOSITY terse
\set SHOW_CONTEXT never
SET timezone = 'UTC';
SET client_min_messages = warning;
CREATE SCHEMA shared_times;
SET search_path = shared_times, public, zbxhist_partitions;
-- pseudo-random numbers from 0 to n - 1
CREATE FUNCTION pick(text, n bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN (('x' || substr(md5($1), 1, 15))::bit(60)::bigint) % n;
CREATE TABLE history (
    itemid bigint NOT NULL, clock integer DEFAULT 0 NOT NULL, value double precision DEFAULT 0 NOT NULL,
    ns integer DEFAULT 0 NOT NULL, PRIMARY KEY (itemid, clock, ns)) WITH (autovacuum_enabled = off);
SELECT zbxhist.create_parent('history', retention => '100 years', premake => 0);
SELECT zbxhist.alter_parent('history', never_pack => true);
SELECT zbxhist.create_partition('history', d::date)
  FROM generate_series('1970-01-02'::timestamp, '1970-01-06', '1 day') d;
-- master: items 1 to 30 have one for ten, 31 to 35 none, 36 to 38 the constant ns of a sender; 39
-- and 40 have few values of the first one's; 41 misses one in five values of the second one's, 42
-- has but its last ones; the third one has two values a second
CREATE FUNCTION rows_of(day integer, items integer, n integer) RETURNS SETOF history LANGUAGE sql IMMUTABLE AS $$
    SELECT item, day * 86400 + master % 50 + CASE WHEN master = 2 THEN i / 2 * 2 ELSE i END * (86400 / n - 1),
           pick(day || ' ' || item || ' ' || i, 1000000) / 10000.0,
           CASE WHEN item BETWEEN 36 AND 38 THEN 0 ELSE pick(day || ' ' || master || ' ' || i, 500000000) + i % 2 * 500000000 END
      FROM generate_series(1, items) item, generate_series(0, n - 1) i,
           LATERAL (SELECT CASE WHEN item <= 30 THEN (item - 1) / 10 WHEN item > 40 THEN 1 WHEN item > 38 THEN 0 ELSE 100 + item END AS master) m
     WHERE (item NOT BETWEEN 39 AND 40 OR i < 20) AND (item <> 41 OR i % 5 <> 3) AND (item <> 42 OR i >= n / 2)
$$;
INSERT INTO history SELECT r.* FROM generate_series(1, 2) day, rows_of(day, 42, 200) r;
-- a vector of more than a page, items of many rows
INSERT INTO history SELECT * FROM rows_of(3, 12, 2880);
CREATE TABLE plain AS SELECT * FROM history;
CREATE VIEW difference AS
    (SELECT 'lost', * FROM plain EXCEPT ALL SELECT 'lost', * FROM history)
    UNION ALL
    (SELECT 'new', * FROM history EXCEPT ALL SELECT 'new', * FROM plain);
-- rows of the day's table with values, and with times; formats and kinds of either
CREATE FUNCTION parts(day text, OUT formats text, OUT times boolean, OUT bytes_per_value numeric)
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT string_agg(DISTINCT get_byte(payload, 2) || CASE get_byte(payload, 3) WHEN 0 THEN '' values'' WHEN 1 THEN '' times'' END, '', ''),'
                   ' bool_or(nrows = 0), round(sum(length(payload))::numeric / sum(nrows), 1) FROM zbxhist_packed.%I', 'history_p' || day)
       INTO formats, times, bytes_per_value;
END
$$;

-- ---- packing ----

CALL zbxhist.pack('history', '1970-01-02');
CALL zbxhist.pack('history', '1970-01-03');
CALL zbxhist.pack('history', '1970-01-04');
SELECT * FROM difference;
SELECT formats, times, bytes_per_value BETWEEN 3.5 AND 4.6 AS small FROM parts('19700102');
SELECT formats, times, bytes_per_value BETWEEN 3.5 AND 4.6 AS small FROM parts('19700103');
SELECT formats, times, bytes_per_value BETWEEN 3.0 AND 4.0 AS small FROM parts('19700104');
-- the rows with times are not taken for rows of items
SELECT count(*) > 1 AS several, sum(nrows), bool_and(first_clock > 2000000000 AND last_clock < 0 AND first_itemid = 9223372028264841216 + number) AS is_elsewhere
  FROM (SELECT *, coalesce(lag(last_itemid - 9223372028264841216) OVER (ORDER BY first_itemid, first_clock) + CASE WHEN first_clock = 2147418112 THEN 1 ELSE 0 END, 1) AS number
          FROM zbxhist_packed.history_p19700104 WHERE nrows = 0) t;
SELECT count(*) FROM zbxhist.verify('history');

-- ---- reading ----

SELECT count(*), sum(clock::bigint), sum(ns::bigint), abs(sum(value) - (SELECT sum(value) FROM plain)) < 1e-6 AS same FROM history;
-- either column alone, ranges that begin and end anywhere, both directions, other items between
SELECT (SELECT md5(string_agg(h.clock::text, ' ' ORDER BY h.itemid, h.clock)) FROM history h WHERE h.itemid IN (3, 12, 25, 41, 42, 39)) =
       (SELECT md5(string_agg(p.clock::text, ' ' ORDER BY p.itemid, p.clock)) FROM plain p WHERE p.itemid IN (3, 12, 25, 41, 42, 39)) AS clocks,
       (SELECT md5(string_agg(h.ns::text, ' ' ORDER BY h.itemid, h.ns)) FROM history h WHERE h.itemid IN (3, 12, 25, 41, 42, 39)) =
       (SELECT md5(string_agg(p.ns::text, ' ' ORDER BY p.itemid, p.ns)) FROM plain p WHERE p.itemid IN (3, 12, 25, 41, 42, 39)) AS ns;
SELECT count(*) AS wrong
  FROM generate_series(1, 42) item, generate_series(86400, 86400 * 4, 7211) f, (VALUES (0), (433), (20000), (200000)) v (seconds),
       LATERAL (SELECT count(*) AS n, sum(h.ns::bigint) AS ns, sum(h.value) AS value, max(h.clock) AS clock FROM history h WHERE h.itemid = item AND h.clock BETWEEN f AND f + seconds) a,
       LATERAL (SELECT count(*) AS n, sum(p.ns::bigint) AS ns, sum(p.value) AS value, max(p.clock) AS clock FROM plain p WHERE p.itemid = item AND p.clock BETWEEN f AND f + seconds) b
 WHERE item IN (1, 15, 30, 33, 37, 40, 41, 42) AND (a.n, a.ns, a.clock) IS DISTINCT FROM (b.n, b.ns, b.clock);
SELECT clock, ns FROM history WHERE itemid = 5 AND clock < 3 * 86400 ORDER BY clock DESC, ns DESC LIMIT 2;
SELECT clock, ns FROM plain WHERE itemid = 5 AND clock < 3 * 86400 ORDER BY clock DESC, ns DESC LIMIT 2;
SELECT count(*) FROM zbxhist.range(NULL::history, 41, 86400, 3 * 86400 - 1);

-- ---- changes concern the item alone ----

DELETE FROM history WHERE itemid = 4 AND clock % 3 = 0 AND clock < 2 * 86400;
DELETE FROM plain WHERE itemid = 4 AND clock % 3 = 0 AND clock < 2 * 86400;
UPDATE history SET value = -value WHERE itemid = 7 AND clock < 90000;
UPDATE plain SET value = -value WHERE itemid = 7 AND clock < 90000;
DELETE FROM history WHERE itemid = 1 AND clock < 2 * 86400;
DELETE FROM plain WHERE itemid = 1 AND clock < 2 * 86400;
-- late values: of items that share their times, new ones, before and after all, and
-- one that is there already
WITH late AS (
    SELECT * FROM (VALUES (8, 100001, 0.5, 77), (0, 100001, 1.5, 78), (1000, 100001, 2.5, 79), (9223372028264841217, 100001, 3.5, 80),
                          (9223372036854775807, 100001, 4.5, 81)) v (itemid, clock, value, ns))
INSERT INTO history SELECT * FROM late;
INSERT INTO plain VALUES (8, 100001, 0.5, 77), (0, 100001, 1.5, 78), (1000, 100001, 2.5, 79), (9223372028264841217, 100001, 3.5, 80), (9223372036854775807, 100001, 4.5, 81);
INSERT INTO history SELECT * FROM plain WHERE itemid = 9 AND clock < 90000 LIMIT 1;
CALL zbxhist.run_maintenance('history');
SELECT count(*) AS late FROM ONLY history;
SELECT * FROM difference;
SELECT formats, times FROM parts('19700102');
SELECT count(*) FROM zbxhist.verify('history');
SELECT itemid FROM history WHERE itemid > 999 ORDER BY itemid;

-- ---- days written anew ----

CALL zbxhist.repack('history', '1970-01-03');
SELECT formats, times, bytes_per_value BETWEEN 3.5 AND 4.6 AS small FROM parts('19700103');
CALL zbxhist.repack('history', '1970-01-02');
CALL zbxhist.repack('history', '1970-01-04');
SELECT * FROM difference;
SELECT formats, times, bytes_per_value BETWEEN 3.0 AND 4.0 AS small FROM parts('19700104');
SELECT count(*) FROM zbxhist.verify('history');
CALL zbxhist.unpack('history', '1970-01-04');
SELECT * FROM difference;
CALL zbxhist.pack('history', '1970-01-04');

-- ---- damage ----

-- of a vector: the items are those of one master, the others can be read
BEGIN;
UPDATE zbxhist_packed.history_p19700103 SET payload = set_byte(payload, length(payload) - 5, get_byte(payload, length(payload) - 5) # 255)
 WHERE nrows = 0 AND first_itemid = (SELECT max(first_itemid) FROM zbxhist_packed.history_p19700103 WHERE nrows = 0);
SELECT itemid, regexp_replace(problem, 'page \d+', 'page N') AS problem FROM zbxhist.verify('history') ORDER BY itemid, clock, 2;
SAVEPOINT s;
SELECT sum(ns::bigint) FROM history WHERE itemid = 25 AND clock BETWEEN 2 * 86400 AND 3 * 86400 - 1;
ROLLBACK TO s;
SELECT count(value), sum(value) > 0 AS has_values FROM history WHERE itemid = 35 AND clock BETWEEN 2 * 86400 AND 3 * 86400 - 1;
ROLLBACK;
-- a vector is not there; another one is in its place; one that is none
BEGIN;
DELETE FROM zbxhist_packed.history_p19700103 WHERE nrows = 0;
SELECT count(DISTINCT itemid) AS items, min(itemid), max(itemid), max(problem) FROM zbxhist.verify('history');
SAVEPOINT s;
SELECT ns FROM history WHERE itemid = 2 AND clock BETWEEN 2 * 86400 AND 3 * 86400 - 1;
ROLLBACK TO s;
ROLLBACK;
BEGIN;
UPDATE zbxhist_packed.history_p19700103 d SET payload = o.payload
  FROM (SELECT payload FROM zbxhist_packed.history_p19700104 WHERE nrows = 0 ORDER BY first_itemid, first_clock LIMIT 1) o WHERE d.nrows = 0;
SELECT count(DISTINCT itemid) > 30 AS items FROM zbxhist.verify('history');
SAVEPOINT s;
SELECT ns FROM history WHERE itemid = 2 AND clock BETWEEN 2 * 86400 AND 3 * 86400 - 1;
ROLLBACK TO s;
UPDATE zbxhist_packed.history_p19700103 d SET payload = o.payload
  FROM (SELECT payload FROM zbxhist_packed.history_p19700103 WHERE nrows > 0 LIMIT 1) o WHERE d.nrows = 0;
SAVEPOINT s;
SELECT ns FROM history WHERE itemid = 2 AND clock BETWEEN 2 * 86400 AND 3 * 86400 - 1;
ROLLBACK TO s;
-- values as times, times as values
UPDATE zbxhist_packed.history_p19700103 SET nrows = 0 WHERE first_itemid = 1 OR first_itemid = 0;
SELECT count(*) > 0 AS told FROM zbxhist.verify('history') WHERE problem LIKE 'shared times in page %: damaged directory';
ROLLBACK;
BEGIN;
UPDATE zbxhist_packed.history_p19700103 SET nrows = 1 WHERE nrows = 0;
SELECT count(*) > 0 AS told FROM zbxhist.verify('history') WHERE itemid > 1000000;
ROLLBACK;
-- what can be read is kept
UPDATE zbxhist_packed.history_p19700103 SET payload = set_byte(payload, length(payload) - 5, get_byte(payload, length(payload) - 5) # 255)
 WHERE nrows = 0 AND first_itemid = (SELECT max(first_itemid) FROM zbxhist_packed.history_p19700103 WHERE nrows = 0);
SET client_min_messages = error;
CALL zbxhist.salvage('zbxhist_packed.history_p19700103');
RESET client_min_messages;
SELECT first_itemid, last_itemid, sum(rows), regexp_replace(problem, 'page \d+', 'page N') AS problem, bool_or(bytes IS NOT NULL) AS has_bytes
  FROM zbxhist.lost_values WHERE parent = 'history'::regclass GROUP BY 1, 2, 4 ORDER BY 1, 2;
SELECT count(DISTINCT itemid) AS items, count(*) AS rows FROM difference;

SET client_min_messages = warning;
SET zbxhist.allow_packed_drop = on;
DROP SCHEMA shared_times CASCADE;
