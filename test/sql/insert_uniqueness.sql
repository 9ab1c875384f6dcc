-- A key is stored once, whether its row is in the parent or in a partition.  RETURNING and ON
-- CONFLICT are right, or raise an error.
\a \t
LOAD 'zbxhist';
CREATE TABLE history (
    itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL,
    ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
-- there before the partition
INSERT INTO history VALUES (1, 86400, 1, 1);
SELECT zbxhist.create_parent('history');
SELECT zbxhist.create_partition('history', '1970-01-02');
CREATE VIEW stored AS SELECT tableoid::regclass AS stored_in, * FROM history;

\set VERBOSITY sqlstate
INSERT INTO history VALUES (2, 86400, 1, 1), (1, 86400, 1, 1);
INSERT INTO history VALUES (2, 86400, 1, 1), (2, 86400, 1, 1);
COPY history FROM stdin;
3	86400	1	1
1	86400	1	1
\.
SET zbxhist.enable_batching = off;
INSERT INTO history VALUES (2, 86400, 1, 1), (1, 86400, 1, 1);
RESET zbxhist.enable_batching;
\set VERBOSITY default
SELECT * FROM stored ORDER BY itemid;

-- RETURNING has the row, which stays in the parent until maintenance moves it
INSERT INTO history VALUES (4, 86400, 1, 1), (5, 86400, 1, 1) RETURNING itemid, value;
SELECT * FROM stored ORDER BY itemid;
INSERT INTO history VALUES (6, 86400, 1, 1);
-- ... and is checked against the partition
INSERT INTO history VALUES (6, 86400, 1, 1) RETURNING *;
INSERT INTO history VALUES (7, 86400, 1, 1), (7, 86400, 1, 1) RETURNING *;

-- ON CONFLICT DO NOTHING: keys in the parent, in the partition, in neither, twice
INSERT INTO history VALUES (4, 86400, 2, 1), (6, 86400, 2, 1), (8, 86400, 2, 1), (8, 86400, 3, 1)
    ON CONFLICT DO NOTHING;
INSERT INTO history VALUES (6, 86400, 2, 1), (9, 86400, 2, 1)
    ON CONFLICT (itemid, clock, ns) DO NOTHING RETURNING itemid;
SELECT * FROM stored ORDER BY itemid;
-- ON CONFLICT DO UPDATE
INSERT INTO history VALUES (4, 86400, 2, 1), (10, 86400, 2, 1)
    ON CONFLICT (itemid, clock, ns) DO UPDATE SET value = excluded.value;
INSERT INTO history VALUES (6, 86400, 2, 1)
    ON CONFLICT (itemid, clock, ns) DO UPDATE SET value = excluded.value;
SELECT * FROM stored ORDER BY itemid;

-- without the library's routing the row stays, and is checked all the same
SET zbxhist.enable_routing = off;
INSERT INTO history VALUES (6, 86400, 1, 1);
RESET zbxhist.enable_routing;

-- moving: the same row twice is one row, another value for the key stays
INSERT INTO history_p19700102 VALUES (4, 86400, 2, 1), (5, 86400, 99, 1);
SELECT * FROM zbxhist_internal.move_rows('history', 'history_p19700102', 86400, 172800, NULL, 2);
SELECT * FROM zbxhist_internal.move_rows('history', 'history_p19700102', 86400, 172800, 5, 100);
SELECT * FROM zbxhist_internal.move_rows('history', 'history_p19700102', 86400, 172800, NULL, 1);
SELECT * FROM stored ORDER BY itemid, stored_in::text;
-- and back
SELECT * FROM zbxhist_internal.move_rows('history_p19700102', 'history', 86400, 172800, NULL, 1000);
SELECT * FROM stored ORDER BY itemid, stored_in::text;

-- not to a partition that has other keys
ALTER TABLE history DROP CONSTRAINT history_pkey, ADD UNIQUE (clock, ns, itemid);
DELETE FROM history WHERE itemid = 5;
SELECT * FROM zbxhist_internal.move_rows('history', 'history_p19700102', 86400, 172800, NULL, 3);
-- without an index to walk in
ALTER TABLE history_p19700102 DROP CONSTRAINT history_p19700102_pkey, ADD UNIQUE (clock, ns, itemid);
SELECT * FROM zbxhist_internal.move_rows('history', 'history_p19700102', 86400, 172800, NULL, 3);
SELECT * FROM zbxhist_internal.move_rows('history', 'history_p19700102', 86400, 172800, NULL, 1000);
SELECT * FROM stored ORDER BY itemid, stored_in::text;

-- what is not a table to move rows in
SELECT * FROM zbxhist_internal.move_rows('stored', 'history', 0, 1, NULL, 1);
SELECT * FROM zbxhist_internal.move_rows('pg_class', 'history', 0, 1, NULL, 1);
SELECT * FROM zbxhist_internal.move_rows('history', 'history_p19700102', NULL, 1, NULL, 1);
SET client_min_messages = warning;
DROP TABLE history CASCADE;
RESET client_min_messages;

-- a row of the parent cannot get the clock of a partition, where its key would not be looked for
CREATE TABLE moved_to (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL,
    ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
SELECT extract(epoch FROM now())::integer AS now \gset
INSERT INTO moved_to SELECT i, :now - 30 * 86400, i, 0 FROM generate_series(1, 10) i;
SELECT zbxhist.create_parent('moved_to', '1 day', '100 days');
UPDATE moved_to SET clock = :now WHERE itemid = 3;
UPDATE ONLY moved_to SET clock = clock + 30 * 86400 WHERE itemid = 4;
MERGE INTO moved_to m USING (VALUES (5)) v(i) ON m.itemid = v.i WHEN MATCHED THEN UPDATE SET ns = 1;
INSERT INTO moved_to VALUES (6, :now - 30 * 86400, 0, 0) ON CONFLICT (itemid, clock, ns) DO UPDATE SET itemid = 60;
WITH gone AS (DELETE FROM moved_to WHERE itemid = 7 RETURNING *)
INSERT INTO moved_to SELECT itemid, :now, value, ns FROM gone;
SELECT itemid, clock = :now AS is_new, value, ns FROM moved_to WHERE itemid IN (6, 7);
SELECT count(*) FROM ONLY moved_to;
SET client_min_messages = warning;
DROP TABLE moved_to CASCADE;
RESET client_min_messages;
