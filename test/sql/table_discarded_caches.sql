-- PostgreSQL may discard its caches whenever it takes a lock.  A server with assertions does
-- so here; on any other this is an ordinary test.  Every statement ends, and all rows are
-- those of a plain table.
\a \t
CREATE SCHEMA discarded_caches;
SET search_path = discarded_caches, zbxhist_partitions;
SET client_min_messages = warning;
CREATE TABLE history (
    itemid bigint NOT NULL, clock integer DEFAULT 0 NOT NULL, value double precision DEFAULT 0 NOT NULL,
    ns integer DEFAULT 0 NOT NULL, PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history', pack_after => NULL);
SELECT zbxhist.create_partition('history', day) FROM unnest('{1970-01-02, 1970-01-03}'::date[]) day;
INSERT INTO history
SELECT i, c, i + c / 8.0, hashint8(c) & 536870911 FROM generate_series(1, 8) i, generate_series(86400, 259199, 900) c;
CREATE TABLE plain (LIKE history INCLUDING ALL);
INSERT INTO plain TABLE history;
CALL zbxhist.pack('history', '1970-01-02');
CREATE VIEW difference AS
(TABLE history EXCEPT ALL TABLE plain) UNION ALL (TABLE plain EXCEPT ALL TABLE history);

SET statement_timeout = '15min';
DO $$
BEGIN
    PERFORM set_config('debug_discard_caches', '1', false);
EXCEPTION
    WHEN invalid_parameter_value THEN NULL;
END $$;

-- new rows: of the day, the partition and neither, by each way
INSERT INTO history VALUES (10, 86500, 1, 1), (10, 172900, 2, 2), (10, 999999999, 3, 3);
INSERT INTO history SELECT 11, c, 4, 4 FROM unnest('{86500, 172900}'::integer[]) c;
INSERT INTO history VALUES (10, 86500, 5, 9) ON CONFLICT DO NOTHING RETURNING itemid, clock;
INSERT INTO history VALUES (10, 172900, 6, 9) ON CONFLICT DO NOTHING RETURNING itemid, clock;
COPY history FROM stdin;
12	86500	7	1
12	172900	8	1
\.
SELECT zbxhist.add(NULL::history, '{12, 13}', '{86500, 172900}', '{1, 1}', '{9, 10}'::float8[], 'ignore');
INSERT INTO plain VALUES
    (10, 86500, 1, 1), (10, 172900, 2, 2), (10, 999999999, 3, 3), (11, 86500, 4, 4), (11, 172900, 4, 4),
    (10, 86500, 5, 9), (10, 172900, 6, 9), (12, 86500, 7, 1), (12, 172900, 8, 1), (13, 172900, 10, 1);
-- keys that are there
\set VERBOSITY terse
INSERT INTO history SELECT * FROM plain WHERE itemid = 1 AND clock = 86400;
INSERT INTO history SELECT * FROM plain WHERE itemid = 1 AND clock = 172800;
INSERT INTO history SELECT * FROM plain WHERE itemid = 1 AND clock IN (86400, 172800) ON CONFLICT DO NOTHING RETURNING *;
TABLE difference;

-- each way to read
SELECT itemid, count(*), min(value), max(value) FROM history WHERE itemid < 3 GROUP BY itemid ORDER BY itemid;
SELECT clock, value FROM history WHERE itemid = 3 AND clock > 86400 ORDER BY clock DESC, ns DESC LIMIT 2;
SELECT DISTINCT ON (itemid) itemid, clock FROM history WHERE itemid IN (1, 2, 11) ORDER BY itemid, clock DESC;
SELECT count(*), sum(value) FROM history WHERE itemid = 3 AND clock > 100000;
SELECT count(*) FROM history WHERE value < 20000;
SELECT count(*) FROM zbxhist.range(NULL::history, 3, 86400, 259200);
SELECT (zbxhist.range(NULL::history, 3, 86400, 259200, 'desc')).clock LIMIT 2;
SELECT count, min, max, first_clock, last_clock FROM zbxhist.statistics('history', 3, 86400, 259200);
SELECT itemid, clock FROM zbxhist.last_values(NULL::history, '{1, 2, 11}', 1);

-- changes, and moves
BEGIN;
UPDATE history SET value = value + 1 WHERE itemid = 2;
UPDATE history SET value = value + 1 WHERE itemid = 2 AND clock = 100800;
UPDATE history SET value = value - 1 WHERE itemid = 2 AND clock = 100800;
COMMIT;
UPDATE plain SET value = value + 1 WHERE itemid = 2;
DELETE FROM history WHERE itemid = 5 AND clock < 200000;
SELECT zbxhist.delete_values('history', 6, 200000, 0, 'less');
DELETE FROM plain WHERE itemid IN (5, 6) AND clock < 200000;
TABLE difference;
CALL zbxhist.unpack('history', '1970-01-02');
TABLE difference;
RESET debug_discard_caches;

SET zbxhist.allow_packed_drop = on;
DROP SCHEMA discarded_caches CASCADE;
