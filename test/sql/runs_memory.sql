--
-- The keys of runs that a session remembers: how much memory they take, and that
-- they are of the runs that are there.
--
\set SHOW_CONTEXT never
\set VERBOSITY terse
LOAD 'zbxhist';
SET client_min_messages = warning;
SET timezone = 'UTC';
SET zbxhist.allow_packed_drop = on;
CREATE TABLE history (
    itemid bigint NOT NULL, clock integer DEFAULT 0 NOT NULL, value double precision DEFAULT 0 NOT NULL,
    ns integer DEFAULT 0 NOT NULL, PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history', '1 hour', retention => '100 years', pack_after => '1 hour', ingest => 'runs');
SELECT count(zbxhist_internal.create_runs('history', 864000 + 3600 * hour, 867600 + 3600 * hour))
  FROM generate_series(0, 12) hour;
-- there is a bound to all tables together
INSERT INTO history
SELECT i, 864000 + 3600 * hour + i % 3600, 0, 0 FROM generate_series(0, 11) hour, generate_series(1, 30000) i;
SELECT count(*) FROM ONLY history;
SELECT sum(total_bytes) BETWEEN 1 AND 12 * 1024 * 1024 AS is_bounded
  FROM pg_backend_memory_contexts WHERE name = 'zbxhist keys of runs';
-- rows of one transaction that a VACUUM FULL moves to each other's place
SELECT day AS runs FROM zbxhist.packed_day WHERE from_clock = 864000 + 12 * 3600 \gset
BEGIN;
INSERT INTO history SELECT i, 907200, 0, 0 FROM generate_series(1, 9) i;
INSERT INTO history SELECT i, 907201, 0, 0 FROM generate_series(1, 9) i;
COMMIT;
INSERT INTO history VALUES (1, 907201, 0, 0);
DELETE FROM :runs WHERE first_clock = 907200;
VACUUM FULL :runs;
INSERT INTO history VALUES (1, 907201, 0, 0);
INSERT INTO history VALUES (1, 907200, 0, 0);
INSERT INTO history VALUES (1, 907200, 0, 0);
-- ... and a TRUNCATE
BEGIN;
INSERT INTO history VALUES (2, 907202, 0, 0);
TRUNCATE history;
INSERT INTO history VALUES (3, 907203, 0, 0);
INSERT INTO history VALUES (2, 907202, 0, 0);
SAVEPOINT s;
INSERT INTO history VALUES (3, 907203, 0, 0);
ROLLBACK TO s;
COMMIT;
SELECT count(*) FROM history;
DROP TABLE history CASCADE;
SELECT zbxhist_internal.forget_dropped();
RESET client_min_messages;
