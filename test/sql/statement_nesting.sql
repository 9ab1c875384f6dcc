-- Statements within statements, and children that zbxhist did not create: cases in which the
-- batch, or the pruning of UPDATE and DELETE, could use the wrong table.
\a \t
LOAD 'zbxhist';
CREATE TABLE history (
    itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL,
    ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history');
SELECT zbxhist.create_partition('history', '1970-01-02');
SELECT zbxhist.create_partition('history', '1970-01-03');
CREATE VIEW stored AS SELECT tableoid::regclass AS stored_in, itemid, clock, value, ns FROM history;

-- a partition's own trigger that inserts into the parent
CREATE FUNCTION echo() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.itemid < 1000 THEN
        INSERT INTO history VALUES (NEW.itemid + 1000, NEW.clock, 0, 0), (NEW.itemid + 1000, NEW.clock + 86400, 0, 0);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER echo BEFORE INSERT ON history_p19700102 FOR EACH ROW EXECUTE FUNCTION echo();
COPY history FROM stdin;
1	86400	1	1
2	86400	1	1
3	172800	1	1
\.
INSERT INTO history VALUES (4, 86400, 1, 1), (5, 86400, 1, 1);
SELECT * FROM stored ORDER BY itemid, clock;
DROP TRIGGER echo ON history_p19700102;
TRUNCATE history;

-- partitions made and dropped by functions of the statement itself
CREATE FUNCTION make_day(day date) RETURNS integer LANGUAGE plpgsql AS $$ BEGIN
    PERFORM zbxhist.create_partition('history', day);
    RETURN 0;
END $$;
CREATE FUNCTION drop_day(partition text) RETURNS integer LANGUAGE plpgsql AS $$ BEGIN
    EXECUTE format('DROP TABLE %I', partition);
    RETURN 0;
END $$;
INSERT INTO history SELECT i, 345600 + i * 86400, make_day(date '1970-01-05' + i), 0 FROM generate_series(0, 3) i;
INSERT INTO history VALUES (10, 432000, drop_day('history_p19700106'), 0), (11, 432000, 0, 0);
SELECT * FROM stored ORDER BY itemid;
\set VERBOSITY sqlstate
INSERT INTO history SELECT 20 + i, 86400, CASE i WHEN 2 THEN drop_day('history_p19700102') ELSE 0 END, 0 FROM generate_series(0, 3) i;
SELECT count(*) FROM history WHERE itemid >= 20;
TRUNCATE history;

-- a CHECK whose function inserts, and catches its own failure
CREATE FUNCTION checked(x double precision) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
    BEGIN
        IF x >= 100 THEN
            INSERT INTO history VALUES (x, 172800, 1, 0);
        END IF;
        IF x > 200 THEN
            RAISE division_by_zero;
        END IF;
    EXCEPTION WHEN division_by_zero THEN
        NULL;
    END;
    RETURN true;
END $$;
ALTER TABLE history ADD CHECK (checked(value));
INSERT INTO history VALUES (30, 172800, 101, 0), (31, 172800, 201, 0), (32, 172800, 102, 0);
COPY history FROM stdin;
33	172800	301	0
34	172800	103	0
\.
COPY history FROM stdin;
35	172800	104	0
33	172800	1	0
\.
SELECT * FROM stored ORDER BY itemid;
ALTER TABLE history DROP CONSTRAINT history_value_check;
TRUNCATE history;

-- the table changes under the statement
CREATE FUNCTION change() RETURNS integer LANGUAGE plpgsql AS $$ BEGIN
    ALTER TABLE history ADD COLUMN x integer;
    RETURN 0;
END $$;
INSERT INTO history VALUES (40, 172800, change(), 0), (41, 172800, 1, 0);
BEGIN;
INSERT INTO history VALUES (42, 172800, 1, 0);
ALTER TABLE history ADD COLUMN x integer DEFAULT 5;
INSERT INTO history VALUES (43, 172800, 1, 0);
SAVEPOINT a;
DROP TABLE history_p19700103;
INSERT INTO history VALUES (44, 172800, 1, 0);
ROLLBACK TO a;
INSERT INTO history VALUES (44, 172800, 1, 0, 6);
SELECT * FROM history ORDER BY itemid;
ROLLBACK;
SELECT count(*) FROM history;
\set VERBOSITY default

-- children that are no partitions, children of partitions, overlaps
CREATE TABLE own () INHERITS (history);
INSERT INTO own VALUES (50, 86400, 1, 0), (51, 86400, 1, 0);
DELETE FROM history WHERE clock = 86400 AND itemid = 50;
UPDATE history SET value = 2 WHERE clock >= 86400 AND clock < 86500;
SELECT * FROM stored;
PREPARE del (integer) AS DELETE FROM history WHERE clock = 86400 AND itemid = $1;
DROP TABLE own;
INSERT INTO history VALUES (52, 86400, 1, 0);
EXECUTE del (52);
CREATE TABLE below () INHERITS (history_p19700102);
INSERT INTO below VALUES (53, 86400, 1, 0);
EXECUTE del (53);
DROP TABLE below;
CREATE TABLE wider (CONSTRAINT zbxhist_clock CHECK (clock >= 80000 AND clock < 90000)) INHERITS (history);
INSERT INTO wider VALUES (54, 86400, 1, 0), (55, 86399, 1, 0);
EXECUTE del (54);
DELETE FROM history WHERE clock = 86399;
SELECT * FROM stored;

DEALLOCATE del;
SET client_min_messages = warning;
DROP TABLE history CASCADE;
RESET client_min_messages;
DROP FUNCTION echo, make_day, drop_day, checked, change;
