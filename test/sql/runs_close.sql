--
-- Hours whose values come as runs: made by the policy, written, read, and
-- packed when they are over.
--
LOAD 'zbxhist';
SET client_min_messages = error;
\set SHOW_CONTEXT never
SET extra_float_digits = 1;
SET intervalstyle = postgres;
CREATE TABLE history (
    itemid bigint NOT NULL, clock integer NOT NULL DEFAULT 0, value double precision NOT NULL DEFAULT 0,
    ns integer NOT NULL DEFAULT 0, PRIMARY KEY (itemid, clock, ns));

-- which tables can have them
CREATE TABLE nokey (itemid bigint NOT NULL, clock integer NOT NULL, value double precision, ns integer NOT NULL);
SELECT zbxhist.create_parent('nokey', '1 hour', pack_after => '1 hour', retention => '100 years', ingest => 'runs');
SELECT zbxhist.create_parent('history', retention => '100 years', pack_after => '1 day', ingest => 'runs');
SELECT zbxhist.create_parent('history', '1 hour', retention => '100 years', ingest => 'runs');
SELECT zbxhist.create_parent('history', '1 hour', retention => '100 years', pack_after => '1 hour', ingest => 'tree');
SELECT zbxhist.create_parent('history', '1 hour', retention => '100 years', pack_after => '1 hour', ingest => 'runs');
SELECT ingest FROM zbxhist.parents WHERE parent = 'history'::regclass;
SELECT substring(zbxhist_internal.describe_policy(c), 'new hours as runs') FROM zbxhist.parent_config c WHERE parent = 'history'::regclass;
SELECT kind, state, count(*) > 2 AS many FROM zbxhist.partitions
 WHERE parent = 'history'::regclass AND state <> 'open' AND to_clock - from_clock = 3600
 GROUP BY kind, state ORDER BY 2;

-- an hour that is over
SELECT zbxhist_internal.create_runs('history', 1000000800, 1000004400) AS day \gset
INSERT INTO history (itemid, clock, ns, value)
SELECT i % 100, 1000000800 + i, i * 7919 % 1000000007, i / 8.0 FROM generate_series(0, 3599) i;
INSERT INTO history (itemid, clock, ns, value) VALUES (1, 1000000800, 1, 1.5), (500, 1000004399, 1, 2.5), (7, 1000000801, 3, 3.5);
SELECT count(*) FROM ONLY history;
SELECT count(*) > 1, sum(nrows) FROM :day;
SELECT count(*), sum(value), min(clock), max(clock) FROM history WHERE clock BETWEEN 1000000800 AND 1000004399;
SELECT * FROM history WHERE itemid = 7 AND clock < 1000001200 ORDER BY clock;

-- keys are unique, in it and on the other side
\set VERBOSITY terse
INSERT INTO history VALUES (1, 1000000800, 9, 1);
INSERT INTO history VALUES (3, 1000000800, 9, 1), (3, 1000000800, 8, 1);
INSERT INTO history VALUES (1, 1000000800, 9, 1) ON CONFLICT DO NOTHING;
INSERT INTO history VALUES (2, 1000000800, 9, 2) RETURNING itemid;
INSERT INTO history VALUES (2, 1000000800, 9, 2);
INSERT INTO history VALUES (1, 1000000800, NULL, 2);
SET zbxhist.enable_routing = off;
INSERT INTO history VALUES (500, 1000004399, 9, 1);
RESET zbxhist.enable_routing;
\set VERBOSITY default

-- packed
CALL zbxhist.pack('history', '2001-09-09');
SELECT kind, state, rows FROM zbxhist.partitions WHERE parent = 'history'::regclass AND from_clock = 1000000800;
SELECT count(*), sum(value), min(clock), max(clock) FROM history WHERE clock BETWEEN 1000000800 AND 1000004399;
SELECT count(*) FROM ONLY history;
SELECT count(*) FROM zbxhist.verify('history') v WHERE v.day::text LIKE '%p2001%';
SELECT severity, code FROM zbxhist.check() WHERE code NOT IN ('not_preloaded', 'partial_dump') ORDER BY 1, 2;
\set VERBOSITY terse
INSERT INTO history VALUES (1, 1000000800, 9, 1);
CALL zbxhist.run_maintenance('history');
SELECT count(*) FROM ONLY history;

-- and back
SELECT zbxhist_internal.create_runs('history', 1000004400, 1000008000) AS day \gset
INSERT INTO history (itemid, clock, ns, value) SELECT i % 100, 1000004400 + i, 1, i FROM generate_series(0, 999) i;
CALL zbxhist.undo('history');
SELECT count(*), sum(value) FROM ONLY history;
SET zbxhist.allow_packed_drop = on;
DROP TABLE history, nokey;
SELECT zbxhist_internal.forget_dropped();
RESET session_preload_libraries;
