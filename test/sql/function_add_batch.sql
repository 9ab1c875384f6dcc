-- The rows of one call of add() are written together, each in the place where it belongs at
-- that time, as those of one INSERT.
\a \t
SET client_min_messages = warning;
SET timezone = 'UTC';
CREATE FUNCTION wal_records(statement text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, WAL, FORMAT json) ' || statement INTO plan;
    RETURN plan->0->'Plan'->>'WAL Records';
END $$;
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL, ns integer NOT NULL);
SELECT zbxhist.create_parent('history', retention => '100 years', premake => 0);
SELECT zbxhist.create_partition('history', d) FROM unnest('{1970-01-02,1970-01-03}'::date[]) d;

-- a record of the write-ahead log holds many rows, in the first call of a
-- session, after another statement on the table, and after a change of it
\c -
SET client_min_messages = warning;
SET timezone = 'UTC';
LOAD 'zbxhist';
\set call 'SELECT zbxhist.add(NULL::history, array_agg(i), array_agg(86400 + i % 2 * 86400), array_agg(i), array_agg(i::float8)) FROM generate_series(1, 500) i'
SELECT wal_records(:'call') < 50;
SELECT wal_records(:'call') < 50;
INSERT INTO history VALUES (0, 86400, 0, 0);
SELECT wal_records(:'call') < 50;
ALTER TABLE history_p19700102 SET (fillfactor = 90);
SELECT wal_records(:'call') < 50;
SET zbxhist.enable_batching = off;
SELECT wal_records(:'call') < 50;
RESET zbxhist.enable_batching;
-- some stay in the parent
SELECT zbxhist.add(NULL::history, array_agg(i), array_agg(i % 2 * 86400), array_agg(i), array_agg(i::float8)) FROM generate_series(1, 500) i;
SELECT tableoid::regclass AS stored_in, count(*), sum(ns) FROM history GROUP BY 1 ORDER BY 1;
TRUNCATE history;

-- a partition that gets another range while rows of the same call wait for it
CREATE FUNCTION narrow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    ALTER TABLE history_p19700103 DROP CONSTRAINT zbxhist_clock, ADD CONSTRAINT zbxhist_clock CHECK (clock >= 200000 AND clock < 259200);
    RETURN NEW;
END $$;
CREATE TRIGGER narrow BEFORE INSERT ON history_p19700102 FOR EACH ROW EXECUTE FUNCTION narrow();
SELECT zbxhist.add(NULL::history, '{7,8,9}', '{86400,172800,200000}', '{0,0,0}', '{1,1,1}'::float8[]);
SELECT tableoid::regclass AS stored_in, itemid FROM history ORDER BY itemid;
DROP TRIGGER narrow ON history_p19700102;
TRUNCATE history;

-- rows stay in the parent where those of an INSERT would
SET session_replication_role = replica;
INSERT INTO history VALUES (1, 86400, 1, 0);
SELECT zbxhist.add(NULL::history, '{2}', '{86400}', '{0}', '{1}'::float8[]);
RESET session_replication_role;
SET zbxhist.enable_routing = off;
INSERT INTO history VALUES (3, 86400, 1, 0);
SELECT zbxhist.add(NULL::history, '{4}', '{86400}', '{0}', '{1}'::float8[]);
RESET zbxhist.enable_routing;
SELECT tableoid::regclass AS stored_in, itemid FROM history ORDER BY itemid;

DROP TABLE history CASCADE;
DROP FUNCTION wal_records, narrow;
