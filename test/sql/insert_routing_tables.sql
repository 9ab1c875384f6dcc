-- Tables with more to them than Zabbix's own: triggers, constraints,
-- generated columns, other indexes, another shape.
\a \t
LOAD 'zbxhist';
CREATE TABLE history (
    gone integer,
    itemid bigint NOT NULL,
    clock integer DEFAULT 0 NOT NULL,
    value double precision DEFAULT 0 NOT NULL,
    ns integer DEFAULT 0 NOT NULL,
    note text,
    twice double precision GENERATED ALWAYS AS (value * 2) STORED,
    PRIMARY KEY (itemid, clock, ns),
    CHECK (value < 1000));
CREATE INDEX history_expr ON history ((value + ns)) WHERE ns > 0;
ALTER TABLE history DROP COLUMN gone;
SELECT zbxhist.create_parent('history');
SELECT zbxhist.create_partition('history', '1970-01-02');
ALTER TABLE history ADD COLUMN later integer DEFAULT 7;
SELECT zbxhist.create_partition('history', '1970-01-03');
CREATE VIEW stored AS SELECT tableoid::regclass AS stored_in, * FROM history;

-- dropped, added, generated, nullable columns; each partition has its own shape
INSERT INTO history (itemid, clock, ns, value, note) VALUES
    (1, 86400, 1, 1.5, NULL), (1, 172800, 1, 2.5, 'x'), (2, 86400, 0, 3, repeat('long ', 5000));
INSERT INTO history (itemid, clock, later) VALUES (3, 86400, NULL), (3, 172800, 8);
SELECT stored_in, itemid, clock, value, ns, length(note), twice, later FROM stored ORDER BY itemid, clock;
SET enable_seqscan = off;
SELECT itemid, clock FROM history WHERE value + ns > 1 AND ns > 0 ORDER BY 1, 2;
RESET enable_seqscan;

-- errors as a plain table has them
\set SHOW_CONTEXT never
INSERT INTO history (itemid, clock, value) VALUES (4, 86400, 1), (4, 86401, 1000);
INSERT INTO history (itemid, clock, value) VALUES (4, 86400, NULL);
INSERT INTO history (itemid, clock, value) VALUES (4, NULL, 1);
INSERT INTO history (itemid, clock, value) VALUES (4, 86400, 1), (4, 172800, 1), (4, 86400, 2);
\set VERBOSITY default
SELECT count(*) FROM history WHERE itemid = 4;
SET client_min_messages = warning;
DROP TABLE history CASCADE;
RESET client_min_messages;

-- users' triggers
CREATE TABLE history (itemid bigint, clock integer, value text, ns integer DEFAULT 0, PRIMARY KEY (itemid, clock, ns));
CREATE FUNCTION upper_value() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.value = 'skip' THEN
        RETURN NULL;
    END IF;
    NEW.value := upper(NEW.value) || ' after ' || (SELECT count(*) FROM history);
    RETURN NEW;
END $$;
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE NOTICE '% % %: item %, table has % rows', TG_NAME, TG_WHEN, TG_LEVEL,
        CASE WHEN TG_LEVEL = 'ROW' THEN NEW.itemid END, (SELECT count(*) FROM history);
    RETURN NULL;
END $$;
CREATE TRIGGER b_upper BEFORE INSERT ON history FOR EACH ROW EXECUTE FUNCTION upper_value();
CREATE TRIGGER a_tell_all AFTER INSERT ON history FOR EACH STATEMENT EXECUTE FUNCTION tell();
SELECT zbxhist.create_parent('history');
SELECT zbxhist.create_partition('history', '1970-01-02');
INSERT INTO history VALUES (1, 86400, 'a'), (2, 86400, 'skip'), (3, 86400, 'b'), (4, 5, 'c');
SELECT tableoid::regclass, * FROM history ORDER BY itemid;
-- a trigger of the partition, whose row is larger than what it was given
CREATE FUNCTION enlarge() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    NEW.value := repeat(NEW.value, 1000000);
    RETURN NEW;
