-- Readable rows of a day are inserted in attempts: many at once and, if that fails, one by
-- one.  A later attempt uses nothing that a failed one has left half prepared, and no pin of a
-- failed one is kept.
\a \t
CREATE SCHEMA salvage_attempts;
SET search_path = salvage_attempts, zbxhist_partitions;
SET client_min_messages = warning;
-- constraints are simplified, which calls this, when the first row is checked
CREATE SEQUENCE calls;
CREATE FUNCTION least_value(fails boolean) RETURNS double precision LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF fails AND nextval('salvage_attempts.calls') = 1 THEN
        RAISE numeric_value_out_of_range;
    END IF;
    RETURN 0;
END $$;
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
-- this one pins pages until its insertions end
CREATE INDEX history_clock ON history USING brin (clock);
SELECT zbxhist.create_parent('history', pack_after => NULL);
SELECT zbxhist.create_partition('history', '1970-01-02');
INSERT INTO history
SELECT i, 86400 + s * 60, CASE WHEN i = 7 AND s % 100 = 5 THEN -1 ELSE s END, 0
  FROM generate_series(1, 10) i, generate_series(0, 1439) s;
CREATE TABLE plain AS TABLE history;
CALL zbxhist.pack('history', '1970-01-02');
ALTER TABLE history ADD CONSTRAINT a CHECK (value >= least_value(true)) NOT VALID;
ALTER TABLE history ADD CONSTRAINT b CHECK (value >= least_value(false)) NOT VALID;
SELECT setval('calls', 1, false);
SET client_min_messages = error;
CALL zbxhist.salvage('zbxhist_packed.history_p19700102');
SET client_min_messages = warning;
SELECT last_value > 1 AS has_failed_once FROM calls;
SELECT first_itemid, last_itemid, problem, count(*), sum(rows) FROM zbxhist.lost_values WHERE parent = 'history'::regclass GROUP BY 1, 2, 3;
SELECT count(*), min(value) FROM history;
TABLE history EXCEPT TABLE plain;

-- what failed attempts had is given back at once: a refused row sees its own alone,
-- and what salvage itself has
CREATE SEQUENCE most;
CREATE FUNCTION is_refused() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM setval('salvage_attempts.most', greatest(
        (SELECT count(*) FROM pg_backend_memory_contexts WHERE name = 'zbxhist insert target'),
        (SELECT last_value FROM salvage_attempts.most)));
    RETURN false;
END $$;
CREATE TABLE counted (LIKE history INCLUDING INDEXES);
SELECT zbxhist.create_parent('counted', pack_after => NULL);
SELECT zbxhist.create_partition('counted', '1970-01-02');
INSERT INTO counted SELECT 1, 86400 + s * 60, CASE WHEN s % 20 = 5 THEN -1 ELSE s END, 0 FROM generate_series(0, 1439) s;
CALL zbxhist.pack('counted', '1970-01-02');
ALTER TABLE counted ADD CONSTRAINT refused CHECK (value >= 0 OR is_refused()) NOT VALID;
SET client_min_messages = error;
CALL zbxhist.salvage('zbxhist_packed.counted_p19700102');
SET client_min_messages = warning;
SELECT sum(rows) AS refused, (SELECT last_value BETWEEN 1 AND 2 FROM most) AS given_back FROM zbxhist.lost_values WHERE parent = 'counted'::regclass;
SELECT count(*), min(value) FROM counted;

SET zbxhist.allow_packed_drop = on;
DROP SCHEMA salvage_attempts CASCADE;
