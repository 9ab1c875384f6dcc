-- A day is packed only if its range overlaps with no other partition or packed day.
\a \t
LOAD 'zbxhist';
SET zbxhist.allow_packed_drop = on;
SET client_min_messages = warning;
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value bigint NOT NULL, ns integer NOT NULL,
    PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history');
CREATE FUNCTION overlaps() RETURNS bigint LANGUAGE sql AS $$
    SELECT count(*) FROM zbxhist_internal.list_ranges('history') a
      JOIN zbxhist_internal.list_ranges('history') b
        ON a.from_clock < b.to_clock AND b.from_clock < a.to_clock AND a.relation::oid < b.relation::oid
$$;
CREATE VIEW old AS SELECT partition, kind, from_time AT TIME ZONE 'UTC' AS from_time, to_time AT TIME ZONE 'UTC' AS to_time
    FROM zbxhist.partitions WHERE from_clock < 10000000 ORDER BY from_clock, kind;

-- ---- whatever the interval is and has been ----

SELECT zbxhist.create_partition('history', d::date) FROM generate_series(timestamp '1970-01-02', '1970-01-05', '1 day') d;
INSERT INTO history SELECT i, c, c, 0 FROM generate_series(1, 2) i, generate_series(86400, 431999, 21600) c;
CALL zbxhist.pack('history', '1970-01-02');
CALL zbxhist.pack('history', '1970-01-04');
SELECT zbxhist.alter_parent('history', partition_interval => '1 month');
SELECT zbxhist.create_partition('history', '1970-01-20');
SELECT * FROM old;
CALL zbxhist.unpack('history', '1970-01-02');
SELECT zbxhist.create_partition('history', '1970-01-02');
CALL zbxhist.pack('history', '1970-01-20');
CALL zbxhist.pack('history', '1970-01-02');
SELECT zbxhist.alter_parent('history', partition_interval => '6 hours');
SELECT zbxhist.create_partition('history', '1970-01-04');
SELECT zbxhist.create_partition('history', '1970-01-20');
CALL zbxhist.unpack('history', '1970-01-20');
CALL zbxhist.unpack('history', '1970-01-04');
SELECT zbxhist.create_partition('history', '1970-01-25');
CALL zbxhist.pack('history', '1970-01-04');
CALL zbxhist.pack('history', '1970-01-20');
CALL zbxhist.run_maintenance('history');
SELECT * FROM old;
SELECT overlaps();
SELECT count(*), sum(clock) FROM history;

-- ---- what somebody has made by hand ----

CREATE TABLE day_by_hand (PRIMARY KEY (itemid, clock, ns), CONSTRAINT zbxhist_clock CHECK (clock >= 190000 AND clock < 250000))
    INHERITS (history);
INSERT INTO day_by_hand VALUES (7, 194400, 7, 0);
CREATE TABLE more_by_hand (PRIMARY KEY (itemid, clock, ns), CONSTRAINT zbxhist_clock CHECK (clock >= 90000 AND clock < 100000))
    INHERITS (history);
INSERT INTO more_by_hand VALUES (7, 93600, 7, 0);
\set SHOW_CONTEXT never
CALL zbxhist.pack('history', '1970-01-03');
\echo :LAST_ERROR_SQLSTATE
SELECT zbxhist.alter_parent('history', pack_after => '1 day');
SET client_min_messages = error;
CALL zbxhist.run_maintenance('history');
SET client_min_messages = warning;
SELECT relation, sqlstate, message FROM zbxhist.maintenance_log WHERE action = 'pack' AND sqlstate IS NOT NULL ORDER BY relation;
SELECT severity, object, regexp_replace(message, 'about \d+', 'about N') AS message, hint FROM zbxhist.check() WHERE code = 'overlap' ORDER BY object;

-- rows of both can be read, changed and deleted, and keys are stored once
INSERT INTO history VALUES (7, 93600, 8, 0);
INSERT INTO history VALUES (7, 194400, 8, 0);
INSERT INTO history VALUES (1, 194400, 8, 0);
UPDATE history SET value = -1 WHERE clock IN (93600, 194400) AND itemid = 7;
UPDATE history SET value = -2 WHERE clock = 108000 AND itemid = 1;
SELECT * FROM history WHERE value < 0 ORDER BY itemid, clock;
DELETE FROM history WHERE clock = 108000 AND itemid = 2;
SELECT count(*) FROM history;

-- the hints mend it
SELECT hint FROM zbxhist.check() WHERE code = 'overlap' ORDER BY object \gexec
INSERT INTO history SELECT * FROM day_by_hand ON CONFLICT DO NOTHING;
INSERT INTO history SELECT * FROM more_by_hand ON CONFLICT DO NOTHING;
SELECT count(*), sum(value) FROM history;
CALL zbxhist.run_maintenance('history');
SELECT * FROM old;
SELECT code, object FROM zbxhist.check() WHERE code IN ('overlap', 'failed') ORDER BY 1, 2;
SELECT count(*), sum(value) FROM history;

-- ---- what an older version has packed ----

SELECT zbxhist.alter_parent('history', never_pack => true);
UPDATE zbxhist.packed_day d SET to_clock = 200000 WHERE from_clock = 86400;
SELECT object, message, hint FROM zbxhist.check() WHERE code = 'overlap' ORDER BY object, message;
CALL zbxhist.unpack('history', '1970-01-03');
SELECT hint FROM zbxhist.check() WHERE code = 'overlap' ORDER BY object \gexec
INSERT INTO history SELECT * FROM history_p19700103 ON CONFLICT DO NOTHING;
SELECT code FROM zbxhist.check() WHERE code = 'overlap';
SELECT count(*), sum(value) FROM history;
DROP TABLE history, day_by_hand, more_by_hand, history_p19700103 CASCADE;
DROP VIEW IF EXISTS old;
DROP FUNCTION overlaps();