END $$;
CREATE TRIGGER enlarge BEFORE INSERT ON history_p19700102 FOR EACH ROW EXECUTE FUNCTION enlarge();
INSERT INTO history VALUES (5, 86400, 'd'), (6, 86400, 'e');
SELECT tableoid::regclass, itemid, length(value), left(value, 9) FROM history WHERE itemid > 4 ORDER BY itemid;
DROP TRIGGER enlarge ON history_p19700102;
DELETE FROM history WHERE itemid > 4;
DROP FUNCTION enlarge;
-- transition tables need the rows where the statement put them
DROP TRIGGER b_upper ON history;
DROP TRIGGER a_tell_all ON history;
CREATE FUNCTION count_new() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE NOTICE 'new rows: %', (SELECT count(*) FROM fresh);
    RETURN NULL;
END $$;
CREATE TRIGGER a_count AFTER INSERT ON history REFERENCING NEW TABLE AS fresh
    FOR EACH STATEMENT EXECUTE FUNCTION count_new();
INSERT INTO history VALUES (5, 86400, 'd'), (6, 86400, 'e');
SELECT tableoid::regclass, itemid FROM history WHERE itemid > 4 ORDER BY itemid;
SET client_min_messages = warning;
DROP TABLE history CASCADE;
RESET client_min_messages;

-- a trigger of another table that inserts into a parent
CREATE TABLE history (itemid bigint, clock integer, value text, ns integer DEFAULT 0, PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history');
SELECT zbxhist.create_partition('history', '1970-01-02');
CREATE TABLE other (i integer);
CREATE FUNCTION copy_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO history VALUES (NEW.i, 86400, 'from other');
    RETURN NEW;
END $$;
CREATE TRIGGER copy_row AFTER INSERT ON other FOR EACH ROW EXECUTE FUNCTION copy_row();
WITH o AS (INSERT INTO other VALUES (1), (2)) INSERT INTO history VALUES (10, 86400, 'own');
SELECT tableoid::regclass, * FROM history ORDER BY itemid;

-- deferrable unique constraint, checked at commit
ALTER TABLE history DROP CONSTRAINT history_pkey;
ALTER TABLE history_p19700102 DROP CONSTRAINT history_p19700102_pkey;
ALTER TABLE history_p19700102 ADD UNIQUE (itemid, clock, ns) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE history ADD UNIQUE (itemid, clock, ns) DEFERRABLE INITIALLY DEFERRED;
BEGIN;
INSERT INTO history VALUES (1, 86400, 'again');
SELECT count(*) FROM history WHERE itemid = 1;
COMMIT;
-- one that the partition has alone is not heeded: the row stays in the parent
ALTER TABLE history DROP CONSTRAINT history_itemid_clock_ns_key;
BEGIN;
INSERT INTO history VALUES (1, 86400, 'again');
SELECT count(*) FROM ONLY history WHERE itemid = 1;
COMMIT;
-- no key at all
ALTER TABLE history_p19700102 DROP CONSTRAINT history_p19700102_itemid_clock_ns_key;
INSERT INTO history VALUES (1, 86400, 'again');
SELECT count(*) FROM history WHERE itemid = 1;
SET client_min_messages = warning;
DROP TABLE history CASCADE;
RESET client_min_messages;
DROP TABLE other;

-- the function is no good elsewhere, and harmless on a table that is no parent
CREATE TABLE plain (itemid bigint, at timestamptz);
CREATE TRIGGER t BEFORE INSERT ON plain FOR EACH ROW EXECUTE FUNCTION zbxhist.route();
INSERT INTO plain VALUES (1, now());
SELECT count(*) FROM plain;
CREATE TRIGGER u BEFORE UPDATE ON plain FOR EACH ROW EXECUTE FUNCTION zbxhist.route();
\set SHOW_CONTEXT never
UPDATE plain SET itemid = 2;
DROP TABLE plain;
DROP FUNCTION upper_value, tell, count_new, copy_row;
