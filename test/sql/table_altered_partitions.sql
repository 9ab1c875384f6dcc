-- Columns and constraints that somebody adds to one partition, or to the parent after its
-- partitions were created; row triggers and foreign keys, which are refused.
\a \t
LOAD 'zbxhist';
\set SHOW_CONTEXT never
-- one day for all of it
DO $$ BEGIN PERFORM pg_sleep(left_over + 1) FROM (SELECT 86400 - extract(epoch FROM now()) % 86400) AS day (left_over) WHERE left_over < 180; END $$;
CREATE SCHEMA altered;
SET search_path = altered, public, zbxhist_partitions;
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL DEFAULT 0, value double precision NOT NULL DEFAULT 0,
    ns integer NOT NULL DEFAULT 0, note text, PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history', premake => 1);
SELECT zbxhist.create_partition('history', '1970-01-02');
SELECT zbxhist.create_partition('history', '1970-01-03');
CREATE VIEW stored AS SELECT tableoid::regclass AS stored_in, * FROM history;
CREATE VIEW found AS SELECT severity, code, regexp_replace(object, 'p20\d{6}', 'pDATE', 'g') AS object, regexp_replace(message, 'about \d+', 'about N') AS message, hint FROM zbxhist.check()
    WHERE object ~ 'history_p1970' OR code = 'rows_in_parent' AND object ~ 'altered';
INSERT INTO history VALUES (1, 86400, 1), (1, 172800, 1);
SELECT * FROM found;

-- a column that the rows do not tell: they stay in the parent, by each path
ALTER TABLE history_p19700102 ADD COLUMN extra integer NOT NULL DEFAULT 5;
ALTER TABLE history_p19700102 ALTER COLUMN extra DROP DEFAULT;
INSERT INTO history VALUES (2, 86400, 1), (2, 172800, 1);
INSERT INTO history SELECT 3, clock, 1 FROM generate_series(86400, 172800, 86400) clock;
COPY history (itemid, clock, value) FROM stdin;
4	86400	1
4	172800	1
\.
SELECT zbxhist.add(NULL::history, '{5,5}', '{86400,172800}', '{0,0}', '{1,1}'::float8[]);
INSERT INTO history VALUES (6, 86400, 1), (6, 172800, 1) RETURNING itemid;
INSERT INTO history VALUES (7, 86400, 1), (7, 172800, 1) ON CONFLICT DO NOTHING;
SET zbxhist.enable_batching = off;
INSERT INTO history VALUES (8, 86400, 1), (8, 172800, 1);
RESET zbxhist.enable_batching;
SELECT stored_in, clock, array_agg(itemid ORDER BY itemid) FROM stored GROUP BY 1, 2 ORDER BY 2, 1;

-- keys are looked up on both sides
\set VERBOSITY terse
INSERT INTO history VALUES (1, 86400, 2);
INSERT INTO history SELECT 2, 86400, 2;
INSERT INTO history VALUES (9, 172800, 2), (2, 86400, 2);
SELECT zbxhist.add(NULL::history, '{1}', '{86400}', '{0}', '{2}'::float8[]);
INSERT INTO history VALUES (1, 86400, 2), (2, 86400, 2) ON CONFLICT DO NOTHING;
SELECT zbxhist.add(NULL::history, '{1,2}', '{86400,86400}', '{0,0}', '{3,3}'::float8[], on_conflict => 'ignore');
SELECT zbxhist.add(NULL::history, '{1,2}', '{86400,86400}', '{0,0}', '{4,4}'::float8[], on_conflict => 'update');
\set VERBOSITY default
SELECT itemid, clock, value FROM stored WHERE itemid IN (1, 2, 9) ORDER BY 1, 2;

-- so they can be read, updated and deleted
SELECT i, r.clock, r.value FROM generate_series(1, 2) i, zbxhist.range(NULL::history, i, 0, 90000) r ORDER BY 1, 2;
UPDATE history SET value = 5 WHERE itemid IN (1, 2) AND clock = 86400;
DELETE FROM history WHERE itemid = 3 AND clock = 86400;
SELECT stored_in, itemid, value FROM stored WHERE itemid <= 3 AND clock = 86400 ORDER BY 2;

