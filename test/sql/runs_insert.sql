--
-- What somebody does to a table of runs, to its parent, or to a role, and damage:
-- no INSERT fails by it that would not fail in a plain table.
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
CREATE FUNCTION runs(hour integer) RETURNS regclass LANGUAGE sql AS $$
    SELECT zbxhist_internal.create_runs('history', 864000 + 3600 * hour, 867600 + 3600 * hour)
$$;
-- damage in a run is said once in a session; its keys are not known, but others' are
SELECT runs(0) AS runs \gset
INSERT INTO history SELECT i, 864000 + i, 0, 0 FROM generate_series(1, 100) i;
INSERT INTO history SELECT i, 864000 + i, 0, 1 FROM generate_series(1, 101) i;
UPDATE :runs SET run = set_byte(run, length(run) - 5, get_byte(run, length(run) - 5) # 255) WHERE nrows = 100;
SET client_min_messages = log;
INSERT INTO history VALUES (50, 864050, 1, 0), (51, 864051, 1, 3);
INSERT INTO history VALUES (52, 864052, 1, 3);
INSERT INTO history VALUES (50, 864050, 1, 1);
-- merging leaves it where it is
SELECT zbxhist_internal.merge_runs(:'runs', 3) > 0 AS merged;
INSERT INTO history VALUES (53, 864053, 1, 3);
INSERT INTO history VALUES (54, 864054, 1, 3);
INSERT INTO history VALUES (55, 864055, 1, 3);
SELECT zbxhist_internal.merge_runs(:'runs', 3) > 0 AS merged;
SELECT zbxhist_internal.merge_runs(:'runs', 3) > 0 AS merged;
SET client_min_messages = warning;
SELECT nrows FROM :runs ORDER BY 1;
INSERT INTO history VALUES (51, 864051, 1, 3);
INSERT INTO history VALUES (50, 864050, 1, 1);
INSERT INTO history VALUES (50, 864050, 1, 1) RETURNING itemid;
SELECT day = :'runs'::regclass AS here, itemid, count(*) FROM zbxhist.verify('history') GROUP BY 1, 2;
SELECT zbxhist_internal.drop_packed_day('history', :'runs') IS NOT NULL;

-- a table that is altered takes no rows any more, but has its keys still, if it can be read
SELECT runs(1) AS runs \gset
CREATE PROCEDURE insert_some(n integer, from_clock integer DEFAULT 867600) LANGUAGE plpgsql AS $$
DECLARE
    refused boolean := false;
BEGIN
    INSERT INTO history SELECT i, from_clock + i, 0, n FROM generate_series(1, 3) i;
    EXECUTE format('INSERT INTO history (itemid, clock, ns, value) VALUES (4, %s, %s, 0), (5, %1$s, %2$s, 0)', from_clock, n);
    BEGIN
        EXECUTE format('INSERT INTO history (itemid, clock, ns, value) VALUES (4, %s, 0, 0)', from_clock);
    EXCEPTION WHEN unique_violation THEN
        refused := true;
    END;
    RAISE WARNING '% in the parent, duplicate %', (SELECT count(*) FROM ONLY history), CASE WHEN refused THEN 'refused' ELSE 'stored' END;
    DELETE FROM ONLY history;
END $$;
CALL insert_some(0);
ALTER TABLE :runs ADD COLUMN other integer;
CALL insert_some(1);
ALTER TABLE :runs DROP COLUMN other;
CALL insert_some(2);
ALTER TABLE :runs RENAME COLUMN clock TO o;
SET client_min_messages = log;
CALL insert_some(3);
CALL insert_some(4);
SET client_min_messages = warning;
ALTER TABLE :runs RENAME COLUMN o TO clock;
ALTER TABLE :runs RENAME COLUMN last_clock TO o;
CALL insert_some(5);
ALTER TABLE :runs RENAME COLUMN o TO last_clock;
CREATE INDEX other ON :runs (first_clock);
CALL insert_some(6);
DROP INDEX zbxhist_packed.other;
SELECT indexrelid::regclass AS index, pg_get_indexdef(indexrelid) AS definition FROM pg_index WHERE indrelid = :'runs'::regclass AND indnatts = 1 \gset
DROP INDEX :index;
CALL insert_some(7);
:definition;
SELECT indexrelid::regclass AS index, pg_get_indexdef(indexrelid) AS definition FROM pg_index WHERE indrelid = :'runs'::regclass AND indnatts > 1 \gset
DROP INDEX :index;
CALL insert_some(70);
:definition;
UPDATE pg_index SET indisvalid = false WHERE indrelid = :'runs'::regclass;
CALL insert_some(8);
UPDATE pg_index SET indisvalid = true WHERE indrelid = :'runs'::regclass;
ALTER TABLE :runs ADD CHECK (nrows > 1000) NOT VALID;
CALL insert_some(9);
ALTER TABLE :runs DROP CONSTRAINT history_p19700111_0100_nrows_check;
CREATE FUNCTION raise() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''fired''; END';
CREATE TRIGGER raise BEFORE INSERT ON :runs FOR EACH STATEMENT EXECUTE FUNCTION raise();
CALL insert_some(10);
DROP TRIGGER raise ON :runs;
CREATE RULE nothing AS ON INSERT TO :runs DO INSTEAD NOTHING;
CALL insert_some(11);
DROP RULE nothing ON :runs;
ALTER TABLE :runs ENABLE ROW LEVEL SECURITY;
CALL insert_some(12);
ALTER TABLE :runs DISABLE ROW LEVEL SECURITY;
CALL insert_some(13);
-- it is gone without a word
DROP TABLE :runs;
CALL insert_some(14);
DELETE FROM zbxhist.packed_day WHERE from_clock = 867600;
SELECT zbxhist_internal.invalidate('history');

-- the parent's: rows that need more than a run stay in it
SELECT runs(2) AS runs \gset
CALL insert_some(0, 871200);
ALTER TABLE history ADD CHECK (value >= 0);
INSERT INTO history VALUES (1, 871300, -1, 0);
CALL insert_some(1, 871200);
ALTER TABLE history DROP CONSTRAINT history_value_check;
ALTER TABLE history ADD COLUMN other integer;
CALL insert_some(2, 871200);
ALTER TABLE history DROP COLUMN other;
CALL insert_some(3, 871200);
CREATE TABLE items (itemid bigint PRIMARY KEY);
INSERT INTO items SELECT generate_series(1, 5);
ALTER TABLE history ADD CONSTRAINT item FOREIGN KEY (itemid) REFERENCES items DEFERRABLE;
CALL insert_some(4, 871200);
INSERT INTO history VALUES (6, 871300, 0, 0);
BEGIN;
SET CONSTRAINTS ALL DEFERRED;
INSERT INTO history VALUES (6, 871300, 0, 0);
INSERT INTO items VALUES (6);
COMMIT;
DELETE FROM history WHERE itemid = 6;
ALTER TABLE history DROP CONSTRAINT item;
ALTER TABLE history DROP CONSTRAINT history_pkey, ADD PRIMARY KEY (itemid, clock, ns) DEFERRABLE;
CALL insert_some(5, 871200);
ALTER TABLE history DROP CONSTRAINT history_pkey;
CALL insert_some(6, 871200);
ALTER TABLE history ADD PRIMARY KEY (itemid, clock, ns);
CREATE TABLE seen (n bigint);
CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO seen SELECT count(*) FROM added; RETURN NULL; END';
CREATE TRIGGER see AFTER INSERT ON history REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION see();
CALL insert_some(7, 871200);
TABLE seen;
DROP TRIGGER see ON history;
CREATE TRIGGER raise AFTER INSERT ON history FOR EACH ROW WHEN (NEW.value < 0) EXECUTE FUNCTION raise();
CALL insert_some(8, 871200);
INSERT INTO history VALUES (1, 871300, -1, 0);
DROP TRIGGER raise ON history;

-- roles: INSERT on the parent is enough, and policies are those of the parent
CREATE ROLE runs_owner;
CREATE ROLE runs_writer;
GRANT INSERT ON history TO runs_writer;
SET ROLE runs_writer;
INSERT INTO history VALUES (1, 871400, 0, 0), (2, 871400, 0, 0);
INSERT INTO history VALUES (1, 871400, 0, 0);
INSERT INTO history SELECT 1, 871400 + i, 0, 0 FROM generate_series(1, 3) i;
RESET ROLE;
ALTER TABLE history ENABLE ROW LEVEL SECURITY;
CREATE POLICY positive ON history FOR INSERT TO runs_writer WITH CHECK (value >= 0);
SET ROLE runs_writer;
INSERT INTO history VALUES (1, 871500, 0, 0);
INSERT INTO history VALUES (1, 871501, -1, 0);
RESET ROLE;
ALTER TABLE history DISABLE ROW LEVEL SECURITY;
DROP POLICY positive ON history;
ALTER TABLE history OWNER TO runs_owner;
SET ROLE runs_writer;
INSERT INTO history VALUES (1, 871600, 0, 0);
INSERT INTO history VALUES (1, 871600, 0, 0);
RESET ROLE;
ALTER TABLE :runs OWNER TO runs_owner;
SET ROLE runs_writer;
INSERT INTO history VALUES (1, 871601, 0, 0);
BEGIN READ ONLY;
INSERT INTO history VALUES (1, 871602, 0, 0);
ROLLBACK;
RESET ROLE;
SELECT count(*), count(DISTINCT (itemid, clock, ns)) AS keys FROM history;
SELECT count(*) FROM ONLY history;

-- of a table without ns: an index by an expression is none that runs are looked up by
CREATE TABLE trends (itemid bigint NOT NULL, clock integer NOT NULL, num integer NOT NULL, value_avg double precision NOT NULL, PRIMARY KEY (itemid, clock));
SELECT zbxhist.create_parent('trends', '1 hour', retention => '100 years', pack_after => '1 hour', ingest => 'runs');
SELECT zbxhist_internal.create_runs('trends', 864000, 867600) AS runs \gset
INSERT INTO trends VALUES (1, 864000, 1, 1), (1, 864002, 1, 1);
SELECT tableoid::regclass, count(*) FROM trends GROUP BY 1;
CREATE UNIQUE INDEX ON trends (itemid, (clock / 2));
INSERT INTO trends VALUES (2, 864000, 1, 1);
INSERT INTO trends VALUES (2, 864001, 1, 1);
SELECT itemid, clock FROM trends ORDER BY 1, 2;

DROP TABLE history, items, seen, trends CASCADE;
DROP ROLE runs_owner;
DROP ROLE runs_writer;
DROP FUNCTION runs, raise, see;
DROP PROCEDURE insert_some;
RESET client_min_messages;