-- maintenance leaves them there, check() says why, and what mends it
CALL zbxhist.run_maintenance('history');
SELECT count(*) FROM ONLY history;
SELECT * FROM found \gx
SELECT rtrim(hint, ';') FROM found WHERE code = 'own_column' \gexec
CALL zbxhist.run_maintenance('history');
SELECT stored_in, clock, array_agg(itemid ORDER BY itemid) FROM stored GROUP BY 1, 2 ORDER BY 2, 1;
INSERT INTO history VALUES (10, 86400, 1);
SELECT stored_in FROM stored WHERE itemid = 10;
SELECT * FROM found;

-- a dropped column is none
ALTER TABLE history ADD COLUMN gone integer;
ALTER TABLE history DROP COLUMN gone;
INSERT INTO history VALUES (11, 86400, 1);
SELECT stored_in FROM stored WHERE itemid = 11;

-- what somebody wants for one partition is heeded
ALTER TABLE history_p19700102 ADD CONSTRAINT positive CHECK (value >= 0);
UPDATE history SET note = '';
ALTER TABLE history_p19700102 ALTER COLUMN note SET NOT NULL;
CREATE FUNCTION say() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE '% % %', tg_name, tg_op, tg_table_name; RETURN new; END $$;
CREATE TRIGGER own BEFORE INSERT ON history_p19700102 FOR EACH ROW EXECUTE FUNCTION say();
INSERT INTO history (itemid, clock, value, note) VALUES (12, 86400, 1, '');
INSERT INTO history (itemid, clock, value, note) VALUES (13, 172800, 1, ''), (13, 86400, -1, '');
INSERT INTO history (itemid, clock, value) VALUES (13, 172800, 1), (13, 86400, 1);
SELECT stored_in, itemid FROM stored WHERE itemid > 11;
ALTER TABLE history_p19700102 ALTER COLUMN note DROP NOT NULL;
ALTER TABLE history_p19700102 DROP CONSTRAINT positive;
DROP TRIGGER own ON history_p19700102;

-- a row trigger or foreign key of the parent would not be there for rows in partitions: refused, but
-- before INSERT alone, and for each statement
CREATE TABLE items (itemid bigint PRIMARY KEY);
CREATE TRIGGER later AFTER INSERT ON history FOR EACH ROW EXECUTE FUNCTION say();
CREATE TRIGGER later BEFORE INSERT OR UPDATE ON history FOR EACH ROW EXECUTE FUNCTION say();
CREATE CONSTRAINT TRIGGER later AFTER DELETE ON history DEFERRABLE FOR EACH ROW EXECUTE FUNCTION say();
CREATE TRIGGER later AFTER INSERT ON history REFERENCING NEW TABLE AS n FOR EACH ROW EXECUTE FUNCTION say();
ALTER TABLE history ADD FOREIGN KEY (itemid) REFERENCES items NOT VALID;
ALTER TABLE history ADD COLUMN item bigint REFERENCES items;
CREATE TRIGGER first BEFORE INSERT ON history FOR EACH ROW EXECUTE FUNCTION say();
CREATE TRIGGER later AFTER INSERT OR DELETE ON history FOR EACH STATEMENT EXECUTE FUNCTION say();
INSERT INTO history VALUES (14, 86400), (14, 172800);
DROP TRIGGER first ON history;
DROP TRIGGER later ON history;
-- another table's are its own affair
CREATE TABLE plain (itemid bigint REFERENCES items);
CREATE TRIGGER later AFTER INSERT ON plain FOR EACH ROW EXECUTE FUNCTION say();
ALTER TABLE plain ADD FOREIGN KEY (itemid) REFERENCES items;
-- what came past that is told
ALTER EVENT TRIGGER zbxhist_after_change DISABLE;
CREATE TRIGGER later AFTER INSERT ON history FOR EACH ROW EXECUTE FUNCTION say();
ALTER TABLE history ADD FOREIGN KEY (itemid) REFERENCES items NOT VALID, ADD FOREIGN KEY (ns) REFERENCES items NOT VALID;
ALTER EVENT TRIGGER zbxhist_after_change ENABLE;
CREATE VIEW unfit AS SELECT severity, code, object, message, hint FROM zbxhist.check() WHERE code = 'unfit';
SELECT * FROM unfit;
SELECT hint FROM unfit \gexec
SELECT hint FROM unfit \gexec
SELECT * FROM unfit;
SET client_min_messages = warning;
DROP SCHEMA altered CASCADE;
CALL zbxhist.run_maintenance();
TRUNCATE zbxhist.maintenance_log;
